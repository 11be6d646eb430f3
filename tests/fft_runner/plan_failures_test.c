/* Plans that cannot be made: nonsense, ranks with different requests, no room for shared memory. All ranks must get the same
 * status and message, no plan, and must not wait for each other. Run under mpirun with the grid: plan_failures_test R C.
 * Linked so that the library's calls of posix_fallocate and fstatvfs come here. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "choose/auto.h"
#include "driver.h"

int __real_posix_fallocate(int file, off_t start, off_t bytes);
int __wrap_posix_fallocate(int file, off_t start, off_t bytes);
int __real_fstatvfs(int file, struct statvfs *room);
int __wrap_fstatvfs(int file, struct statvfs *room);

static enum { ROOM, NO_ROOM, TOO_LITTLE_LEFT } shared_memory;

static struct {
    off_t size, end, bytes; /* of the last block; the end of the reservation; all reserved bytes */
} reserved;

int __wrap_posix_fallocate(int file, off_t start, off_t bytes)
{
    struct stat block;
    CHECK_INT(fstat(file, &block), 0);
    if (start || bytes < block.st_size) { /* the first rank reserves the whole block at last */
        reserved.size = block.st_size;
        reserved.end = start + bytes > reserved.end ? start + bytes : reserved.end;
        reserved.bytes += bytes;
    }
    return shared_memory == NO_ROOM ? ENOSPC : __real_posix_fallocate(file, start, bytes);
}

int __wrap_fstatvfs(int file, struct statvfs *room)
{
    int status = __real_fstatvfs(file, room);
    if (shared_memory == TOO_LITTLE_LEFT)
        room->f_bavail = (4 << 20) / room->f_frsize;
    return status;
}

static bool each_is_a_node;

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *node)
{
    return each_is_a_node ? MPI_Comm_split(comm, rank, key, node) : PMPI_Comm_split_type(comm, type, key, info, node);
}

static pencilfft_desc description(const char *exchange)
{
    pencilfft_desc desc = described(12, 12, 12);
    desc.exchange = exchange;
    desc.auto_budget_s = 0;
    return desc;
}

