/* Plans on one communicator share the communicators of the library: communicators_test PLANS ROUNDS, under mpirun. PLANS
 * plans are alive at once, the caller frees its communicator before or after them, and ranks run several plans one after the
 * other, each rank as fast as it can. An exchange that took the messages of another plan would change the results. The test
 * counts communicators. With PLANS 0 threads run plans at once. */
#include <complex.h>
#include <pthread.h>
#include <time.h>

#include "common/complex_value.h"
#include "driver.h"
#include "pencilfft_line.h"

static int alive; /* communicators */

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *duplicate)
{
    alive++;
    return PMPI_Comm_dup(comm, duplicate);
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm *group)
{
    alive++;
    return PMPI_Comm_split(comm, colour, key, group);
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *group)
{
    alive++;
    return PMPI_Comm_split_type(comm, type, key, info, group);
}

int MPI_Comm_free(MPI_Comm *comm)
{
    alive--;
    return PMPI_Comm_free(comm);
}

static unsigned seed = 1;

/* The same numbers on all ranks. */
static int below(int n)
{
    seed = seed * 1103515245u + 12345u;
    return (int)((seed >> 8) % (unsigned)n);
}

static void need(int status)
{
    if (status == PENCILFFT_OK)
        return;
    printf("rank %d: %s\n", rank, pencilfft_error_message());
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* ---- several kinds of plans, with their input and first output -------------------------------------------------------- */

enum { KINDS = 8, N = 4, MOST = 4 * N * N * N };

struct work {
    pencilfft_plan plan;
    pencilfft_halo halo;
    pencilfft_line_plan line;
    pencilfft_brick_lines bricks;
    double complex *in, *out, *first;
};

static pencilfft_desc description(int kind)
{
    static const char *const exchanges[KINDS] = {"alltoallv", "p2p", "persistent", "bruck2", "padded", "alltoallw"};
    pencilfft_desc desc = described(N, N + kind % 3, N);
    desc.R = kind % 2 ? ranks : 1, desc.C = kind % 2 ? 1 : ranks;
    desc.exchange = exchanges[kind];
    desc.schedule = kind == 1 || kind == 2 ? "overlap:2" : NULL;
    if (kind == 4)
        desc.decomposition = "brick", desc.R = desc.C = 0;
    return desc;
}

static void start_lines(MPI_Comm comm, bool bricks, struct work *w)
{
    pencilfft_line_desc line;
    pencilfft_brick_lines_desc brick;
    pencilfft_line_desc_init(&line);
    pencilfft_brick_lines_desc_init(&brick);
    line.n = 8 * ranks, line.lines = 2;
    line.algorithm = "dft";
    brick.nx = brick.ny = brick.nz = N;
    brick.bricks[0] = ranks, brick.bricks[1] = brick.bricks[2] = 1;
    line.rigor = brick.rigor = "estimate";
    need(bricks ? pencilfft_brick_lines_create(&brick, comm, &w->bricks) : pencilfft_line_create(&line, comm, &w->line));
}

static void start(MPI_Comm comm, int kind, struct work *w)
{
    const int64_t one[3] = {1, 0, 1};
    *w = (struct work){.plan = NULL};
    if (kind >= KINDS - 2)
        start_lines(comm, kind == KINDS - 1, w);
    else {
        pencilfft_desc desc = description(kind);
        need(pencilfft_plan_create(&desc, comm, &w->plan));
        if (kind == 0)
            need(pencilfft_halo_create(w->plan, PENCILFFT_INPUT, one, one, &w->halo));
    }
}

static void finish(struct work *w)
{
    need(pencilfft_halo_destroy(w->halo));
    need(pencilfft_plan_destroy(w->plan));
    need(pencilfft_line_destroy(w->line));
    need(pencilfft_brick_lines_destroy(w->bricks));
    free(w->in);
    free(w->out);
    free(w->first);
}

static void run(struct work *w)
{
    memset(w->out, 0, MOST * sizeof *w->out);
    if (w->halo)
        need(pencilfft_halo_exchange(w->halo, w->in, w->out));
    else if (w->plan)
        need(pencilfft_forward(w->plan, w->in, w->out));
    else if (w->line)
        need(pencilfft_line_execute(w->line, PENCILFFT_FORWARD, w->in, w->out));
    else
        need(pencilfft_brick_lines_execute(w->bricks, PENCILFFT_FORWARD, w->in, w->out));
}

/* With its input and first output. */
static void allocate(struct work *w)
{
    w->in = aligned_alloc(64, MOST * sizeof *w->in);
    w->out = aligned_alloc(64, MOST * sizeof *w->out);
    w->first = calloc(MOST, sizeof *w->first);
    if (!w->in || !w->out || !w->first)
        abort();
    int add = below(1000);
    for (int i = 0; i < MOST; i++)
        w->in[i] = CMPLX((i * 37 + rank * 11 + add) % 101, (i * 53 + rank + add) % 97);
    run(w);
    memcpy(w->first, w->out, MOST * sizeof *w->out);
}

static void run_again(struct work *w)
{
    run(w);
    CHECK(!memcmp(w->first, w->out, MOST * sizeof *w->out));
}

/* ---- tests ------------------------------------------------------------------------------------------------------------ */

static void many_are_alive_at_once(int plans)
{
    struct work *work = calloc((size_t)plans, sizeof *work);
    if (!work)
        abort();
    for (int i = 0; i < plans; i++)
        start(MPI_COMM_WORLD, i % KINDS, &work[i]);
    CHECK(alive < 20);
    for (int left = plans; left > 0; left--) { /* ended in any order */
        int i = below(left);
        finish(&work[i]);
        work[i] = work[left - 1];
    }
    free(work);
}

static void equal_plans_make_no_communicators(void)
{
    struct work first, second;
    for (int kind = 0; kind < KINDS; kind++) {
        start(MPI_COMM_WORLD, kind, &first);
        int before = alive;
        start(MPI_COMM_WORLD, kind, &second);
        CHECK_INT(alive, before);
        finish(&first);
        CHECK_INT(alive, before);
        finish(&second);
    }
}

/* Each of its plans holds the library's communicators; the last plan frees them. */
static void the_callers_communicator_is_freed(int rounds)
{
    int before = alive;
    for (int i = 0; i < rounds; i++) {
        MPI_Comm comm, copy;
        struct work one, other;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        start(comm, i % KINDS, &one);
        MPI_Comm_dup(comm, &copy); /* which does not have the attribute */
        start(copy, i % KINDS, &other);
        allocate(&one);
        allocate(&other);
        int order = below(3);
        if (order != 0)
            MPI_Comm_free(&comm);
        run_again(&one);
        if (order != 1)
            MPI_Comm_free(&copy);
        run_again(&other);
        run_again(&one);
        finish(&one);
        run_again(&other);
        if (order == 0)
            MPI_Comm_free(&comm);
        finish(&other);
        if (order == 1)
            MPI_Comm_free(&copy);
        CHECK_INT(alive, before);
    }
}

/* Messages are so short that a rank sends messages of the next plans while others have not begun. */
static void ranks_run_several_plans_each_at_its_own_pace(int rounds)
{
    enum { SEVERAL = 3 * KINDS };
    struct work work[SEVERAL];
    const struct timespec nap = {0, 200000};
    for (int i = 0; i < SEVERAL; i++) {
        start(MPI_COMM_WORLD, i % KINDS, &work[i]);
        allocate(&work[i]);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < rounds; i++) {
        struct work *w = &work[below(SEVERAL)];
        if (below(2 * ranks) == rank)
            nanosleep(&nap, NULL);
        run_again(w);
    }
    for (int i = 0; i < SEVERAL; i++)
        finish(&work[i]);
}

static int rounds_of_threads;

static void *run_often(void *work)
{
    struct work *w = work;
    for (int i = 0; i < rounds_of_threads; i++)
        run_again(w);
    return NULL;
}

/* With MPI_THREAD_MULTIPLE nothing is shared. A thread runs the halo of another thread's plan. */
static void threads_run_plans_at_once(int rounds)
{
    enum { PLANS = 3, THREADS = PLANS + 1 };
    struct work work[THREADS];
    pthread_t thread[THREADS];
    rounds_of_threads = rounds;
    for (int i = 0; i < PLANS; i++) {
        int before = alive, kind = i ? 1 : 0;
        start(MPI_COMM_WORLD, kind, &work[i]);
        CHECK(alive > before + 2);
    }
    work[PLANS] = (struct work){.halo = work[0].halo};
    work[0].halo = NULL;
    for (int i = 0; i < THREADS; i++) {
        allocate(&work[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, run_often, &work[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++)
        finish(&work[i]);
}

int main(int argc, char **argv)
{
    int level, plans = argc > 1 ? atoi(argv[1]) : 100, rounds = argc > 2 ? atoi(argv[2]) : 100;
    start_tests(argc, argv, plans ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE);
    MPI_Query_thread(&level);
    if (plans) {
        equal_plans_make_no_communicators();
        many_are_alive_at_once(plans);
        the_callers_communicator_is_freed(rounds);
        ranks_run_several_plans_each_at_its_own_pace(rounds);
    } else if (level == MPI_THREAD_MULTIPLE)
        threads_run_plans_at_once(rounds);
    else
        printf("NOT TESTED: threads at once, for this MPI has no MPI_THREAD_MULTIPLE\n");
    return end_tests();
}
