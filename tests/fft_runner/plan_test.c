/* A plan as a program in C sees it: its phases and walks, clocks that jump, descriptors of other releases, files of wisdom,
 * and shared memory without room. Run under mpirun with the grid as arguments: plan_test R C. python_refusals.py has the
 * calls that fail, the matrix and the fuzzer check transforms. Linked so that the library's calls of posix_fallocate and
 * fstatvfs come here. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "choose/auto.h"
#include "driver.h"

/* The library's clock, set back all the time, on each rank at another moment: no time is negative, and no rank sleeps until
 * the clock has caught up. */
double MPI_Wtime(void)
{
    static int calls;
    return PMPI_Wtime() - 100. * (++calls * (rank + 3) / 7);
}

static int reductions;

int MPI_Allreduce(const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    reductions++;
    return PMPI_Allreduce(from, to, n, type, op, comm);
}

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

/* ---- answers --------------------------------------------------------------------------------------------------------- */

static void phases_add_up_to_the_total(void)
{
    pencilfft_desc desc = description("alltoallv");
    desc.sync = "clock";
    pencilfft_plan plan = made(&desc);
    int phases = 0;
    OK(pencilfft_forward(plan, buffer_of(plan), buffer_of(plan)));
    check_phase_times(plan);
    OK(pencilfft_phases(plan, &phases));
    CHECK_INT(phases, 14);
    CHECK(!pencilfft_phase_name(plan, phases) && !pencilfft_phase_name(plan, -1) && !pencilfft_phase_name(NULL, 0));
    CHECK_INT(pencilfft_phase_kind(plan, phases), -1);
    pencilfft_plan_destroy(plan);
}

/* The place of the element by the parts; -1 if the element is not mine. */
static int64_t place_of(pencilfft_plan plan, int array, const int64_t index[3], int field)
{
    int parts;
    OK(pencilfft_parts(plan, array, &parts));
    for (int i = 0; i < parts; i++) {
        pencilfft_part part;
        OK(pencilfft_part_mine(plan, array, i, &part));
        int64_t at = part.start + (field - part.first_field) * part.field_stride;
        bool inside = field >= part.first_field && field < part.first_field + part.fields;
        for (int axis = 0; axis < 3; axis++) {
            int64_t local = index[axis] - part.box.offset[axis];
            inside = inside && local >= 0 && local < part.box.extent[axis];
            at += local * part.box.stride[axis];
        }
        if (inside)
            return at;
    }
    return -1;
}

/* Every element of mine once, in the order of memory, with the waves of its mode. */
static void walk_visits_all_that_is_mine(pencilfft_plan plan, int array)
{
    pencilfft_walk walk;
    pencilfft_format format;
    pencilfft_part first;
    int parts;
    int64_t visited = 0, mine = 0, wrong = 0, last = -1;
    OK(pencilfft_format_of(plan, array, &format));
    OK(pencilfft_parts(plan, array, &parts));
    OK(pencilfft_part_mine(plan, array, 0, &first));
    CHECK_INT(format.field_stride, parts > 1 ? 0 : first.field_stride);
    OK(pencilfft_walk_begin(plan, array, &walk));
    for (; pencilfft_walk_next(&walk); visited++) {
        wrong += walk.at != place_of(plan, array, walk.index, walk.field) || walk.at <= last;
        last = walk.at;
        for (int axis = 0; axis < 3 && array == PENCILFFT_OUTPUT; axis++) {
            double waves;
            OK(pencilfft_waves(plan, axis, walk.index[axis], &waves));
            wrong += waves != walk.waves[axis];
        }
    }
    CHECK_INT(pencilfft_walk_next(&walk), 0);
    for (int field = 0; field < format.fields; field++)
        for (int64_t x = 0; x < format.n[0]; x++)
            for (int64_t y = 0; y < format.n[1]; y++)
                for (int64_t z = 0; z < format.n[2]; z++)
                    mine += place_of(plan, array, (int64_t[]){x, y, z}, field) >= 0;
    CHECK_INT(wrong, 0);
    CHECK_INT(visited, mine);
}

static void every_array_is_walked(void)
{
    static const char *const layouts[] = {"natural", "stride1"}, *const schedules[] = {"sequence", "two-way", "opposite"};
    for (int i = 0; i < 6; i++) {
        pencilfft_desc desc = described(8, 9, 10);
        desc.type = "r2c", desc.layout = layouts[i / 3], desc.schedule = schedules[i % 3], desc.fields = 3;
        pencilfft_plan plan = made(&desc);
        walk_visits_all_that_is_mine(plan, PENCILFFT_INPUT);
        walk_visits_all_that_is_mine(plan, PENCILFFT_OUTPUT);
        OK(pencilfft_plan_destroy(plan));
    }
}