/* Another value of a member, on the last rank alone. */
#define DIFFERENT(member, value)                                                                    \
    do {                                                                                            \
        pencilfft_desc desc = description("alltoallv");                                             \
        if (rank == ranks - 1)                                                                      \
            desc.member = value;                                                                    \
        no_plan(desc, PENCILFFT_MISMATCH, "the descriptors differ between ranks: " #member " is "); \
    } while (0)

static void ranks_that_differ_get_no_plan(void)
{
    DIFFERENT(nx, 13);
    DIFFERENT(ny, 13);
    DIFFERENT(nz, INT64_MIN);
    DIFFERENT(R, R + 1);
    DIFFERENT(C, C + 1);
    DIFFERENT(directions, PENCILFFT_FORWARD);
    DIFFERENT(type, "r2c");
    DIFFERENT(kinds, "1,1,1");
    DIFFERENT(skip, "x");
    DIFFERENT(precision, "single");
    DIFFERENT(layout, "stride1");
    DIFFERENT(exchange, "p2p");
    DIFFERENT(rigor, "measure");
    DIFFERENT(sync, "barrier");
    DIFFERENT(kinds, ""); /* others give NULL, the default */
    DIFFERENT(skip, "");
    DIFFERENT(schedule, "");
    DIFFERENT(torus, "");
    DIFFERENT(auto_budget_s, 2);
    DIFFERENT(fields, 2);
    DIFFERENT(threads, 2);
    DIFFERENT(destroy_input, 1);
    DIFFERENT(nonblocking, 1);
}

/* A value that no plan has, of a member, on all ranks. */
#define NONSENSE(member, value, status, words)          \
    do {                                                \
        pencilfft_desc desc = description("alltoallv"); \
        desc.member = value;                            \
        no_plan(desc, status, words);                   \
    } while (0)

static void nonsense_is_refused(void)
{
    const pencilfft_box outside = {.offset = {INT64_MAX, -1, 0}, .extent = {INT64_MAX, INT64_MIN, 1}};
    NONSENSE(nx, INT64_MAX, PENCILFFT_BAD_SIZE, "more than 2^53 elements");
    NONSENSE(R, -R, PENCILFFT_BAD_GRID, "at least 1");
    NONSENSE(C, -1, PENCILFFT_BAD_GRID, "at least 1");
    NONSENSE(R, R + 1, PENCILFFT_BAD_GRID, "choose RxC with R*C = ");
    NONSENSE(C, INT_MAX, PENCILFFT_BAD_GRID, "");
    NONSENSE(directions, 0, PENCILFFT_BAD_CALL, "directions");
    NONSENSE(directions, 7, PENCILFFT_BAD_CALL, "directions");
    NONSENSE(type, "", PENCILFFT_UNKNOWN_NAME, "");
    NONSENSE(kinds, "", PENCILFFT_BAD_CALL, "");
    NONSENSE(skip, "xx", PENCILFFT_UNKNOWN_NAME, "");
    NONSENSE(skip, "xyzx", PENCILFFT_UNKNOWN_NAME, "");
    NONSENSE(skip, "X", PENCILFFT_UNKNOWN_NAME, "");
    NONSENSE(precision, "", PENCILFFT_UNKNOWN_NAME, "");
    NONSENSE(exchange_precision, "half", PENCILFFT_UNKNOWN_NAME, "unknown precision 'half'; known: double, single");
    NONSENSE(layout, "z", PENCILFFT_UNKNOWN_NAME, "");
    NONSENSE(exchange, "", PENCILFFT_UNKNOWN_NAME, "unknown exchange ''; known: alltoallv");
    NONSENSE(rigor, "", PENCILFFT_UNKNOWN_NAME, "");
    NONSENSE(rigor, NULL, PENCILFFT_UNKNOWN_NAME, "known: estimate, measure, patient");
    NONSENSE(sync, "", PENCILFFT_UNKNOWN_NAME, "");
    NONSENSE(sync, rank == ranks - 1 ? "wish" : "none", PENCILFFT_UNKNOWN_NAME, "unknown sync 'wish'");
    NONSENSE(schedule, "overlap:-1", PENCILFFT_UNKNOWN_NAME, "");
    NONSENSE(schedule, "teleport", PENCILFFT_UNKNOWN_NAME, "opposite, auto");
    NONSENSE(torus, "-1", PENCILFFT_BAD_CALL, "");
    NONSENSE(auto_budget_s, -1, PENCILFFT_BAD_CALL, "");
    NONSENSE(auto_budget_s, NAN, PENCILFFT_BAD_CALL, "");
    NONSENSE(auto_budget_s, INFINITY, PENCILFFT_BAD_CALL, "");
    NONSENSE(auto_budget_s, -INFINITY, PENCILFFT_BAD_CALL, "");
    NONSENSE(fields, 0, PENCILFFT_BAD_SIZE, "");
    NONSENSE(fields, INT_MIN, PENCILFFT_BAD_SIZE, "");
    NONSENSE(threads, INT_MAX, PENCILFFT_BAD_CALL, "");
    NONSENSE(destroy_input, 2, PENCILFFT_BAD_CALL, "destroy_input is 2; give 1 where the input may be overwritten, else 0");
    NONSENSE(nonblocking, 2, PENCILFFT_BAD_CALL, "");
    NONSENSE(input_box, &outside, PENCILFFT_BAD_SIZE, "");
    NONSENSE(output_box, &outside, PENCILFFT_BAD_SIZE, "");
    CHECK_INT(setenv("PENCILFFT_CHECK_CALLS", "abc", 1), 0);
    no_plan(description("p2p"), PENCILFFT_BAD_CALL, "PENCILFFT_CHECK_CALLS is 'abc'; give 0, 1, or the seconds");
    CHECK_INT(unsetenv("PENCILFFT_CHECK_CALLS"), 0);
    no_plan((pencilfft_desc){0}, PENCILFFT_BAD_CALL, "not initialised; call pencilfft_desc_init() first");
}

/* The same refusal although other members depend on extents: bricks chosen for them, boxes. */
static void extents_below_one_are_refused(void)
{
    pencilfft_box box = {.extent = {1, 1, 1}};
    for (int i = 0; i < 3 * 3 * 2 * 2; i++) {
        pencilfft_desc desc = description("alltoallv");
        int64_t *const n[] = {&desc.nx, &desc.ny, &desc.nz};
        *n[i % 3] = i / 3 % 3 == 2 ? INT64_MIN : -(i / 3 % 3);
        if (i / 9 % 2)
            desc.decomposition = "brick";
        if (i / 18)
            desc.input_box = desc.output_box = &box;
        no_plan(desc, PENCILFFT_BAD_SIZE, "every extent must be at least 1");
    }
}

static void members_that_contradict_each_other_are_refused(void)
{
    char words[64];
    pencilfft_desc slab = description("alltoallv");
    slab.decomposition = "slab", slab.R = 2, slab.C = ranks + 1;
    no_plan(slab, PENCILFFT_BAD_GRID, "slab has a grid of one number P");
    slab.R = 1;
    snprintf(words, sizeof words, "needs %d processes, %d were started; choose P = %d", ranks + 1, ranks, ranks);
    no_plan(slab, PENCILFFT_BAD_GRID, words);
    slab.C = -1;
    no_plan(slab, PENCILFFT_BAD_GRID, "P must be at least 1");
    pencilfft_desc large = description("alltoallv"), precise = large;
    large.nx = large.ny = large.nz = 1 << 12; /* 2^36 elements, 2^64 bytes in all fields */
    large.fields = 1 << 24;
    no_plan(large, PENCILFFT_BAD_SIZE, "4096 4096 4096 with 16777216 fields: more than 2^53 elements");
    large.nx = large.ny = large.nz = 1 << 15;
    large.fields = (1 << 8) + 1; /* one more than allowed */
    no_plan(large, PENCILFFT_BAD_SIZE, "32768 32768 32768 with 257 fields: more than 2^53 elements");
    large = description("alltoallv");
    large.nx = large.padded_nz = INT64_MAX;
    no_plan(large, PENCILFFT_BAD_SIZE, "more than 2^53 elements");
    precise.precision = "single";
    precise.exchange_precision = "double";
    no_plan(precise, PENCILFFT_NOT_POSSIBLE, "exchange_precision double is more than precision single has; give single");
    BAD(pencilfft_exchange_error(NULL, NULL), "");
}

/* A swapped grid has as many ranks; a null descriptor belongs to no rank. */
static void grids_that_differ_and_null_descriptors_get_no_plan(void)
{
    pencilfft_desc desc = description("alltoallv");
    pencilfft_plan plan;
    if (rank == ranks - 1 && R != C) {
        desc.R = C;
        desc.C = R;
    }
    CHECK_INT(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan), R != C ? PENCILFFT_MISMATCH : PENCILFFT_OK);
    OK(pencilfft_plan_destroy(plan));
    BAD(pencilfft_plan_create(rank == ranks - 1 ? NULL : &desc, MPI_COMM_WORLD, &plan), "null descriptor");
    BAD(pencilfft_plan_create(&desc, MPI_COMM_WORLD, rank == ranks - 1 ? NULL : &plan), "");
    pencilfft_desc_init(NULL);
}

