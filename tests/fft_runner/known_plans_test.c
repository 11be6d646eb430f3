/* Plans at random and their actions, a checksum each of their calls of FFTW and MPI, and of their printed text.
 *
 *     mpirun -n 4 known_plans_test FIRST LAST     plans of these numbers: ranks, number, checksum
 *     mpirun -n 4 known_plans_test NUMBER         the full text behind the checksum of a plan, rank by rank
 *
 * Idea:  FFTW estimates and no exchange or schedule is tried, so the clock decides nothing. Plans are drawn as in fuzz_test,
 *        but with some of the grids chosen by the library. Other tests check answers and results: the last bits depend on
 *        the processor.
 * Needs: nothing; but an MPI with large counts, or without persistent all-to-alls, gets other calls. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checksum.h"
#include "plan_draw.h"
#include "recorded_calls.h"
#include "runner.h"
#include "speed/tuning.h"
#include "values.h"

enum { SEED = 2026, MOST_RANKS = 64, ARRAYS = 4, ALIGNMENT = 64 };

static struct plan_check check; /* the communicator of the plans */
static struct pf_tuning usual;
static FILE *told;
static void *array[ARRAYS];

/* 0 to n - 1. */
static int64_t chance(int64_t number, int64_t which, int64_t n)
{
    return (int64_t)(value_hash(value_hash((uint64_t)number) + (uint64_t)which) % (uint64_t)n);
}

/* Zeros in all arrays. */
static void make_arrays(int64_t bytes)
{
    for (int i = 0; i < ARRAYS; i++) {
        size_t size = (size_t)bytes + ALIGNMENT;
        or_abort(posix_memalign(&array[i], ALIGNMENT, size));
        memset(array[i], 0, size);
    }
}

/* Returns the status. */
static int tell(const char *what, int status)
{
    fprintf(told, "%s: status %d %s\n", what, status, status ? pencilfft_error_message() : "");
    recorded_calls_tell(what);
    return status;
}

/* What this rank sends in an exchange of a plan. */
static void tell_traffic(pencilfft_plan plan, int e)
{
    for (int direction = PENCILFFT_FORWARD; direction <= PENCILFFT_BACKWARD; direction++) {
        int64_t sent[MOST_RANKS] = {0}, parcels[MOST_RANKS] = {0};
        int status = pencilfft_traffic(plan, e, direction, sent, parcels);
        fprintf(told, "sends %d, %d, %d:", e, direction, status);
        for (int j = 0; j < check.ranks; j++)
            fprintf(told, " %lld/%lld", (long long)sent[j], (long long)parcels[j]);
        fputc('\n', told);
    }
}

/* ---- transforms ----------------------------------------------------------------------------------------------------- */

/* Without any decision by the clock. NULL if it is refused. */
static pencilfft_plan make(int64_t number, struct drawn_plan *drawn)
{
    pencilfft_plan plan;
    plan_draw(SEED, number, &check, drawn);
    pencilfft_desc *d = &drawn->plan.desc;
    d->rigor = "estimate";
    if (!strcmp(d->exchange, "auto") || !strcmp(d->exchange, "fftw")) /* FFTW tries its transposes, too */
        d->exchange = "p2p";
    if (d->schedule && !strcmp(d->schedule, "auto"))
        d->schedule = "sequence";
    if (chance(number, 0, 3) == 0)
        d->R = d->C = 0;
    fprintf(told, "%s\n", drawn->plan.name);
    pf_tuning = plan_tuning(drawn->plan.pieces, usual);
    tell("planned", pencilfft_plan_create(d, check.grid, &plan));
    return plan;
}

static void tell_plan(pencilfft_plan plan)
{
    int64_t bytes, work_bytes;
    const char *text;
    or_abort(pencilfft_plan_text(plan, &text));
    or_abort(pencilfft_alloc_bytes(plan, &bytes));
    or_abort(pencilfft_work_bytes(plan, 1, &work_bytes));
    make_arrays(bytes);
    fprintf(told, "%s%lld and %lld bytes, schedule %s\n", text, (long long)bytes, (long long)work_bytes,
            pencilfft_schedule_chosen(plan));
    for (int e = PENCILFFT_REMAP_IN; e < PENCILFFT_MAX_EXCHANGES; e++)
        if (pencilfft_exchange_stage(plan, e))
            tell_traffic(plan, e);
}

