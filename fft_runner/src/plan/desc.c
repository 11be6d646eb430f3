/* The members of a descriptor by their names: other languages set them in this way without repeating the structure, and the
 * ranks' descriptors are compared by them.
 * Cost:  one all-reduce of two numbers per member. */
#include "plan/desc.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "common/names.h"

enum kind { INT64, INT, REAL, TEXT, BOX };
static const char *const kind_names[] = {"an integer", "an integer", "a real number", "a text", "a box"};

struct member {
    const char *name;
    enum kind kind;
    size_t offset;
    bool own; /* each rank has its own */
};

#define MEMBER(kind, name) {#name, kind, offsetof(pencilfft_desc, name), false}
#define OWN_MEMBER(kind, name) {#name, kind, offsetof(pencilfft_desc, name), true}
static const struct member rows[] = {
    MEMBER(INT64, nx),
    MEMBER(INT64, ny),
    MEMBER(INT64, nz),
    MEMBER(INT, R),
    MEMBER(INT, C),
    MEMBER(INT, directions),
    MEMBER(TEXT, decomposition),
    MEMBER(TEXT, type),
    MEMBER(TEXT, kinds),
    MEMBER(TEXT, skip),
    MEMBER(TEXT, precision),
    MEMBER(TEXT, layout),
    MEMBER(TEXT, exchange),
    MEMBER(TEXT, rigor),
    MEMBER(TEXT, sync),
    MEMBER(REAL, auto_budget_s),
    MEMBER(INT, fields),
    MEMBER(INT, threads),
    MEMBER(TEXT, schedule),
    MEMBER(TEXT, torus),
    MEMBER(INT, destroy_input),
    OWN_MEMBER(TEXT, node),
    OWN_MEMBER(BOX, input_box),
    OWN_MEMBER(BOX, output_box),
};
enum { N_MEMBERS = sizeof rows / sizeof rows[0] };
static const struct pf_table members = PF_TABLE("member of a descriptor", rows);

void pencilfft_desc_init(pencilfft_desc *desc)
{
    *desc = (pencilfft_desc){
        .directions = PENCILFFT_FORWARD | PENCILFFT_BACKWARD,
        .decomposition = "pencil",
        .type = "c2c",
        .precision = "double",
        .layout = "natural",
        .exchange = "alltoallv",
        .rigor = "measure",
        .sync = "none",
        .auto_budget_s = 3,
        .fields = 1,
        .threads = 1,
    };
}

/* ---- setting them by name ----------------------------------------------------------------------------------- */

pencilfft_desc *pencilfft_desc_new(void)
{
    pencilfft_desc *desc = malloc(sizeof *desc);
    if (desc)
        pencilfft_desc_init(desc);
    else
        pf_fail(PENCILFFT_NO_MEMORY, "no memory for a descriptor");
    return desc;
}

void pencilfft_desc_free(pencilfft_desc *desc)
{
    free(desc);
}

static int set_number(const struct member *member, void *at, int64_t value)
{
    if (member->kind == INT && (value < INT_MIN || value > INT_MAX))
        return pf_fail(PENCILFFT_BAD_CALL, "%s is %lld; it must be in %d..%d", member->name, (long long)value, INT_MIN,
                       INT_MAX);
    switch (member->kind) {
    case INT64: *(int64_t *)at = value; break;
    case INT: *(int *)at = (int)value; break;
    default: *(double *)at = (double)value;
    }
    return PENCILFFT_OK;
}

/* An integer may be given for a real number; otherwise the types must match. */
static int set(pencilfft_desc *desc, const char *name, enum kind given, const void *value)
{
    const struct member *member = desc ? pf_table_find(&members, name) : NULL;
    if (!member)
        return desc ? PENCILFFT_UNKNOWN_NAME : pf_fail(PENCILFFT_BAD_CALL, "null descriptor");
    void *at = (char *)desc + member->offset;
    if (given == INT64 && member->kind != TEXT && member->kind != BOX)
        return set_number(member, at, *(const int64_t *)value);
    if (given != member->kind)
        return pf_fail(PENCILFFT_BAD_CALL, "%s is %s; %s was given", name, kind_names[member->kind], kind_names[given]);
    if (given == TEXT)
        *(const char **)at = *(const char *const *)value;
    else if (given == BOX)
        *(const pencilfft_box **)at = *(const pencilfft_box *const *)value;
    else
        *(double *)at = *(const double *)value;
    return PENCILFFT_OK;
}

int pencilfft_desc_set_integer(pencilfft_desc *desc, const char *member, int64_t value)
{
    return set(desc, member, INT64, &value);
}

int pencilfft_desc_set_real(pencilfft_desc *desc, const char *member, double value)
{
    return set(desc, member, REAL, &value);
}

int pencilfft_desc_set_text(pencilfft_desc *desc, const char *member, const char *value)
{
    return set(desc, member, TEXT, &value);
}

int pencilfft_desc_set_box(pencilfft_desc *desc, const char *member, const pencilfft_box *value)
{
    return set(desc, member, BOX, &value);
}

/* ---- comparing them ----------------------------------------------------------------------------------------- */

static int64_t number_of(const pencilfft_desc *desc, const struct member *member)
{
    const void *at = (const char *)desc + member->offset;
    const char *text; /* for this, its hash */
    int64_t bits;
    switch (member->kind) {
    case INT64: return *(const int64_t *)at;
    case INT: return *(const int *)at;
    case TEXT: text = *(const char *const *)at; return (int64_t)(pf_hash(text ? text : "", text ? strlen(text) : 0) >> 1);
    default: memcpy(&bits, at, sizeof bits); return bits;
    }
}

static int differs(const pencilfft_desc *desc, const struct member *member)
{
    const void *at = (const char *)desc + member->offset;
    char value[64];
    const char *text = member->kind == TEXT ? *(const char *const *)at : NULL;
    switch (member->kind) {
    case TEXT: snprintf(value, sizeof value, text ? "'%.50s'" : "none", text); break;
    case REAL: snprintf(value, sizeof value, "%g", *(const double *)at); break;
    default: snprintf(value, sizeof value, "%lld", (long long)number_of(desc, member));
    }
    return pf_fail(PENCILFFT_MISMATCH,
                   "the descriptors differ between ranks: %s is %s on rank 0 and something else on "
                   "others; all members must be equal",
                   member->name, value);
}

/* A number v is the same on all ranks if the largest v is the complement of the largest complement. */
int pf_desc_same(const pencilfft_desc *desc, MPI_Comm comm)
{
    int status = PENCILFFT_OK;
    int64_t mine[2][N_MEMBERS], largest[2][N_MEMBERS];
    for (int i = 0; i < N_MEMBERS; i++) {
        mine[0][i] = rows[i].own ? 0 : number_of(desc, &rows[i]);
        mine[1][i] = ~mine[0][i];
    }
    PF_MPI(MPI_Allreduce(mine, largest, 2 * N_MEMBERS, MPI_INT64_T, MPI_MAX, comm));
    for (int i = 0; i < N_MEMBERS && !status; i++)
        if (largest[0][i] != ~largest[1][i])
            status = differs(desc, &rows[i]);
    return status;
}