static void expect_no_room(int node_is_first, const char *words)
{
    pencilfft_desc desc = description("node");
    pencilfft_plan plan;
    shared_memory = ROOM;
    if (rank == (node_is_first ? 0 : ranks - 1))
        shared_memory = node_is_first ? TOO_LITTLE_LEFT : NO_ROOM;
    REFUSED(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan), PENCILFFT_NOT_POSSIBLE, "");
    CHECK(plan == NULL);
    CHECK_CONTAINS(pencilfft_error_message(), "bytes of shared memory for each of its groups on a node");
    CHECK_CONTAINS(pencilfft_error_message(), words);
    CHECK(same_message_on_all());
    desc.exchange = "auto";
    desc.auto_budget_s = 5;
    plan = made(&desc);
    OK(pencilfft_plan_destroy(plan));
    shared_memory = ROOM;
}

enum { CALL_BYTES = 64 }; /* a word of each rank about its call, a cache line at least */

/* Each rank is a node: its block holds the sent data and then the received data, piece after piece. */
static void a_node_reserves_all_that_it_writes(void)
{
    pencilfft_desc desc = description("node");
    pencilfft_plan plan;
    desc.R = ranks;
    desc.C = 1;
    memset(&reserved, 0, sizeof reserved);
    CHECK_INT(setenv("PENCILFFT_RANKS_PER_NODE", "1", 1), 0);
    plan = made(&desc);
    CHECK_INT(unsetenv("PENCILFFT_RANKS_PER_NODE"), 0);
    OK(pencilfft_plan_destroy(plan));
    CHECK(reserved.size > 0);
    CHECK_INT(reserved.end + CALL_BYTES, reserved.size);
    CHECK_INT(reserved.bytes + CALL_BYTES, reserved.size);
}

