/* Arguments of MPI's calls for messages: counts and displacements by hand, and numbers beyond an int. */
#include "check.h"
#include "exchange/message_counts.h"

#define BEYOND_INT 3000000000 /* elements */

static int make(int p, int me, int64_t *elements, int64_t *start, struct pf_calls *calls)
{
    pencilfft_box boxes[3] = {{.extent = {1, 1, 0}}}; /* the first is as long as all messages of a rank */
    struct pf_messages list = {p, elements, start, 0};
    for (int i = 0; i < p; i++)
        boxes[0].extent[2] += elements[i];
    struct pf_transpose t =
        {.group = MPI_COMM_WORLD, .p = p, .me = me, .from = boxes, .to = boxes, .element_bytes = 16, .fields = 1};
    *calls = (struct pf_calls){.p = 0};
    return pf_calls_plan(&t, &list, &list, calls);
}

static void messages_are_counted_and_what_stays_is_not(void)
{
    int64_t elements[] = {5, 7, 2}, start[] = {0, 5, 12};
    struct pf_calls calls;
    CHECK_INT(make(3, 1, elements, start, &calls), PENCILFFT_OK);
    const int counts[] = {5, 0, 2}, displacements[] = {0, 0, 12};
    for (int i = 0; i < 3; i++) {
        CHECK_INT(calls.sent.count[i], counts[i]);
        CHECK_INT(calls.sent.displacement[i], displacements[i]);
        CHECK(calls.sent.amount[i].type == MPI_C_DOUBLE_COMPLEX);
    }
    char buffer[16 * 14];
    CHECK(pf_message_in(&calls, &calls.received, 2, buffer) == buffer + 16 * 12);
    CHECK(calls.requests[0] == MPI_REQUEST_NULL && calls.requests[1] == MPI_REQUEST_NULL);
    pf_calls_release(&calls);
}

static int64_t bytes_of(struct pf_amount amount)
{
    MPI_Count bytes;
    CHECK_INT(MPI_Type_size_x(amount.type, &bytes), MPI_SUCCESS);
    return amount.count * bytes;
}

/* A message and its start: without large counts, a data type is as long as the message; the collective then has none. */
static void beyond_int_messages_are_as_long(int64_t mine, int64_t its)
{
    int64_t elements[] = {mine, its}, start[] = {0, mine};
    struct pf_calls calls;
    CHECK_INT(make(2, 0, elements, start, &calls), PENCILFFT_OK);
    CHECK_INT(bytes_of(calls.sent.amount[1]), 16 * its);
    CHECK_INT(bytes_of(calls.received.amount[1]), 16 * its);
    CHECK_INT(bytes_of(calls.sent.amount[0]), 0);
    CHECK(calls.wide == (pf_count_limit < BEYOND_INT));
    CHECK(calls.wide ? !calls.sent.count : calls.sent.count[1] == its && calls.sent.displacement[1] == mine);
    CHECK_INT(calls.sent.start[1], mine);
    pf_calls_release(&calls);
}

static void what_stays_may_be_as_large_as_it_is(void)
{
    int64_t elements[] = {BEYOND_INT}, start[] = {0};
    struct pf_calls calls;
    CHECK_INT(make(1, 0, elements, start, &calls), PENCILFFT_OK);
    pf_calls_release(&calls);
}

/* Both sides of the limit of an int, and of rows of that length. */
static void types_are_as_long_as_they_should_be(void)
{
    const int64_t row = 2147483647, lengths[] = {row, row + 1, 2 * row, 2 * row + 3, 5 * row - 1};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct pf_amount amount;
        MPI_Aint low, extent;
        CHECK_INT(pf_amount_make(lengths[i], 8, &amount), PENCILFFT_OK);
        CHECK_INT(bytes_of(amount), 8 * lengths[i]);
        CHECK_INT(MPI_Type_get_extent(amount.type, &low, &extent), MPI_SUCCESS);
        CHECK_INT(low, 0);
        CHECK_INT(amount.count * extent, 8 * lengths[i]);
        CHECK(amount.made == (pf_count_limit < lengths[i]));
        pf_amount_release(&amount);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    messages_are_counted_and_what_stays_is_not();
    beyond_int_messages_are_as_long(5, BEYOND_INT);
    beyond_int_messages_are_as_long(BEYOND_INT, 7);
    what_stays_may_be_as_large_as_it_is();
    types_are_as_long_as_they_should_be();
    MPI_Finalize();
    return check_result();
}