/* ---- what may not be ------------------------------------------------------------------------------------------------- */

/* A program compiled with an older header, whose descriptor ended earlier; and one with a newer header. */
static void descriptors_of_other_releases_are_taken(void)
{
    struct {
        pencilfft_desc desc;
        int64_t behind[8];
    } of;
    const size_t sizes[] = {offsetof(pencilfft_desc, padded_nx), sizeof of};
    const pencilfft_desc whole = description("alltoallv");
    pencilfft_plan plan;
    memset(&of, 'b', sizeof of);
    for (int newer = 0; newer < 2; newer++) {
        pencilfft_desc_init_bytes(&of.desc, sizes[newer]);
        CHECK((newer || ((const char *)&of)[sizes[0]] == 'b') && of.desc.fields == 1);
        of.desc.nx = whole.nx, of.desc.ny = whole.ny, of.desc.nz = whole.nz, of.desc.R = whole.R, of.desc.C = whole.C;
        OK(pencilfft_plan_destroy(made(&of.desc)));
    }
    of.behind[7] = 1;
    REFUSED(pencilfft_plan_create(&of.desc, MPI_COMM_WORLD, &plan), PENCILFFT_NOT_POSSIBLE,
            "compiled with a newer pencilfft.h");
}

/* Buffers of another plan, one of which is too short on some rank or on all. */
static void short_buffers_are_refused_on_all_ranks(void)
{
    pencilfft_desc desc = description("alltoallv");
    pencilfft_plan plan = made(&desc), other;
    void *in = buffer_of(plan), *out = buffer_of(plan);
    const int64_t none[3] = {0}, one[3] = {1, 1, 1};
    pencilfft_halo halo;
    desc.nx++;
    other = made(&desc);
    double complex *longer = buffer_of(other);
    BAD(pencilfft_forward(other, in, longer), "bytes from there on, and the array has");
    OK(pencilfft_forward(plan, longer, out));
    OK(pencilfft_backward(plan, out, longer));
    OK(pencilfft_halo_create(plan, PENCILFFT_INPUT, none, one, &halo));
    BAD(pencilfft_halo_exchange(halo, in, out), "`padded` lies in a buffer");
    OK(pencilfft_halo_destroy(halo));
    pencilfft_plan_destroy(plan);
    pencilfft_plan_destroy(other);
}

/* Of a plan with slabs of two planes, whose input has planes first to end - 1 on this rank. */
static int reductions_of_plan(int first, int end)
{
    pencilfft_box mine = {.offset = {first, 0, 0}, .extent = {end - first, 2 * ranks, 4}};
    pencilfft_desc desc = described(2 * ranks, 2 * ranks, 4);
    desc.decomposition = "slab", desc.R = 1, desc.C = ranks, desc.input_box = &mine;
    reductions = 0;
    OK(pencilfft_plan_destroy(made(&desc)));
    return reductions;
}

/* Each rank sends a plane to the rank before: one group, found in as many rounds as pairs of ranks. */
static void a_long_chain_of_messages_takes_no_more_rounds(void)
{
    bool first = rank % 2 == 0, last = rank == ranks - 1;
    int pairs = reductions_of_plan(2 * rank + !first, 2 * rank + 2 + (first && !last));
    CHECK_INT(reductions_of_plan(2 * rank - (rank > 0), 2 * rank + 1 + last), pairs);
}

/* This program starts MPI by MPI_THREAD_SINGLE. */
static void threads_must_be_possible(void)
{
    pencilfft_desc desc = description("alltoallv");
    int level, threads;
    desc.threads = -2;
    no_plan(desc, PENCILFFT_BAD_CALL, "threads is -2; give 1 or more, or PENCILFFT_OMP_THREADS (-1)");
    MPI_Query_thread(&level);
    desc.threads = 2;
#ifndef PENCILFFT_HAVE_OPENMP
    no_plan(desc, PENCILFFT_NOT_POSSIBLE, "threads is 2, but this library was built without OpenMP");
#else
    if (level < MPI_THREAD_FUNNELED)
        no_plan(desc, PENCILFFT_NOT_POSSIBLE,
                "threads is 2, but MPI runs with MPI_THREAD_SINGLE; start it by MPI_Init_thread");
    desc.threads = 1025;
    no_plan(desc, PENCILFFT_BAD_CALL, "threads is 1025; a rank has at most 1024");
#endif
    desc.threads = 0;
    pencilfft_plan plan = made(&desc);
    OK(pencilfft_threads(plan, &threads));
    CHECK_INT(threads, 1);
    BAD(pencilfft_threads(NULL, &threads), "");
    pencilfft_plan_destroy(plan);
}

