/* Memory that runs out, planners of FFTW that return NULL, and calls of MPI that fail, on one rank.
 *     failures_test R C memory FILE [STRIDE]          every STRIDE-th allocation and planner, in plans of each kind, and in
 *                                                     reading and writing wisdom: all ranks get the same status and message,
 *                                                     no plan, do not wait for each other, hold nothing afterwards, and the
 *                                                     file keeps its contents, and is closed
 *     failures_test R C EXCHANGE SCHEDULE             the calls of MPI and their numbers, on the first and the last rank;
 *                                                     printed after every success
 *     failures_test R C EXCHANGE SCHEDULE RANK CALL AT   the AT-th CALL on that RANK fails: the library reports the failure
 *                                                     there, and the program ends all ranks, as pencilfft.h says
 * EXCHANGE halo is a halo instead of transforms, line-ALGORITHM is distributed lines instead of a plan for arrays,
 * bricks-ALGORITHM bricks of such lines. */
#include <complex.h>
#include <dirent.h>

#include "driver.h"
#include "failing_memory.h"
#include "failing_mpi.h"
#include "pencilfft_line.h"
#include "runner/runner.h"

#ifdef PENCILFFT_HAVE_OPENMP
enum { MOST_THREADS = 2 };
#else
enum { MOST_THREADS = 1 };
#endif
enum { MOST_TRIES = 5000, N = 12, ROOM = 2 * (N + 2) * (N + 2) * (N + 2) };

static bool runs; /* after its creation; else only the creation fails */
static const char *exchange = "alltoallv", *type = "c2c", *schedule, *decomposition, *algorithm, *order, *file;
static int64_t points;
static double complex *in, *out, *other;

/* ---- plans, halos, lines: made, used, ended ------------------------------------------------------------------------ */

/* There is no plan without success, if MPI works; if it does not, all ranks should end, and a plan cannot. Ends are not
 * counted. */
#define GO(handle, kind, create, use)                                                   \
    handle made = NULL;                                                                 \
    int status = create;                                                                \
    CHECK(status == PENCILFFT_MPI_ERROR || (status == PENCILFFT_OK) == (made != NULL)); \
    if (!status && runs)                                                                \
        status = use;                                                                   \
    failing_mpi_stop();                                                                 \
    if (runs && status)                                                                 \
        return status;                                                                  \
    int end = pencilfft_##kind##_destroy(made);                                         \
    return status ? status : end

#define TRY(call)                  \
    do {                           \
        int status_of_call = call; \
        if (status_of_call)        \
            return status_of_call; \
    } while (0)

static int use(pencilfft_plan plan)
{
    int parts;
    TRY(pencilfft_parts(plan, PENCILFFT_OUTPUT, &parts));
    TRY(pencilfft_execute_pair(plan, in, out, other, other));
    for (int way = PENCILFFT_FORWARD; way <= PENCILFFT_BACKWARD; way++) {
        TRY(pencilfft_execute(plan, way, in, out));
        for (int e = 0; e < 2 && parts == 1; e++)
            TRY(pencilfft_transpose(plan, e, way, in, out));
    }
    return PENCILFFT_OK;
}

static pencilfft_desc description(void)
{
    pencilfft_desc desc = described(N, N, N);
    desc.type = type, desc.exchange = exchange, desc.schedule = schedule;
    if (decomposition)
        desc.decomposition = decomposition;
    desc.fields = 2;
    if (runs)
        desc.sync = "barrier";
    else
        desc.threads = MOST_THREADS, desc.auto_budget_s = 0;
    return desc;
}

static int plan(void)
{
    pencilfft_desc desc = description();
    pencilfft_wisdom_forget(); /* of earlier choices of auto */
    GO(pencilfft_plan, plan, pencilfft_plan_create(&desc, MPI_COMM_WORLD, &made), use(made));
}

static pencilfft_plan with_halo;

static int use_halo(pencilfft_halo halo)
{
    TRY(pencilfft_halo_exchange(halo, in, out));
    return pencilfft_halo_accumulate(halo, out, NULL);
}