/* Out of place and in place, as a pair, and each exchange alone. */
static void tell_transform(int64_t number)
{
    struct drawn_plan drawn;
    pencilfft_plan plan = make(number, &drawn);
    void *work = NULL;
    int64_t work_bytes = 0;
    if (plan) {
        tell_plan(plan);
        or_abort(pencilfft_work_bytes(plan, 1, &work_bytes));
        work = aligned_alloc(64, (size_t)work_bytes / 64 * 64 + 64);
        or_abort(work_bytes ? pencilfft_set_work(plan, work, work_bytes) : 0);
    }
    for (int way = PENCILFFT_FORWARD; plan && way <= PENCILFFT_BACKWARD; way++) {
        if (drawn.plan.desc.directions & way) {
            tell("executed", pencilfft_execute(plan, way, array[0], array[1]));
            tell("executed in place", pencilfft_execute(plan, way, array[0], array[0]));
        }
        for (int e = 0; pencilfft_exchange_stage(plan, e); e++)
            tell("transposed", pencilfft_transpose(plan, e, way, array[0], array[1]));
    }
    if (plan)
        tell("pair", pencilfft_execute_pair(plan, array[0], array[1], array[2], array[3]));
    or_abort(pencilfft_plan_destroy(plan));
    free(work);
}

/* ---- output ----------------------------------------------------------------------------------------------------------- */

/* Printed by the first rank, one text after the other, because a launcher mixes the output of several ranks. */
static void print_text(char *text, size_t n)
{
    for (int rank = 0; rank < check.ranks; rank++) {
        int length = (int)n;
        CHECK_MPI(MPI_Bcast(&length, 1, MPI_INT, rank, check.grid));
        char *its = rank == check.rank ? text : malloc((size_t)length + 1);
        CHECK_MPI(its ? MPI_Bcast(its, length, MPI_CHAR, rank, check.grid) : MPI_ERR_NO_MEM);
        if (check.rank == 0)
            printf("---- rank %d\n%.*s", rank, length, its);
        if (its != text)
            free(its);
    }
}

/* Of the texts of all ranks, on the first. */
static void print_checksum(int64_t number, const char *text, size_t n)
{
    uint64_t mine = checksum_of(text, n), all[MOST_RANKS];
    CHECK_MPI(MPI_Gather(&mine, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, check.grid));
    if (check.rank == 0)
        printf("%d %lld %016llx\n", check.ranks, (long long)number,
               (unsigned long long)checksum_of((const char *)all, (size_t)check.ranks * sizeof *all));
}

/* The first words of the MPI's version: other MPIs get other calls. */
static void print_mpi(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    CHECK_MPI(MPI_Get_library_version(version, &length));
    printf("%.*s\n", (int)strcspn(version, ",\n"), version);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    usual = pf_tuning;
    usual.block_bytes = 1 << 17; /* the same with any processor's caches */
    plan_check_begin(&check);
    if (argc < 2 || check.ranks > MOST_RANKS)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    if (check.rank == 0 && argc > 2)
        print_mpi();
    int64_t first = atoll(argv[1]), last = atoll(argv[argc - 1]);
    for (int64_t number = first; number <= last; number++) {
        char *text = NULL;
        size_t n = 0;
        CHECK_MPI((told = open_memstream(&text, &n)) ? MPI_SUCCESS : MPI_ERR_NO_MEM);
        recorded_calls_begin(told);
        pf_tuning = usual;
        tell_transform(number);
        for (int i = 0; i < ARRAYS; i++, array[i - 1] = NULL)
            free(array[i]);
        recorded_calls_end();
        fclose(told);
        if (argc == 2)
            print_text(text, n);
        else
            print_checksum(number, text, n);
        free(text);
    }
    MPI_Comm_free(&check.grid);
    MPI_Finalize();
    return 0;
}
