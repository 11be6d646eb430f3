/* Sends known amounts by every function of MPI that the tracer counts: traffic_test GROUP. Each call, a case, is a phase by
 * MPI_Pcontrol; rank 0 prints the level of each phase and its name. test_traffic.py knows the messages of each case. Ranks
 * are those of a communicator in which the order of MPI_COMM_WORLD is reversed.
 *     traffic_test random SEED STEPS    random messages; each rank prints its own account: ACCOUNT from to bytes messages
 *     traffic_test ends WAY             one exchange, then the end of the program: abort, signal, return, wait
 *     traffic_test spawn, session       messages to spawned processes; a session, without MPI_Init */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined OPEN_MPI && __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* MPIX_Alltoall_init and its like */
#endif

enum { MOST = 64, LARGE = 4096, THREADS = 4, TIMES = 200 };

static int P, me, level = 2, *out, *in;
static MPI_Comm comm, graph, grid, ring, collective_comm, inter;
static MPI_Win window;

/* Integers of rank i for rank k, sometimes none. */
static int amount(int i, int k)
{
    return (3 * i + 5 * k) % 4;
}

static int left(int steps)
{
    return (me + 2 * P - steps) % P;
}

/* A barrier that is not counted. */
static void wait_for_all(void)
{
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
}

/* MPICH 4.0 fails in the second start of a persistent scatter. */
static int starts_of(const char *name)
{
    size_t length = strlen(name);
    bool persistent = length > 5 && (!strcmp(name + length - 5, "_init") || !strcmp(name + length - 7, "_init_c"));
    return !persistent || !strncmp(name, "Scatter_init", 12) ? 1 : 3;
}

static void begin(const char *name)
{
    wait_for_all();
    MPI_Pcontrol(level);
    if (me == P - 1)
        printf("%d %s %d\n", level, name, starts_of(name));
    level++;
}

#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define UNPACK(...) __VA_ARGS__
#define F(name) JOIN(name, SUFFIX)
#define CASE(name, ...)       \
    do {                      \
        begin(TEXT(F(name))); \
        __VA_ARGS__;          \
        wait_for_all();       \
    } while (0)
#if MPI_VERSION >= 4
#define LATER_FORM(name, arguments) START(F(name##_init), F(MPI_##name##_init), arguments)
#elif defined OMPI_HAVE_MPI_EXT_PCOLLREQ
#define LATER_FORM(name, arguments) START(name##_init, MPIX_##name##_init, arguments)
#else
#define LATER_FORM(name, arguments)
#endif
#define START(name, function, arguments)                     \
    do {                                                     \
        begin(TEXT(name));                                   \
        function(UNPACK arguments, MPI_INFO_NULL, &request); \
        for (int i = 0; i < starts_of(TEXT(name)); i++) {    \
            MPI_Start(&request);                             \
            MPI_Wait(&request, MPI_STATUS_IGNORE);           \
        }                                                    \
        MPI_Request_free(&request);                          \
    } while (0)
