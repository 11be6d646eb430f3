/* Plans at random and their actions, a checksum each of their calls of FFTW and MPI, and of their printed text.
 *
 *     mpirun -n 4 known_plans_test FIRST LAST     plans of these numbers: ranks, number, checksum
 *     mpirun -n 4 known_plans_test NUMBER         the full text behind the checksum of a plan, rank by rank
 *
 * Idea:  FFTW estimates and no exchange or schedule is tried, so the clock decides nothing. Half of the plans are
 *        transforms, drawn as in fuzz_test, but with some of the grids chosen by the library; the others are halos, lines,
 *        bricks of lines. Other tests check answers and results: the last bits depend on the processor.
 * Needs: nothing; but an MPI with large counts, or without persistent all-to-alls, gets other calls. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "checksum.h"
#include "pencilfft_line.h"
#include "plan_draw.h"
#include "recorded_calls.h"
#include "runner.h"
#include "speed/tuning.h"
#include "values.h"

enum { SEED = 2026, MOST_RANKS = 64, ARRAYS = 4, ALIGNMENT = 64, COMPLEX_BYTES = 16 };

static struct plan_check check; /* the communicator of the plans */
static struct pf_tuning usual;
static FILE *told;
static void *array[ARRAYS];

/* 0 to n - 1. */
static int64_t chance(int64_t number, int64_t which, int64_t n)
{
    return (int64_t)(value_hash(value_hash((uint64_t)number) + (uint64_t)which) % (uint64_t)n);
}

static const char *any_of(const char *(*name)(int i), int64_t number, int64_t which)
{
    return plan_draw_name((uint64_t)chance(number, which, INT64_MAX), name);
}

