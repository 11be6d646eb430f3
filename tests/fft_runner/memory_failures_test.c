/* Memory that runs out, and planners of FFTW that return NULL, on one rank: in plans with each exchange and each schedule,
 * during trials of "auto", in remaps to bricks and back, in halos, in distributed lines, alone and on bricks, in reading and
 * writing wisdom. All ranks must get the same status and message, no plan, must not wait for each other, hold nothing
 * afterwards, and the file keeps its contents, and is closed. Run under mpirun with the grid and, to test wisdom, a file:
 * memory_failures_test R C [FILE]. */
#include <dirent.h>

#include "driver.h"
#include "failing_memory.h"
#include "pencilfft_line.h"

#ifdef PENCILFFT_HAVE_OPENMP
enum { MOST_THREADS = 2 };
#else
enum { MOST_THREADS = 1 };
#endif
enum { MOST_TRIES = 5000 };
static const char *file, *exchange = "alltoallv", *type = "c2c", *schedule, *decomposition;

/* There is no plan without success. */
#define END(kind, create)                              \
    int status = create;                               \
    CHECK((status == PENCILFFT_OK) == (made != NULL)); \
    OK(pencilfft_##kind##_destroy(made));              \
    return status

static int plan(void)
{
    pencilfft_desc desc = described(12, 12, 12);
    pencilfft_plan made = NULL;
    desc.type = type, desc.exchange = exchange, desc.schedule = schedule;
    if (decomposition)
        desc.decomposition = decomposition;
    desc.fields = schedule ? 2 : 1;
    desc.threads = MOST_THREADS;
    desc.auto_budget_s = 0;
    pencilfft_wisdom_forget(); /* of earlier choices of auto */
    END(plan, pencilfft_plan_create(&desc, MPI_COMM_WORLD, &made));
}

static pencilfft_plan with_halo;

static int halo(void)
{
    const int64_t width[3] = {1, 2, 3};
    pencilfft_halo made = NULL;
    END(halo, pencilfft_halo_create(with_halo, PENCILFFT_INPUT, width, width, &made));
}

static pencilfft_line_desc of_line;

static int line(void)
{
    pencilfft_line_plan made = NULL;
    END(line, pencilfft_line_create(&of_line, MPI_COMM_WORLD, &made));
}

static pencilfft_brick_lines_desc of_bricks;

static int brick_lines(void)
{
    pencilfft_brick_lines made = NULL;
    END(brick_lines, pencilfft_brick_lines_create(&of_bricks, MPI_COMM_WORLD, &made));
}

static int save(void)
{
    return pencilfft_wisdom_save(file, MPI_COMM_WORLD);
}

static int load(void)
{
    int found = 0, status = pencilfft_wisdom_load(file, MPI_COMM_WORLD, &found);
    CHECK(status || found);
    return status;
}

/* After any failure, a whole file exists. */
static int file_is_whole(void)
{
    int found = 0;
    return pencilfft_wisdom_load(file, MPI_COMM_WORLD, &found) == PENCILFFT_OK && found;
}

static int stride = 1;

/* Fail every stride-th call on one rank until no call is left to fail. After a failure, no rank holds more than before. */
static void fails_anywhere(const char *what, int (*act)(void), int failing)
{
    int more = 1, failed = 0, tries = 0;
    OK(act()); /* permanent data are made once */
    long held = failing_memory_held();
    for (; more && tries < MOST_TRIES && !check_failures; tries++) {
        failing_memory_after(rank == failing ? tries * stride : -1);
        int status = act();
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
        if (plan() != PENCILFFT_NOT_POSSIBLE)
            fails_anywhere(exchange, plan, failing);
    exchange = "alltoallv";
    for (int i = 0; (type = pencilfft_type_name(i)); i++)
        fails_anywhere(type, plan, failing);
    type = "c2c";
}

static void schedules_fail_anywhere(int failing)
{
    for (int i = 0; (schedule = pencilfft_schedule_name(i)); i++)
        if (strcmp(schedule, "sequence") != 0)
            fails_anywhere(schedule, plan, failing);
}

/* By messages between two, by an exchange among all, and by boxes that MPI gathers. */
static void remaps_fail_anywhere(int failing)
{
    static const char *const by[] = {"p2p", "alltoallv", "alltoallw"};
    decomposition = "brick";
    for (int i = 0; i < 3; i++) {
        char what[64];
        exchange = by[i];
        snprintf(what, sizeof what, "bricks, %s", exchange);
        fails_anywhere(what, plan, failing);
    }
    exchange = "alltoallv";
    decomposition = NULL;
}

static void halos_fail_anywhere(int failing)
{
    pencilfft_desc desc = described(4, 4, 4);
    with_halo = made(&desc);
    fails_anywhere("halo", halo, failing);
    OK(pencilfft_plan_destroy(with_halo));
}

/* Points that all ranks share alike, and a prime: for the chirp and the gathered line. */
static void lines_fail_anywhere(int failing)
{
    static const int64_t points[2] = {24, 31};
    pencilfft_line_desc_init(&of_line);
    of_line.rigor = "estimate";
    for (int i = 0; (of_line.algorithm = pencilfft_line_algorithm_name(i)); i++)
        for (int prime = 0; prime < 2; prime++) {
            char what[64];
            snprintf(what, sizeof what, "line-%s", of_line.algorithm);
            of_line.n = points[prime];
            of_line.order = prime ? "natural" : "transposed";
            if (line() != PENCILFFT_NOT_POSSIBLE)
                fails_anywhere(what, line, failing);
        }
}

/* Lines along x over R ranks, along y on one, along z over C. */
static void bricks_fail_anywhere(int failing)
{
    pencilfft_brick_lines_desc_init(&of_bricks);
    of_bricks.nx = 7;
    of_bricks.ny = of_bricks.nz = 6;
    of_bricks.bricks[0] = R, of_bricks.bricks[1] = 1, of_bricks.bricks[2] = C;
    of_bricks.rigor = "estimate";
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
    CHECK(file_is_whole());
    fails_anywhere("load", load, 0);
    fails_anywhere("load", load, ranks - 1);
    CHECK(file_is_whole());
    CHECK_INT(open_files(), before);
}

int main(int argc, char **argv)
{
    start_tests(argc, argv, MPI_THREAD_FUNNELED);
    file = argc > 3 ? argv[3] : NULL;
    stride = argc > 4 ? atoi(argv[4]) : 1;
    plans_fail_anywhere(0);
    if (ranks > 1)
        plans_fail_anywhere(ranks - 1);
    schedules_fail_anywhere(ranks - 1);
    remaps_fail_anywhere(ranks - 1);
    halos_fail_anywhere(ranks - 1);
    lines_fail_anywhere(ranks - 1);
    bricks_fail_anywhere(ranks - 1);
    if (file)
        wisdom_fails_anywhere();
    return end_tests();
}