#define FORMS(name, started, arguments)                                                                 \
    CASE(name, F(MPI_##name) arguments);                                                                \
    CASE(started, F(MPI_##started)(UNPACK arguments, &request); MPI_Wait(&request, MPI_STATUS_IGNORE)); \
    LATER_FORM(name, arguments)

#define COUNT int
#define OFFSET int
#define SUFFIX
#include "traffic_forms.h"
#if MPI_VERSION >= 4
#undef COUNT
#undef OFFSET
#undef SUFFIX
#define COUNT MPI_Count
#define OFFSET MPI_Aint
#define SUFFIX _c
#include "traffic_forms.h"
#endif
#undef SUFFIX
#define SUFFIX

/* ---- what has no large counts ------------------------------------------------------------------------------------ */

static void other(void)
{
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    int next = (me + 1) % P, before = (me + P - 1) % P, flag = 0;
    int n_of[MOST], zero[MOST] = {0}, at[MOST];
    MPI_Datatype types[MOST], block;
    MPI_Type_vector(3, 2, 4, MPI_DOUBLE, &block); /* 48 bytes, with gaps */
    MPI_Type_commit(&block);
    for (int i = 0; i < P; i++) {
        n_of[i] = (i + me) % 3;
        at[i] = 4 * i;
        types[i] = MPI_INT;
    }
    CASE(vector, MPI_Sendrecv(out, 2, block, next, 0, in, 2, block, before, 0, comm, &status));
    CASE(to_itself, MPI_Sendrecv(out, 3, MPI_INT, me, 0, in, 3, MPI_INT, me, 0, comm, &status));
    CASE(to_nobody, MPI_Send(out, 3, MPI_INT, MPI_PROC_NULL, 0, comm));
    CASE(without_bytes, MPI_Sendrecv(out, 0, MPI_INT, next, 0, in, 0, MPI_INT, before, 0, comm, &status));
    CASE(probed, MPI_Isend(out, 6, MPI_INT, next, 0, comm, &request); MPI_Probe(before, 0, comm, &status);
         while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
         MPI_Recv(in, 6, MPI_INT, before, 0, comm, &status); MPI_Wait(&request, &status));
    CASE(matched, MPI_Isend(out, 6, MPI_INT, next, 0, comm, &request); MPI_Mprobe(before, 0, comm, &message, &status);
         MPI_Mrecv(in, 6, MPI_INT, &message, &status); MPI_Wait(&request, &status));
    flag = 0;
    CASE(matched_later, MPI_Isend(out, 6, MPI_INT, next, 0, comm, &request);
         while (!flag) MPI_Improbe(before, 0, comm, &flag, &message, &status); MPI_Request received;
         MPI_Imrecv(in, 6, MPI_INT, &message, &received); MPI_Wait(&received, &status); MPI_Wait(&request, &status));
    collective_comm = comm;
    FORMS(Barrier, Ibarrier, (comm));
    CASE(large_allreduce, MPI_Allreduce(MPI_IN_PLACE, in, LARGE, MPI_INT, MPI_SUM, comm));
    CASE(alltoall_in_place, MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, in, 5, MPI_INT, comm));
    CASE(alltoallv_in_place, MPI_Alltoallv(MPI_IN_PLACE, zero, zero, MPI_INT, in, n_of, at, MPI_INT, comm));
    CASE(alltoallw_in_place, MPI_Alltoallw(MPI_IN_PLACE, zero, zero, types, in, n_of, at, types, comm));
    CASE(gather_in_place, MPI_Gather(me == 1 ? MPI_IN_PLACE : out, 5, MPI_INT, in, 5, MPI_INT, 1, comm));
    CASE(grid, MPI_Neighbor_alltoall(out, 3, MPI_INT, in, 3, MPI_INT, grid));
    CASE(graph, MPI_Neighbor_alltoall(out, 3, MPI_INT, in, 3, MPI_INT, ring));
    MPI_Type_free(&block);
#if MPI_VERSION >= 4
    MPI_Request pair[2];
    CASE(
        Psend_init, MPI_Psend_init(out, 2, 3, MPI_INT, next, 9, comm, MPI_INFO_NULL, pair);
        MPI_Precv_init(in, 2, 3, MPI_INT, before, 9, comm, MPI_INFO_NULL, pair + 1); for (int i = 0; i < 3; i++) {
            MPI_Startall(2, pair);
            MPI_Pready_range(0, 1, pair[0]);
            MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
        } MPI_Request_free(pair);
        MPI_Request_free(pair + 1));
#endif
}

static void other_one_sided(void)
{
    int target = (me + 1) % P;
    CASE(Fetch_and_op, MPI_Fetch_and_op(out, in, MPI_INT, target, 0, MPI_SUM, window));
    CASE(Fetch_and_op_no_op, MPI_Fetch_and_op(NULL, in, MPI_INT, target, 0, MPI_NO_OP, window));
    CASE(Compare_and_swap, MPI_Compare_and_swap(out, out, in, MPI_INT, target, 0, window));
}

/* Between the even and the odd ranks of the world. */
static void between_groups(void)
{
    int world, size, root, own_size, own, n[MOST];
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_remote_size(inter, &size);
    MPI_Comm_size(inter, &own_size);
    MPI_Comm_rank(inter, &own);
    root = world % 2 ? 0 : own == 0 ? MPI_ROOT : MPI_PROC_NULL;
    for (int i = 0; i < own_size; i++)
        n[i] = size; /* the same sum in both groups */
    CASE(inter_send, MPI_Request sent; MPI_Isend(out, 4, MPI_INT, own % size, 0, inter, &sent);
         for (int i = own; i < size; i += own_size) MPI_Recv(in, 4, MPI_INT, i, 0, inter, MPI_STATUS_IGNORE);
         MPI_Wait(&sent, MPI_STATUS_IGNORE));
    CASE(inter_barrier, MPI_Barrier(inter));
    CASE(inter_bcast, MPI_Bcast(in, 4, MPI_INT, root, inter));
    CASE(inter_reduce, MPI_Reduce(out, in, 4, MPI_INT, MPI_SUM, root, inter));
    CASE(inter_allreduce, MPI_Allreduce(out, in, 4, MPI_INT, MPI_SUM, inter));
    CASE(inter_reduce_scatter, MPI_Reduce_scatter(out, in, n, MPI_INT, MPI_SUM, inter));
    CASE(inter_allgather, MPI_Allgather(out, 4, MPI_INT, in, 4, MPI_INT, inter));
    CASE(inter_gather, MPI_Gather(out, 4, MPI_INT, in, 4, MPI_INT, root, inter));
    CASE(inter_scatter, MPI_Scatter(out, 4, MPI_INT, in, 4, MPI_INT, root, inter));
    CASE(inter_alltoall, MPI_Alltoall(out, 4, MPI_INT, in, 4, MPI_INT, inter));
}

static void *send_many(void *number)
{
    int tag = *(int *)number, taken[8];
    for (int i = 0; i < TIMES; i++)
        MPI_Sendrecv(out, tag + 1, MPI_INT, (me + 1) % P, tag, taken, tag + 1, MPI_INT, (me + P - 1) % P, tag, comm,
                     MPI_STATUS_IGNORE);
    return NULL;
}

static void many_threads(void)
{
    pthread_t thread[THREADS];
    int number[THREADS];
    begin("threads");
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        pthread_create(thread + i, NULL, send_many, number + i);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

/* ---- windows between collectives: no levels ---------------------------------------------------------------------- */

static void exchange(int step)
{
    MPI_Sendrecv(out, 6, MPI_INT, (me + step) % P, 0, in, 6, MPI_INT, (me + P - step) % P, 0, comm, MPI_STATUS_IGNORE);
}

/* Twenty times: to the next rank, a barrier, to the next but one, an allreduce. */
static void two_exchanges(void)
{
    for (int i = 0; i < 20; i++) {
        exchange(1);
        MPI_Barrier(MPI_COMM_WORLD);
        exchange(2);
        MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void spin(double seconds)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < seconds);
}

/* World rank r computes for 20 (r + 1) ms before each of two barriers, and then without the tracer. */
static void computing(void)
{
    for (int i = 0; i < 2; i++) {
        spin(0.02 * (P - me));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Pcontrol(0);
    spin(0.2);
    MPI_Pcontrol(1);
}

static void shift(int to, int from, int open)
{
    if (to >= 0 && to < P)
        MPI_Send(out, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
    else if (!open)
        MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    if (from >= 0 && from < P)
        MPI_Recv(in, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (!open)
        MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Both directions of a chain, without partners at its ends: first by MPI_PROC_NULL, then with fewer calls. */
static void chains(void)
{
    int rank = P - 1 - me;
    for (int open = 0; open < 2; open++) {
        MPI_Barrier(MPI_COMM_WORLD);
        shift(rank + 1, rank - 1, open);
        shift(rank - 1, rank + 1, open);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* More windows than phases are kept: rank 0 sends i + 1 bytes to all ranks with a bit in i. */
static void many_windows(void)
{
    for (int i = 0; i < 400; i++) {
        for (int k = 1; k < P; k++)
            if (me == 0 && (i >> (k - 1)) & 1)
                MPI_Send(out, i + 1, MPI_CHAR, k, 0, comm);
            else if (me == k && (i >> (k - 1)) & 1)
                MPI_Recv(in, i + 1, MPI_CHAR, 0, 0, comm, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* ---- random messages --------------------------------------------------------------------------------------------- */

enum { LARGEST = 1000, WAYS = 3 };

static uint64_t state;

static int draw(int below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)below);
}

/* The ranks in parts, in a random order; returns the communicator of mine, and the world ranks of its members. */
static MPI_Comm divide(int parts, int members[MOST], int *size)
{
    int color[MOST], order[MOST], world;
    MPI_Comm part;
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    for (int i = 0; i < P; i++) {
        color[i] = draw(parts);
        order[i] = draw(1000);
    }
    MPI_Comm_split(MPI_COMM_WORLD, color[world], order[world], &part);
    *size = 0;
    for (int i = 0; i < P; i++) { /* sort by order, then by rank */
        int at = *size;
        if (color[i] != color[world])
            continue;
        for (; at > 0 && order[members[at - 1]] > order[i]; at--)
            members[at] = members[at - 1];
        members[at] = i;
        ++*size;
    }
    return part;
}

/* By messages, an alltoallv or puts; bytes to and from each member. */
static void send_some(MPI_Comm part, int size, const int n[], const int back[], int way)
{
    static char from[MOST * LARGEST], to[MOST * LARGEST];
    int at[MOST], own;
    MPI_Request request[2 * MOST];
    MPI_Comm_rank(part, &own);
    for (int i = 0; i < size; i++)
        at[i] = i * LARGEST;
    if (way == 0) {
        for (int i = 0; i < size; i++) {
            MPI_Irecv(to + at[i], back[i], MPI_CHAR, i, 3, part, request + i);
            MPI_Isend(from, n[i], MPI_CHAR, i, 3, part, request + size + i);
        }
        MPI_Waitall(2 * size, request, MPI_STATUSES_IGNORE);
    } else if (way == 1)
        MPI_Alltoallv(from, n, at, MPI_CHAR, to, back, at, MPI_CHAR, part);
    else {
        char *memory;
        MPI_Win puts;
        MPI_Win_allocate(MOST * LARGEST, 1, MPI_INFO_NULL, part, &memory, &puts);
        MPI_Win_fence(0, puts);
        for (int i = 0; i < size; i++)
            if (n[i])
                MPI_Put(from, n[i], MPI_CHAR, i, own * LARGEST, n[i], MPI_CHAR, puts);
        MPI_Win_fence(0, puts);
        MPI_Win_free(&puts);
    }
}

static void random_messages(char **words)
{
    static int sizes[MOST][MOST];
    long bytes[MOST] = {0}, messages[MOST] = {0};
    int world, members[MOST], size, n[MOST], back[MOST];
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    state = strtoull(words[0], NULL, 10);
    for (int step = atoi(words[1]); step > 0; step--) {
        int way = draw(WAYS), most = 1 + draw(LARGEST);
        /* Open MPI 4.1 fails with windows of several groups of a node */
        MPI_Comm part = divide(way == 2 ? 1 : 1 + draw(3), members, &size);
        for (int i = 0; i < P; i++)
            for (int k = 0; k < P; k++)
                sizes[i][k] = draw(3) ? draw(most) : 0;
        for (int i = 0; i < size; i++) {
            n[i] = sizes[world][members[i]];
            back[i] = sizes[members[i]][world];
            if (members[i] != world && (n[i] || way == 0)) {
                bytes[members[i]] += n[i];
                messages[members[i]]++;
            }
        }
        send_some(part, size, n, back, way);
        MPI_Comm_free(&part);
    }
    for (int to = 0; to < P; to++)
        if (messages[to])
            printf("ACCOUNT %d %d %ld %ld\n", world, to, bytes[to], messages[to]);
}

/* ---- whole programs ---------------------------------------------------------------------------------------------- */

static int end_early(const char *way)
{
    char data[100] = {0}, other[100];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Sendrecv(data, 100, MPI_CHAR, (rank + 1) % P, 0, other, 100, MPI_CHAR, (rank + P - 1) % P, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (!strcmp(way, "abort"))
        MPI_Abort(MPI_COMM_WORLD, 3);
    if (!strcmp(way, "signal"))
        kill(getpid(), SIGTERM);
    if (!strcmp(way, "wait") && rank) /* for a message that does not come, until the launcher ends the program */
        MPI_Recv(data, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return EXIT_SUCCESS;
}

/* A message to one of the two children, a broadcast to both. */
static int spawn(char *program, MPI_Comm others)
{
    int x = 5, rank, is_child = others != MPI_COMM_NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!is_child)
        MPI_Comm_spawn(program, MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &others, MPI_ERRCODES_IGNORE);
    if (!is_child && rank == 0)
        MPI_Send(&x, 1, MPI_INT, 1, 0, others);
    if (is_child && rank == 1)
        MPI_Recv(&x, 1, MPI_INT, 0, 0, others, MPI_STATUS_IGNORE);
    MPI_Bcast(&x, 1, MPI_INT, is_child ? 0 : rank ? MPI_PROC_NULL : MPI_ROOT, others);
    MPI_Comm_disconnect(&others);
    MPI_Finalize();
    return EXIT_SUCCESS;
}

#if MPI_VERSION >= 4
static int use_session(void)
{
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_finalize(&session);
    return EXIT_SUCCESS;
}
#endif

/* ---- the groups of cases ----------------------------------------------------------------------------------------- */

static void make_topologies(void)
{
    int periodic = 0, edge[MOST * 2], index[MOST];
    int sources[2] = {left(2), left(1)}, destinations[2] = {(me + 1) % P, (me + 2) % P};
    MPI_Cart_create(comm, 1, &P, &periodic, 0, &grid);
    MPI_Dist_graph_create_adjacent(comm, 2, sources, MPI_UNWEIGHTED, 2, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &graph);
    for (int i = 0; i < P; i++) {
        edge[2 * i] = (i + P - 1) % P;
        edge[2 * i + 1] = (i + 1) % P;
        index[i] = 2 * i + 2;
    }
    MPI_Graph_create(comm, P, index, edge, 0, &ring);
}

static void run(const char *group)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } groups[] = {{"point", point},
                  {"collective", collective},
                  {"neighbour", neighbour},
                  {"one_sided", one_sided},
#if MPI_VERSION >= 4
                  {"point_c", point_c},
                  {"collective_c", collective_c},
                  {"neighbour_c", neighbour_c},
                  {"one_sided_c", one_sided_c},
#endif
                  {"other", other},
                  {"other_one_sided", other_one_sided},
                  {"between_groups", between_groups},
                  {"threads", many_threads},
                  {"two_exchanges", two_exchanges},
                  {"many_windows", many_windows},
                  {"computing", computing},
                  {"chains", chains}};
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        if (!strcmp(groups[i].name, group))
            groups[i].function();
}

int main(int argc, char **argv)
{
    int given, world, *memory, size;
    const char *group = argc > 1 ? argv[1] : "";
    char *buffer = malloc(1 << 16);
    MPI_Comm half, parent;
#if MPI_VERSION >= 4
    if (!strcmp(group, "session"))
        return use_session();
#endif
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    MPI_Comm_size(MPI_COMM_WORLD, &P);
    MPI_Comm_get_parent(&parent);
    if (!strcmp(group, "spawn") || parent != MPI_COMM_NULL)
        return spawn(argv[0], parent);
    if (!strcmp(group, "ends"))
        return end_early(argv[2]);
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Pcontrol(0);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world, &comm);
    MPI_Comm_rank(comm, &me);
    out = calloc(LARGE, sizeof *out);
    in = calloc(LARGE, sizeof *in);
    MPI_Comm_split(MPI_COMM_WORLD, world % 2, world, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world % 2, 5, &inter);
    make_topologies();
    MPI_Win_allocate(1024, sizeof(int), MPI_INFO_NULL, comm, &memory, &window);
    MPI_Win_lock_all(0, window);
    MPI_Buffer_attach(buffer, 1 << 16);
    MPI_Pcontrol(1);
    if (!strcmp(group, "random"))
        random_messages(argv + 2);
    run(group);
    MPI_Pcontrol(0);
    MPI_Buffer_detach(&buffer, &size);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    free(buffer);
    free(out);
    free(in);
    return argc > 1 ? 0 : 7;
}
