/* Compare collective calls between ranks, so that all ranks report a difference instead of waiting for ever.
 * Idea:  before any other work, compare the text of rank 0's call with the own call. Only if the environment variable
 *        PENCILFFT_CHECK_CALLS is set when the plan is made, because each call then costs two agreements and a broadcast. A
 *        number above 1 sets the seconds that a rank waits for the others: a rank that has lost its plan never comes.
 * Cost:  3 log2 P messages of a few bytes. */
#include "handle/handle.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/message.h"
#include "speed/clock.h"

enum { CALL_SIZE = 96, NAP_NS = 1000000 };

int pf_calls_check(MPI_Comm comm, int rank, int *checks)
{
    const char *asked = rank ? NULL : getenv("PENCILFFT_CHECK_CALLS");
    char *end = NULL;
    long seconds = asked ? strtol(asked, &end, 10) : 0;
    int status = PENCILFFT_OK;
    if (asked && (*end || seconds < 0))
        status = pf_fail(PENCILFFT_BAD_CALL,
                         "PENCILFFT_CHECK_CALLS is '%.60s'; give 0, 1, or the seconds that a rank waits for the others",
                         asked);
    if ((status = pf_agree(status, comm)))
        return status;
    *checks = seconds > INT32_MAX ? INT32_MAX : (int)seconds;
    PF_MPI(MPI_Bcast(checks, 1, MPI_INT, 0, comm));
    return PENCILFFT_OK;
}

/* Ends the job if the others do not come in time: they cannot receive a message, and pending calls cannot be taken back. */
static int wait_for_all(MPI_Comm comm, int rank, int seconds, const char *call)
{
    const struct timespec nap = {0, NAP_NS};
    MPI_Request arrival;
    int are_here = 0;
    double start = pf_now();
    PF_MPI(MPI_Ibarrier(comm, &arrival));
    for (;;) {
        PF_MPI(MPI_Test(&arrival, &are_here, MPI_STATUS_IGNORE));
        if (are_here)
            return PENCILFFT_OK;
        if (pf_now() - start > seconds) {
            fprintf(stderr,
                    "pencilfft: rank %d has waited %d s in %s for ranks that did not come to it: they have no plan, or make "
                    "no call of it (PENCILFFT_CHECK_CALLS)\n",
                    rank, seconds, call);
            await_launcher();
            MPI_Abort(comm, EXIT_FAILURE);
        }
        nanosleep(&nap, NULL);
    }
}

int pf_same_call_in(MPI_Comm comm, int rank, int checks, int status, const char *call)
{
    char first[CALL_SIZE] = "";
    int waited = checks > 1 ? wait_for_all(comm, rank, checks, call) : PENCILFFT_OK;
    if (waited || !checks)
        return waited ? waited : status;
    if ((status = pf_agree(status, comm)))
        return status;
    snprintf(first, sizeof first, "%s", call);
    PF_MPI(MPI_Bcast(first, CALL_SIZE, MPI_CHAR, 0, comm));
    if (strcmp(call, first) != 0)
        status = pf_fail(PENCILFFT_MISMATCH, "the calls differ between ranks: %s on rank 0; %s on rank %d", first, call,
                         rank);
    return pf_agree(status, comm);
}

int pf_same_directed_call(MPI_Comm comm, int rank, int checks, int status, const char *function, int direction, int exchange,
                          bool in_place)
{
    char mine[CALL_SIZE];
    snprintf(mine, sizeof mine, "%s, direction %d, exchange %d, in place %d", function, direction, exchange, in_place);
    return pf_same_call_in(comm, rank, checks, status, mine);
}
