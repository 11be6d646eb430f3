/* A failure on one rank becomes a failure on all ranks.
 * Idea:  every rank contributes its rank if it failed and the communicator's size if not; all take the message of the rank
 *        that is the minimum.
 * Source: FFTW, mpi/any-true.c (agreement by a reduction before going on).
 * Cost:  an all-reduce of an int, and two broadcasts after a failure. */
#include "common/failure.h"

#include <stdio.h>
#include <string.h>

#include "common/names.h"
#include "pencilfft.h"

int pf_fail_mpi(int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0, name = (int)strcspn(call, "(");
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        snprintf(text, sizeof text, "error code %d", code);
    return pf_fail(PENCILFFT_MPI_ERROR, "%.*s failed: %s", name, call, text);
}

int pf_usable(MPI_Comm comm, const char *function)
{
    int started = 0, ended = 0, inter = 0, status = PENCILFFT_OK;
    PF_MPI(MPI_Initialized(&started));
    PF_MPI(MPI_Finalized(&ended));
    if (!started)
        return pf_fail(PENCILFFT_BAD_CALL, "%s: MPI is not running; call MPI_Init first", function);
    if (ended)
        return pf_fail(PENCILFFT_BAD_CALL, "%s: MPI has been finalized; call it before MPI_Finalize", function);
    if (comm == MPI_COMM_NULL)
        return pf_fail(PENCILFFT_BAD_CALL, "%s: null communicator; only ranks that belong to one may call it", function);
    PF_MPI(MPI_Comm_test_inter(comm, &inter));
    if (inter)
        status = pf_fail(PENCILFFT_BAD_CALL,
                         "%s: an intercommunicator; use MPI_Intercomm_merge to make one communicator of both groups",
                         function);
    return status;
}

int pf_agree(int status, MPI_Comm comm)
{
    int rank, size, speaker, agreed = status;
    if (status == PENCILFFT_MPI_ERROR)
        return status;
    PF_MPI(MPI_Comm_rank(comm, &rank));
    PF_MPI(MPI_Comm_size(comm, &size));
    int mine = agreed ? rank : size;
    PF_MPI(MPI_Allreduce(&mine, &speaker, 1, MPI_INT, MPI_MIN, comm));
    if (speaker == size)
        return 0;
    PF_MPI(MPI_Bcast(&agreed, 1, MPI_INT, speaker, comm));
    char text[PF_MESSAGE_SIZE];
    snprintf(text, sizeof text, "%s", pf_message());
    PF_MPI(MPI_Bcast(text, PF_MESSAGE_SIZE, MPI_CHAR, speaker, comm));
    status = pf_fail(agreed, "%s", text);
    return status;
}

/* ---- arguments that all ranks must give alike ------------------------------------------------------------------------- */

/* Find arguments that differ between ranks before anything depends on them.
 * Idea:  each argument becomes a number: an integer itself, a real number its bits, a text its hash. A number is the same on
 *        all ranks if the largest number is the complement of the largest complement.
 * Cost:  an all-reduce of 64 numbers. */

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
