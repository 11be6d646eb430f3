/* What MPI's calls are given for messages: counts and displacements by hand, and what no int can name. */
#include "check.h"
#include "exchange/message_counts.h"

#define BEYOND_INT 3000000000 /* elements */

static int make(int p, int me, int64_t *elements, int64_t *start, struct pf_calls **calls)
{
    struct pf_transpose t = {.group = MPI_COMM_WORLD, .p = p, .me = me, .element_bytes = 16, .fields = 1};
    struct pf_messages list = {p, elements, start, 0};
    void *state;
    int status = pf_calls_plan(&t, &list, &list, &state);
    *calls = state;
    return status;
}

static void messages_are_counted_and_what_stays_is_not(void)
{
    int64_t elements[] = {5, 7, 2}, start[] = {0, 5, 12};
    struct pf_calls *calls;
    CHECK_INT(make(3, 1, elements, start, &calls), PENCILFFT_OK);
    const int counts[] = {5, 0, 2};
    for (int i = 0; i < 3; i++)
        CHECK_INT(calls->sent.count[i], counts[i]);
    char buffer[16 * 14];
    CHECK(pf_message_in(calls, &calls->received, 2, buffer) == buffer + 16 * 12);
    CHECK(calls->requests[0] == MPI_REQUEST_NULL && calls->requests[1] == MPI_REQUEST_NULL);
    pf_calls_destroy(calls);
}

static void what_no_int_counts_is_refused(int64_t its_elements, int64_t its_start)
{
    int64_t elements[] = {5, its_elements}, start[] = {0, its_start};
    struct pf_calls *calls;
    CHECK_INT(make(2, 0, elements, start, &calls), PENCILFFT_TOO_LARGE);
    CHECK(calls == NULL);
}

static void what_stays_may_be_as_large_as_it_is(void)
{
    int64_t elements[] = {BEYOND_INT}, start[] = {0};
    struct pf_calls *calls;
    CHECK_INT(make(1, 0, elements, start, &calls), PENCILFFT_OK);
    pf_calls_destroy(calls);
}

int main(void)
{
    messages_are_counted_and_what_stays_is_not();
    what_no_int_counts_is_refused(BEYOND_INT, 5);
    what_no_int_counts_is_refused(7, BEYOND_INT);
    what_stays_may_be_as_large_as_it_is();
    return check_result();
}