/* All ranks are one group on one node. */
static void a_node_notices_ranks_that_go_the_other_way(void)
{
    pencilfft_desc desc = description("node");
    pencilfft_plan plan;
    void *in = NULL, *out = NULL;
    desc.R = ranks;
    desc.C = 1;
    plan = made(&desc);
    OK(pencilfft_alloc(plan, &in));
    OK(pencilfft_alloc(plan, &out));
    REFUSED(rank ? pencilfft_backward(plan, out, in) : pencilfft_forward(plan, in, out), PENCILFFT_MISMATCH,
            "the calls differ between ranks");
    OK(pencilfft_plan_destroy(plan));
}

static void expect_exchanges(const pencilfft_desc *desc, const char *name)
{
    pencilfft_plan plan = NULL;
    OK(pencilfft_plan_create(desc, MPI_COMM_WORLD, &plan));
    for (int e = 0; plan && e < plan->layout.exchanges; e++)
        CHECK(!strcmp(plan->chosen.exchange[e]->name, plan->layout.p[e] > 1 ? name : "alltoallv"));
    OK(pencilfft_plan_destroy(plan));
}

static void without_a_name_the_exchange_is_node_inside_a_node(void)
{
    pencilfft_desc usual = description(NULL);
    usual.R = 1;
    usual.C = ranks;
    pencilfft_desc other[] = {usual, usual, usual, usual};
    expect_exchanges(&usual, "node");
    each_is_a_node = true;
    expect_exchanges(&usual, "alltoallv");
    each_is_a_node = false;
    CHECK_INT(setenv("PENCILFFT_RANKS_PER_NODE", "1", 1), 0);
    expect_exchanges(&usual, "alltoallv");
    CHECK_INT(unsetenv("PENCILFFT_RANKS_PER_NODE"), 0);
    if (rank == ranks - 1)
        shared_memory = NO_ROOM;
    expect_exchanges(&usual, "alltoallv");
    shared_memory = ROOM;
    other[0].nonblocking = 1;
    other[1].caller_work = 1;
    other[2].schedule = "overlap:2:x";
    other[3].destroy_input = 1;
    for (int i = 0; i < 4; i++)
        expect_exchanges(&other[i], "alltoallv");
    usual = description(NULL);
    expect_exchanges(&usual, R > 1 && C > 1 ? "alltoallv" : "node");
}