static int halo(void)
{
    const int64_t width[3] = {1, 1, 1};
    GO(pencilfft_halo, halo, pencilfft_halo_create(with_halo, PENCILFFT_INPUT, width, width, &made), use_halo(made));
}

/* Both ways. */
#define RUN(kind)                                                          \
    (pencilfft_##kind##_execute(made, PENCILFFT_FORWARD, in, out) ||       \
             pencilfft_##kind##_execute(made, PENCILFFT_BACKWARD, out, in) \
         ? PENCILFFT_MPI_ERROR                                             \
         : PENCILFFT_OK)

static int line(void)
{
    pencilfft_line_desc desc;
    pencilfft_line_desc_init(&desc);
    desc.n = points, desc.lines = 2;
    desc.algorithm = algorithm, desc.order = order;
    desc.rigor = "estimate", desc.sync = "barrier";
    GO(pencilfft_line_plan, line, pencilfft_line_create(&desc, MPI_COMM_WORLD, &made), RUN(line));
}

/* Lines along x over R ranks, along y on one, along z over C. */
static int brick_lines(void)
{
    pencilfft_brick_lines_desc desc;
    pencilfft_brick_lines_desc_init(&desc);
    desc.nx = 6, desc.ny = 5, desc.nz = 12;
    desc.bricks[0] = R, desc.bricks[1] = 1, desc.bricks[2] = C;
    desc.algorithm = algorithm;
    desc.rigor = "estimate", desc.sync = "barrier";
    GO(pencilfft_brick_lines, brick_lines, pencilfft_brick_lines_create(&desc, MPI_COMM_WORLD, &made), RUN(brick_lines));
}

/* ---- memory -------------------------------------------------------------------------------------------------------- */

static int save(void)
{
    return pencilfft_wisdom_save(file, MPI_COMM_WORLD);
}

static int load(void)
{
    int found = 0, status = pencilfft_wisdom_load(file, MPI_COMM_WORLD, &found);
    CHECK(status || found); /* after any failure, a whole file exists */
    return status;
}

static int stride = 1;

/* Fail every stride-th call on one rank until no call is left to fail. After a failure, no rank holds more than before. */
static void fails_anywhere(const char *what, int (*act)(void), int failing)
{
    int more = 1, failed = 0, tries = 0, status = act(); /* permanent data are made once */
    if (status == PENCILFFT_NOT_POSSIBLE)
        return;
    OK(status);
    long held = failing_memory_held();
    for (; more && tries < MOST_TRIES && !check_failures; tries++) {
        failing_memory_after(rank == failing ? tries * stride : -1);
        status = act();
        more = rank == failing && failing_memory_left() < 0;
        failing_memory_after(-1);
        MPI_Bcast(&more, 1, MPI_INT, failing, MPI_COMM_WORLD);
        CHECK(failing_memory_held() <= held); /* less if choices of auto are not kept */
        CHECK(same_on_all(status) && (status == PENCILFFT_OK || same_message_on_all()));
        CHECK(status == PENCILFFT_OK || status == PENCILFFT_NO_MEMORY || status == PENCILFFT_FFTW_ERROR);
        failed += status != PENCILFFT_OK;
    }
    CHECK(tries > 1 && tries < MOST_TRIES && failed > 0);
    if (rank == 0)
        printf("%s: %d of %d calls failed it on rank %d\n", what, failed, tries - 1, failing);
}

static void plans_fail_anywhere(int failing)
{
    for (int i = 0; (exchange = pencilfft_exchange_name(i)); i++)
        fails_anywhere(exchange, plan, failing);
    exchange = "alltoallv";
    for (int i = 0; (type = pencilfft_type_name(i)); i++)
        fails_anywhere(type, plan, failing);
    type = "c2c";
}

/* Remaps by messages between two, by an exchange among all, and by boxes that MPI gathers. Lines of points that all ranks
 * share alike, and of a prime: for the chirp and the gathered line. */
