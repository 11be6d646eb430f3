/* The members of a descriptor by their names: other languages set members by name without repeating the structure, and the
 * descriptors of ranks are compared by name. */
#include "plan/plan.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

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
    MEMBER(INT64, nx),        MEMBER(INT64, ny),           MEMBER(INT64, nz),           MEMBER(INT, R),
    MEMBER(INT, C),           MEMBER(INT, directions),     MEMBER(TEXT, decomposition), MEMBER(TEXT, type),
    MEMBER(TEXT, kinds),      MEMBER(TEXT, skip),          MEMBER(TEXT, precision),     MEMBER(TEXT, exchange_precision),
    MEMBER(TEXT, order),      MEMBER(TEXT, layout),        MEMBER(TEXT, exchange),      MEMBER(TEXT, rigor),
    MEMBER(TEXT, sync),       MEMBER(REAL, auto_budget_s), MEMBER(INT, fields),         MEMBER(INT, interleaved),
    MEMBER(INT, threads),     MEMBER(TEXT, schedule),      MEMBER(TEXT, torus),         MEMBER(INT, destroy_input),
    MEMBER(INT, nonblocking), MEMBER(INT, caller_work),    MEMBER(INT64, padded_nx),    MEMBER(INT64, padded_ny),
    MEMBER(INT64, padded_nz), OWN_MEMBER(TEXT, node),      OWN_MEMBER(BOX, input_box),  OWN_MEMBER(BOX, output_box),
};
enum { N_MEMBERS = sizeof rows / sizeof rows[0] };
static const struct pf_table members = PF_TABLE("member of a descriptor", rows);

const pencilfft_desc pf_desc_defaults = {
    .struct_bytes = sizeof(pencilfft_desc),
    .directions = PENCILFFT_FORWARD | PENCILFFT_BACKWARD,
    .decomposition = "pencil",
    .type = "c2c",
    .precision = "double",
    .order = "zyx",
    .layout = "natural",
    .rigor = "measure",
    .sync = "none",
    .auto_budget_s = 3,
    .fields = 1,
    .threads = 1,
};

void pencilfft_desc_init_bytes(pencilfft_desc *desc, size_t bytes)
{
    pf_desc_give(&pf_desc_defaults, sizeof pf_desc_defaults, desc, bytes);
}

void(pencilfft_desc_init)(pencilfft_desc *desc)
{
    pencilfft_desc_init(desc);
}

/* ---- setting members by name -------------------------------------------------------------------------------- */

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

/* ---- comparing descriptors ---------------------------------------------------------------------------------- */

static struct pf_argument argument_of(const pencilfft_desc *desc, const struct member *member)
{
    const void *at = (const char *)desc + member->offset;
    switch (member->kind) {
    case INT64: return (struct pf_argument)PF_ARGUMENT_NUMBER(member->name, *(const int64_t *)at);
    case INT: return (struct pf_argument)PF_ARGUMENT_NUMBER(member->name, *(const int *)at);
    case REAL: return (struct pf_argument){member->name, PF_REAL, .real = *(const double *)at};
    default: return (struct pf_argument)PF_ARGUMENT_TEXT(member->name, *(const char *const *)at);
    }
}

int pf_desc_same(const pencilfft_desc *desc, MPI_Comm comm)
{
    struct pf_argument arguments[N_MEMBERS];
    int count = 0;
    for (int i = 0; i < N_MEMBERS; i++)
        if (!rows[i].own)
            arguments[count++] = argument_of(desc, &rows[i]);
    return pf_same_arguments("the descriptors", count, arguments, comm);
}
