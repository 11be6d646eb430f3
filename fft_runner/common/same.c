/* Find arguments that differ between ranks before anything depends on them.
 * Idea:  each argument becomes a number: an integer itself, a real number its bits, a text its hash. A number is the same on
 *        all ranks if the largest number is the complement of the largest complement.
 * Cost:  an all-reduce of 64 numbers. */
#include "common/failure.h"

#include <stdio.h>
#include <string.h>

#include "common/names.h"
#include "pencilfft.h"

enum { MOST = 32 };

static int64_t number_of(const struct pf_argument *a)
{
    int64_t bits;
    switch (a->kind) {
    case PF_TEXT: return a->text ? (int64_t)(pf_hash(a->text, strlen(a->text)) >> 1) : -1; /* a hash is not negative here */
    case PF_REAL: memcpy(&bits, &a->real, sizeof bits); return bits;
    default: return a->number;
    }
}

static int differs(const char *what, const struct pf_argument *a)
{
    char value[64];
    switch (a->kind) {
    case PF_TEXT: snprintf(value, sizeof value, a->text ? "'%.50s'" : "none", a->text); break;
    case PF_REAL: snprintf(value, sizeof value, "%g", a->real); break;
    default: snprintf(value, sizeof value, "%lld", (long long)a->number);
    }
    return pf_fail(PENCILFFT_MISMATCH,
                   "%s differ between ranks: %s is %s on rank 0 and something else on others; all ranks must give the same",
                   what, a->name, value);
}

int pf_same_arguments(const char *what, int count, const struct pf_argument *argument, MPI_Comm comm)
{
    int64_t mine[2][MOST] = {{0}}, largest[2][MOST];
    for (int i = 0; i < MOST; i++) {
        mine[0][i] = i < count ? number_of(&argument[i]) : 0;
        mine[1][i] = ~mine[0][i];
    }
    PF_MPI(MPI_Allreduce(mine, largest, 2 * MOST, MPI_INT64_T, MPI_MAX, comm));
    for (int i = 0; i < count; i++)
        if (largest[0][i] != ~largest[1][i])
            return pf_agree(differs(what, &argument[i]), comm);
    return PENCILFFT_OK;
}