static void refuses_communicator(MPI_Comm comm, const char *part)
{
    pencilfft_desc desc = description("alltoallv");
    pencilfft_plan plan = (pencilfft_plan)&desc;
    int found;
    BAD(pencilfft_plan_create(&desc, comm, &plan), part);
    CHECK(plan == NULL);
    BAD(pencilfft_wisdom_load("none", comm, &found), part);
    BAD(pencilfft_wisdom_save("none", comm), part);
}

static void communicators_between_groups_are_refused(void)
{
    MPI_Comm half, both;
    if (ranks == 1)
        return;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
    refuses_communicator(both, "an intercommunicator");
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/* A pipe stands for a device, whose place the file would also take; the same behind a link. */
static void wisdom_replaces_files_alone(void)
{
    char folder[] = "/tmp/pencilfft-XXXXXX", pipe[64], link[64];
    struct stat about = {.st_mode = 0};
    bool mine = rank == 0 && mkdtemp(folder);
    int found;
    BAD(pencilfft_wisdom_load(NULL, MPI_COMM_WORLD, &found), "null path");
    BAD(pencilfft_wisdom_save(NULL, MPI_COMM_WORLD), "null path");
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    snprintf(link, sizeof link, "%s/link", folder);
    CHECK(rank != 0 || (mine && !mkfifo(pipe, S_IRUSR | S_IWUSR) && !symlink("pipe", link)));
    BAD(pencilfft_wisdom_save(link, MPI_COMM_WORLD), "cannot be written: it is a folder, a pipe or a device");
    BAD(pencilfft_wisdom_save(pipe, MPI_COMM_WORLD), "cannot be written: it is a folder, a pipe or a device");
    if (!mine)
        return;
    CHECK(!lstat(pipe, &about) && S_ISFIFO(about.st_mode));
    CHECK(!unlink(link) && !unlink(pipe) && !rmdir(folder));
}

static void *fail_otherwise(void *nothing)
{
    BAD(pencilfft_desc_set_integer(nothing, "nx", 1), "null descriptor");
    return NULL;
}

static void each_thread_hears_of_its_own_failures(void)
{
    pthread_t other;
    CHECK_INT(pencilfft_forward(NULL, NULL, NULL), PENCILFFT_BAD_CALL);
    CHECK_INT(pthread_create(&other, NULL, fail_otherwise, NULL), 0);
    CHECK_INT(pthread_join(other, NULL), 0);
    CHECK_CONTAINS(pencilfft_error_message(), "null plan or buffer");
}

/* ---- nodes and shared memory ----------------------------------------------------------------------------------------- */

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

int main(int argc, char **argv)
{
    double complex buffer[2][16] = {{0}};
    refuses_communicator(MPI_COMM_WORLD, "call MPI_Init first");
    start_tests(argc, argv, MPI_THREAD_SINGLE);
    phases_add_up_to_the_total();
    every_array_is_walked();
    descriptors_of_other_releases_are_taken();
    short_buffers_are_refused_on_all_ranks();
    a_long_chain_of_messages_takes_no_more_rounds();
    threads_must_be_possible();
    refuses_communicator(MPI_COMM_NULL, "null communicator");
    pencilfft_desc_init(NULL);
    communicators_between_groups_are_refused();
    wisdom_replaces_files_alone();
    each_thread_hears_of_its_own_failures();
    if (ranks > 1) {
        a_node_reserves_all_that_it_writes();
        a_node_notices_ranks_that_go_the_other_way();
        expect_no_room(0, "No space left on device");
        expect_no_room(1, "too little would be left");
        without_a_name_the_exchange_is_node_inside_a_node();
        a_choice_that_is_not_possible_now_is_made_anew();
    }
    pencilfft_desc desc = description("alltoallv");
    pencilfft_plan left = made(&desc); /* when MPI ends */
    MPI_Finalize();
    BAD(pencilfft_forward(left, buffer[0], buffer[1]), "before MPI_Finalize");
    BAD(pencilfft_plan_destroy(left), "before MPI_Finalize");
    refuses_communicator(MPI_COMM_WORLD, "before MPI_Finalize");
    return check_result();
}
