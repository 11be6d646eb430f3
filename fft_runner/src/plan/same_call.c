/* Collective calls that differ between ranks: told on all of them, where otherwise some wait for ever.
 * Idea:  rank 0's call, as text, is compared with one's own before anything else is done. Only where the environment variable
 *        PENCILFFT_CHECK_CALLS is set when the plan is made, for each call costs two agreements and a broadcast then.
 * Cost:  3 log2 P messages of a few bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "plan/make.h"

enum { CALL_SIZE = 96 };

int pf_calls_check(pencilfft_plan plan)
{
    const char *asked = plan->rank ? NULL : getenv("PENCILFFT_CHECK_CALLS");
    int checks = asked && *asked && strcmp(asked, "0") != 0;
    PF_MPI(MPI_Bcast(&checks, 1, MPI_INT, 0, plan->all));
    plan->checks_calls = checks;
    return PENCILFFT_OK;
}

int pf_same_call_in(MPI_Comm comm, int rank, int status, const char *call)
{
    char first[CALL_SIZE] = "";
    if ((status = pf_agree(status, comm)))
        return status;
    snprintf(first, sizeof first, "%s", call);
    PF_MPI(MPI_Bcast(first, CALL_SIZE, MPI_CHAR, 0, comm));
    if (strcmp(call, first) != 0)
        status = pf_fail(PENCILFFT_MISMATCH, "the calls differ between ranks: %s on rank 0; %s on rank %d", first, call,
                         rank);
    return pf_agree(status, comm);
}

int pf_same_call(pencilfft_plan plan, int status, const char *function, int direction, int exchange, bool in_place)
{
    char mine[CALL_SIZE];
    if (!plan || !plan->checks_calls)
        return status;
    snprintf(mine, sizeof mine, "%s, direction %d, exchange %d, in place %d", function, direction, exchange, in_place);
    return pf_same_call_in(plan->all, plan->rank, status, mine);
}