/* Wisdom may come from a time with enough room. */
static void a_choice_that_is_not_possible_now_is_made_anew(void)
{
    pencilfft_desc desc = description("auto");
    pencilfft_plan plan;
    char key[PF_MAX_EXCHANGES][PF_AUTO_KEY_SIZE];
    desc.schedule = "sequence";
    desc.auto_budget_s = 5;
    plan = made(&desc);
    for (int e = 0; e < plan->layout.exchanges; e++) {
        pf_auto_key(plan, e, 1, key[e]);
        CHECK(plan->layout.p[e] == 1 || pf_wisdom_find(key[e]));
        pf_wisdom_keep(key[e], "node");
    }
    OK(pencilfft_plan_destroy(plan));
    for (int i = 0; i < 2; i++) { /* the choice of wisdom, which is not possible */
        shared_memory = i ? NO_ROOM : ROOM;
        plan = made(&desc);
        for (int e = 0; plan && e < plan->layout.exchanges; e++)
            if (plan->layout.p[e] > 1)
                CHECK_INT(!strcmp(plan->chosen.exchange[e]->name, "node"), !i);
        OK(pencilfft_plan_destroy(plan));
    }
    shared_memory = ROOM;
    pencilfft_wisdom_forget();
}

/* Between start and wait a plan can do nothing else; wait needs a start, and start a plan made for it. */
static void plans_in_flight_do_nothing_else(void)
{
    pencilfft_desc desc = description("alltoallv");
    pencilfft_plan plan;
    void *b[4];
    int done;
    for (int nonblocking = 0; nonblocking < 2; nonblocking++) {
        desc.nonblocking = nonblocking;
        plan = made(&desc);
        for (int i = 0; i < 4; i++) {
            OK(pencilfft_alloc(plan, &b[i]));
            memset(b[i], 0, (size_t)plan->memory.alloc_elements * plan->layout.element_bytes);
        }
        BAD(pencilfft_wait(plan), "");
        BAD(pencilfft_progress(plan, &done), "is not in flight");
        BAD(pencilfft_progress(plan, NULL), "");
        if (!nonblocking) {
            BAD(pencilfft_start(plan, PENCILFFT_FORWARD, b[0], b[1]), "set nonblocking");
            BAD(pencilfft_start_pair(plan, b[0], b[1], b[2], b[3]), "");
            OK(pencilfft_plan_destroy(plan));
        }
    }
    BAD(pencilfft_start(NULL, PENCILFFT_FORWARD, b[0], b[1]), "");
    BAD(pencilfft_wait(NULL), "");
    BAD(pencilfft_set_norm(NULL, PENCILFFT_FORWARD, PENCILFFT_NORM_N), "");
    BAD(pencilfft_set_norm(plan, PENCILFFT_FORWARD, (pencilfft_norm)3), "");
    OK(pencilfft_start(plan, PENCILFFT_FORWARD, b[0], b[1]));
    BAD(pencilfft_start(plan, PENCILFFT_FORWARD, b[2], b[3]), "in flight; call pencilfft_wait() first");
    BAD(pencilfft_start_pair(plan, b[0], b[1], b[2], b[3]), "");
    BAD(pencilfft_backward(plan, b[2], b[3]), "");
    BAD(pencilfft_execute_pair(plan, b[0], b[1], b[2], b[3]), "");
    BAD(pencilfft_transpose(plan, 0, PENCILFFT_FORWARD, b[2], b[3]), "");
    BAD(pencilfft_plan_destroy(plan), "in flight; call pencilfft_wait() first");
    do
        OK(pencilfft_progress(plan, &done));
    while (!done);
    BAD(pencilfft_backward(plan, b[2], b[3]), ""); /* complete here, but not on all ranks */
    OK(pencilfft_wait(plan));
    BAD(pencilfft_wait(plan), "");
    OK(pencilfft_forward(plan, b[0], b[1]));
    OK(pencilfft_plan_destroy(plan));
}

enum call { FORWARD, BACKWARD, IN_PLACE, NULL_BUFFER, ROW, ROW_BACKWARD, COLUMN, PAIR, DESTROY, START, CALLS };