static void all_kinds_fail_anywhere(int failing)
{
    static const char *const remaps[] = {"p2p", "alltoallv", "alltoallw"};
    char what[64];
    for (int i = 1; (schedule = pencilfft_schedule_name(i)); i++) /* the first is sequence */
        fails_anywhere(schedule, plan, failing);
    decomposition = "brick";
    for (int i = 0; i < 3; i++) {
        exchange = remaps[i];
        snprintf(what, sizeof what, "bricks, %s", exchange);
        fails_anywhere(what, plan, failing);
    }
    decomposition = NULL, exchange = "alltoallv";
    pencilfft_desc desc = description();
    with_halo = made(&desc);
    fails_anywhere("halo", halo, failing);
    OK(pencilfft_plan_destroy(with_halo));
    for (int i = 0; (algorithm = pencilfft_line_algorithm_name(i)); i++)
        for (int prime = 0; prime < 2; prime++) {
            snprintf(what, sizeof what, "line-%s", algorithm);
            points = prime ? 31 : 24;
            order = prime ? "natural" : "transposed";
            fails_anywhere(what, line, failing);
        }
    algorithm = "transpose";
    fails_anywhere("bricks-of-lines", brick_lines, failing);
}

/* 0 if the system does not tell. */
static int open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int n = 0;
    while (folder && readdir(folder))
        n++;
    if (folder)
        closedir(folder);
    return n;
}

static void wisdom_fails_anywhere(void)
{
    exchange = "auto";
    OK(plan()); /* something to keep */
    OK(save());
    int before = open_files();
    fails_anywhere("save", save, 0); /* the last rank only provides FFTW's text */
    OK(load());
    fails_anywhere("load", load, 0);
    fails_anywhere("load", load, ranks - 1);
    OK(load());
    CHECK_INT(open_files(), before);
}

/* ---- MPI ----------------------------------------------------------------------------------------------------------- */

static int chosen(const char *name)
{
    points = 31; /* a prime, if the algorithm allows: on three ranks a chirp, and a gathered line */
    order = "natural";
    algorithm = strchr(name, '-') ? strchr(name, '-') + 1 : NULL;
    if (algorithm && !strncmp(algorithm, "binary", 6))
        points = 36;
    if (!strncmp(name, "line-", 5))
        return line();
    if (!strncmp(name, "bricks-", 7))
        return brick_lines();
    bool is_halo = !strcmp(name, "halo");
    exchange = is_halo ? "alltoallv" : name;
    if (!is_halo)
        return plan();
    pencilfft_desc desc = description();
    TRY(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &with_halo));
    TRY(halo());
    return pencilfft_plan_destroy(with_halo);
}

/* After a failure of MPI call MPI_Abort. */
static void call_fails(char **argv, bool fails)
{
    long times;
    const char *name;
    runs = true;
    schedule = argv[1];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    failing_mpi_start(fails ? argv[3] : NULL, fails ? atol(argv[4]) : 0);
    int status = chosen(argv[0]);
    if (status) {
        fprintf(stderr, "failures_test: rank %d, %s (status %d)\n", rank, pencilfft_error_message(), status);
        await_launcher();
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    for (int i = 0; (rank == 0 || rank == ranks - 1) && (name = failing_mpi_called(i, &times)); i++)
        printf("rank %d called %s %ld times\n", rank, name, times);
}

int main(int argc, char **argv)
{
    start_tests(argc, argv, MPI_THREAD_FUNNELED);
    in = calloc(ROOM, sizeof *in), out = calloc(ROOM, sizeof *out), other = calloc(ROOM, sizeof *other);
    if (argc < 5 || !in || !out || !other)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    if (strcmp(argv[3], "memory") != 0)
        call_fails(argv + 3, argc > 7 && rank == atoi(argv[5]));
    else {
        file = argv[4];
        stride = argc > 5 ? atoi(argv[5]) : 1;
        plans_fail_anywhere(0);
        if (ranks > 1)
            plans_fail_anywhere(ranks - 1);
        all_kinds_fail_anywhere(ranks - 1);
        wisdom_fails_anywhere();
    }
    free(in);
    free(out);
    free(other);
    return end_tests();
}