/* Zeros in all arrays, of two lengths in turn. */
static void make_arrays(int64_t bytes, int64_t other)
{
    for (int i = 0; i < ARRAYS; i++) {
        size_t size = (size_t)(i % 2 ? other : bytes) + ALIGNMENT;
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
#define TELL_TRAFFIC(traffic, plan, e)                                                      \
    for (int direction = PENCILFFT_FORWARD; direction <= PENCILFFT_BACKWARD; direction++) { \
        int64_t sent[MOST_RANKS] = {0}, parcels[MOST_RANKS] = {0};                          \
        int status_of = traffic(plan, e, direction, sent, parcels);                         \
        fprintf(told, "sends %d, %d, %d:", e, direction, status_of);                        \
        for (int j = 0; j < check.ranks; j++)                                               \
            fprintf(told, " %lld/%lld", (long long)sent[j], (long long)parcels[j]);         \
        fputc('\n', told);                                                                  \
    }

/* ---- transforms, and halos of up to three planes on either side ---------------------------------------------------- */

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

static void tell_halo(int64_t number)
{
    struct drawn_plan drawn;
    pencilfft_halo halo = NULL;
    pencilfft_plan plan = make(number, &drawn);
    int64_t low[3], high[3];
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = chance(number, 2 + axis, 4);
        high[axis] = chance(number, 5 + axis, 4);
    }
    int end = chance(number, 1, 2) ? PENCILFFT_OUTPUT : PENCILFFT_INPUT;
    if (plan && !tell("halo made", pencilfft_halo_create(plan, end, low, high, &halo))) {
        pencilfft_part part;
        pencilfft_format format;
        int64_t bytes;
        or_abort(pencilfft_halo_part(halo, &part) || pencilfft_format_of(plan, end, &format) ||
                 pencilfft_alloc_bytes(plan, &bytes));
        make_arrays(bytes, part.box.extent[0] * part.box.extent[1] * part.box.extent[2] * part.fields *
                               (int64_t)format.element_bytes);
        tell("exchanged", pencilfft_halo_exchange(halo, array[0], array[1]));
        tell("exchanged inside", pencilfft_halo_exchange(halo, NULL, array[1]));
        tell("accumulated", pencilfft_halo_accumulate(halo, array[1], array[0]));
        tell("accumulated inside", pencilfft_halo_accumulate(halo, array[1], NULL));
    }
    or_abort(pencilfft_halo_destroy(halo));
    or_abort(pencilfft_plan_destroy(plan));
}

static void tell_plan(pencilfft_plan plan)
{
    int64_t bytes, work_bytes;
    const char *text;
    or_abort(pencilfft_plan_text(plan, &text));
    or_abort(pencilfft_alloc_bytes(plan, &bytes));
    or_abort(pencilfft_work_bytes(plan, 1, &work_bytes));
    make_arrays(bytes, bytes);
    fprintf(told, "%s%lld and %lld bytes, schedule %s\n", text, (long long)bytes, (long long)work_bytes,
            pencilfft_schedule_chosen(plan));
    for (int e = PENCILFFT_REMAP_IN; e < PENCILFFT_MAX_EXCHANGES; e++)
        if (pencilfft_exchange_stage(plan, e))
            TELL_TRAFFIC(pencilfft_traffic, plan, e)
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

/* ---- distributed lines, and bricks of lines ----------------------------------------------------------------------- */

/* Of both kinds, by the names of their functions. */
#define TELL_LINES(kind, create)                                                      \
    do {                                                                              \
        int64_t elements = 0;                                                         \
        if (tell("planned", create))                                                  \
            return;                                                                   \
        or_abort(kind##_elements(plan, &elements));                                   \
        make_arrays(elements *COMPLEX_BYTES, elements *COMPLEX_BYTES);                \
        for (int e = 0; kind##_exchange_name(plan, e); e++)                           \
            TELL_TRAFFIC(kind##_traffic, plan, e)                                     \
        for (int way = PENCILFFT_FORWARD; way <= PENCILFFT_BACKWARD; way++) {         \
            tell("executed", kind##_execute(plan, way, array[0], array[1]));          \
            tell("executed in place", kind##_execute(plan, way, array[0], array[0])); \
        }                                                                             \
        or_abort(kind##_destroy(plan));                                               \
    } while (0)

static void tell_line(int64_t number)
{
    pencilfft_line_desc d;
    pencilfft_line_plan plan;
    pencilfft_line_desc_init(&d);
    d.n = (1 + chance(number, 0, chance(number, 1, 2) ? 40 : 300)) * (chance(number, 2, 2) ? check.ranks : 1);
    d.lines = 1 + chance(number, 3, 3);
    d.algorithm = any_of(pencilfft_line_algorithm_name, number, 4);
    d.order = any_of(pencilfft_line_order_name, number, 5);
    d.precision = any_of(pencilfft_precision_name, number, 6);
    d.sync = chance(number, 7, 2) ? "barrier" : "none";
    d.rigor = "estimate";
    fprintf(told, "n=%lld lines=%lld %s %s %s %s\n", (long long)d.n, (long long)d.lines, d.algorithm, d.order, d.precision,
            d.sync);
    TELL_LINES(pencilfft_line, pencilfft_line_create(&d, check.grid, &plan));
}

static void tell_brick_lines(int64_t number)
{
    pencilfft_brick_lines_desc d;
    pencilfft_brick_lines plan;
    pencilfft_brick_lines_desc_init(&d);
    int left = check.ranks;
    for (int axis = 0, which = 20; axis < 3; left /= d.bricks[axis++])
        do
            d.bricks[axis] = axis == 2 ? left : 1 + (int)chance(number, which++, left);
        while (left % d.bricks[axis]);
    int64_t *n[3] = {&d.nx, &d.ny, &d.nz};
    for (int axis = 0; axis < 3; axis++)
        *n[axis] = (1 + chance(number, axis, 12)) * (chance(number, 3 + axis, 2) ? d.bricks[axis] : 1);
    d.fields = 1 + (int)chance(number, 6, 3);
    d.algorithm = any_of(pencilfft_line_algorithm_name, number, 7);
    d.order = any_of(pencilfft_line_order_name, number, 8);
    d.precision = any_of(pencilfft_precision_name, number, 9);
    d.rigor = "estimate";
    fprintf(told, "%lldx%lldx%lld, bricks %dx%dx%d, fields=%d %s %s %s\n", (long long)d.nx, (long long)d.ny, (long long)d.nz,
            d.bricks[0], d.bricks[1], d.bricks[2], d.fields, d.algorithm, d.order, d.precision);
    TELL_LINES(pencilfft_brick_lines, pencilfft_brick_lines_create(&d, check.grid, &plan));
}

/* ---- output ----------------------------------------------------------------------------------------------------------- */

static void tell_number(int64_t number)
{
    static void (*const kinds[8])(int64_t) = {tell_transform, tell_halo, tell_transform, tell_line,
                                              tell_transform, tell_halo, tell_transform, tell_brick_lines};
    kinds[number % 8](number);
    for (int i = 0; i < ARRAYS; i++, array[i - 1] = NULL)
        free(array[i]);
}

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
        tell_number(number);
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