static int make_call(enum call call, pencilfft_plan plan, void *b[4])
{
    switch (call) {
    case FORWARD: return pencilfft_forward(plan, b[0], b[1]);
    case BACKWARD: return pencilfft_backward(plan, b[0], b[1]);
    case IN_PLACE: return pencilfft_execute(plan, PENCILFFT_FORWARD, b[0], b[0]);
    case NULL_BUFFER: return pencilfft_execute(plan, PENCILFFT_FORWARD, b[0], NULL);
    case ROW: return pencilfft_transpose(plan, 0, PENCILFFT_FORWARD, b[0], b[1]);
    case ROW_BACKWARD: return pencilfft_transpose(plan, 0, PENCILFFT_BACKWARD, b[0], b[1]);
    case COLUMN: return pencilfft_transpose(plan, 1, PENCILFFT_FORWARD, b[0], b[1]);
    case PAIR: return pencilfft_execute_pair(plan, b[0], b[1], b[2], b[3]);
    case START: return pencilfft_start(plan, PENCILFFT_FORWARD, b[0], b[1]);
    default: return pencilfft_plan_destroy(plan);
    }
}

/* Every collective call on the last rank beside every other call on the rest; then the plan works as before. */
static void calls_that_differ_fail_on_all_where_they_are_compared(void)
{
    pencilfft_desc desc = description("alltoallv");
    pencilfft_plan plan;
    void *buffer[4];
    desc.nonblocking = 1;
    CHECK_INT(setenv("PENCILFFT_CHECK_CALLS", rank ? "0" : "1", 1), 0);
    plan = made(&desc);
    CHECK_INT(unsetenv("PENCILFFT_CHECK_CALLS"), 0);
    for (int i = 0; i < 4; i++) {
        OK(pencilfft_alloc(plan, &buffer[i]));
        memset(buffer[i], 0, (size_t)plan->memory.alloc_elements * plan->layout.element_bytes);
    }
    for (int most = 0; most < CALLS; most++)
        for (int last = 0; last < CALLS; last++) {
            bool null = most == NULL_BUFFER || last == NULL_BUFFER;
            if (most == last && !null)
                continue;
            CHECK_INT(make_call(rank == ranks - 1 ? last : most, plan, buffer),
                      null ? PENCILFFT_BAD_CALL : PENCILFFT_MISMATCH);
            CHECK_CONTAINS(pencilfft_error_message(),
                           null ? "null plan or buffer" : "the calls differ between ranks: pencilfft_");
            CHECK(same_message_on_all());
        }
    OK(make_call(START, plan, buffer));
    BAD(rank ? pencilfft_wait(plan) : pencilfft_plan_destroy(plan), ""); /* first: in flight */
    CHECK(same_message_on_all());
    OK(pencilfft_wait(plan));
    for (int call = 0; call < START; call++) {
        if (call == DESTROY)
            OK(pencilfft_start(plan, PENCILFFT_BACKWARD, buffer[0], buffer[1]) + pencilfft_wait(plan));
        if (call != NULL_BUFFER)
            OK(make_call(call, plan, buffer));
    }
}

int main(int argc, char **argv)
{
    start_tests(argc, argv, MPI_THREAD_FUNNELED);
    nonsense_is_refused();
    extents_below_one_are_refused();
    members_that_contradict_each_other_are_refused();
    grids_that_differ_and_null_descriptors_get_no_plan();
    if (ranks > 1) {
        ranks_that_differ_get_no_plan();
        a_node_reserves_all_that_it_writes();
        a_node_notices_ranks_that_go_the_other_way();
        expect_no_room(0, "No space left on device");
        expect_no_room(1, "too little would be left");
        without_a_name_the_exchange_is_node_inside_a_node();
        a_choice_that_is_not_possible_now_is_made_anew();
        plans_in_flight_do_nothing_else();
        calls_that_differ_fail_on_all_where_they_are_compared();
    }
    return end_tests();
}
