/* Plans at random and their actions, a checksum each: all answers of a plan, its calls of FFTW, its messages.
 *
 *     mpirun -n 4 known_plans_test FIRST LAST     plans of these numbers: ranks, number, checksum
 *     mpirun -n 4 known_plans_test NUMBER         the full text behind the checksum of a plan, rank by rank
 *
 * Idea:  FFTW estimates and no exchange or schedule is tried, so the clock decides nothing. Half of the plans are
 *        transforms, drawn as in fuzz_test, but with some of the grids chosen by the library; the others are halos, lines,
 *        bricks of lines. Other tests check the results of transforms: the last bits depend on the processor.
 * Needs: nothing; but an MPI with large counts, or without persistent all-to-alls, gets other calls. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "check_mpi.h"
#include "checksum.h"
#include "pencilfft_line.h"
#include "plan_draw.h"
#include "recorded_calls.h"
#include "speed/tuning.h"
#include "values.h"

enum { SEED = 2026, ALIGNMENT = 64, MOST_RANKS = 64, MOST_POINTS = 4000, COMPLEX_BYTES = 16 };

static struct plan_check check; /* the communicator of the plans */
static FILE *told;

/* 0 to n - 1. */
static int64_t chance(int64_t number, int64_t which, int64_t n)
{
    return (int64_t)(value_hash(value_hash((uint64_t)number) + (uint64_t)which) % (uint64_t)n);
}

/* A transform without any decision by the clock. */
static void draw(int64_t number, struct drawn_plan *drawn)
{
    plan_draw(SEED, number, &check, drawn);
    pencilfft_desc *d = &drawn->plan.desc;
    d->rigor = "estimate";
    if (!strcmp(d->exchange, "auto") || !strcmp(d->exchange, "fftw")) /* FFTW tries its transposes, too */
        d->exchange = "p2p";
    if (d->schedule && !strcmp(d->schedule, "auto"))
        d->schedule = "sequence";
    if (chance(number, 0, 3) == 0)
        d->R = d->C = 0;
}

/* Zeros; freed by free(). */
static void *array_of(int64_t bytes)
{
    void *array = NULL;
    size_t size = (size_t)bytes + ALIGNMENT;
    CHECK_MPI(posix_memalign(&array, ALIGNMENT, size) ? MPI_ERR_NO_MEM : MPI_SUCCESS);
    return memset(array, 0, size);
}

static void tell_status(const char *what, int status)
{
    fprintf(told, "%s: status %d %s\n", what, status, status ? pencilfft_error_message() : "");
    recorded_calls_tell(what);
}

static void tell_part(const pencilfft_part *part)
{
    fprintf(told, "part at %lld, fields %d+%d by %lld:", (long long)part->start, part->first_field, part->fields,
            (long long)part->field_stride);
    for (int axis = 0; axis < 3; axis++)
        fprintf(told, " %lld+%lld by %lld", (long long)part->box.offset[axis], (long long)part->box.extent[axis],
                (long long)part->box.stride[axis]);
    fputc('\n', told);
}

static void tell_indices(const int64_t *index, int64_t n)
{
    fputs("points", told);
    for (int64_t i = 0; i < n; i++)
        fprintf(told, " %lld", (long long)index[i]);
    fputc('\n', told);
}

static void tell_sent(int direction, int status, const int64_t *bytes, const int64_t *messages)
{
    fprintf(told, "sends %s, %d:", direction == PENCILFFT_BACKWARD ? "backward" : "forward", status);
    for (int j = 0; j < check.ranks && !status; j++)
        fprintf(told, " %lld/%lld", (long long)bytes[j], (long long)messages[j]);
    fputc('\n', told);
}

/* Of a plan or a halo in both directions; the arguments are those before the direction. */
#define TELL_TRAFFIC(traffic, ...)                                                               \
    for (int direction = PENCILFFT_FORWARD; direction <= PENCILFFT_BACKWARD; direction++) {      \
        int64_t bytes[MOST_RANKS], messages[MOST_RANKS];                                         \
        tell_sent(direction, traffic(__VA_ARGS__, direction, bytes, messages), bytes, messages); \
    }

/* ---- a halo of up to three planes on either side, and its traffic --------------------------------------------------- */

static void tell_exchanges(pencilfft_plan plan, pencilfft_halo halo, int array)
{
    int64_t held_bytes = 0;
    pencilfft_part part;
    pencilfft_format format;
    int status = pencilfft_halo_part(halo, &part) || pencilfft_format_of(plan, array, &format) ||
                 pencilfft_alloc_bytes(plan, &held_bytes);
    if (status)
        abort_with_message();
    tell_part(&part);
    TELL_TRAFFIC(pencilfft_halo_traffic, halo)
    int64_t points = part.box.extent[0] * part.box.extent[1] * part.box.extent[2];
    void *held = array_of(held_bytes), *padded = array_of(points * part.fields * (int64_t)format.element_bytes);
    tell_status("halo exchanged", pencilfft_halo_exchange(halo, held, padded));
    tell_status("halo exchanged inside", pencilfft_halo_exchange(halo, NULL, padded));
    tell_status("halo accumulated", pencilfft_halo_accumulate(halo, padded, held));
    tell_status("halo accumulated inside", pencilfft_halo_accumulate(halo, padded, NULL));
    free(held);
    free(padded);
}

static void tell_halo(int64_t number)
{
    struct drawn_plan drawn;
    pencilfft_plan plan;
    pencilfft_halo halo = NULL;
    int64_t low[3], high[3];
    int array = chance(number, 1, 2) ? PENCILFFT_OUTPUT : PENCILFFT_INPUT;
    draw(number, &drawn);
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = chance(number, 2 + axis, 4);
        high[axis] = chance(number, 5 + axis, 4);
    }
    fprintf(told, "%s\nhalo of array %d: %lld+%lld %lld+%lld %lld+%lld\n", drawn.plan.name, array, (long long)low[0],
            (long long)high[0], (long long)low[1], (long long)high[1], (long long)low[2], (long long)high[2]);
    int status = pencilfft_plan_create(&drawn.plan.desc, check.grid, &plan);
    tell_status("planned", status);
    if (!status) {
        status = pencilfft_halo_create(plan, array, low, high, &halo);
        tell_status("halo made", status);
    }
    if (!status)
        tell_exchanges(plan, halo, array);
    if (pencilfft_halo_destroy(halo) || pencilfft_plan_destroy(plan))
        abort_with_message();
}

/* ---- distributed lines, and bricks of lines --------------------------------------------------------------------------- */

static const char *any_of(const char *(*name)(int i), int64_t number, int64_t which)
{
    return plan_draw_name((uint64_t)chance(number, which, INT64_MAX), name);
}

/* Common lines of text of lines and bricks of lines, by the names of their functions. */
#define TELL_EXCHANGES(plan, kind)                                                                               \
    for (int e = 0; kind##_exchange_name(plan, e); e++) {                                                        \
        fprintf(told, "exchange %s, of all %d\n", kind##_exchange_name(plan, e), kind##_is_all_to_all(plan, e)); \
        TELL_TRAFFIC(kind##_traffic, plan, e)                                                                    \
    }                                                                                                            \
    for (int phase = 0; kind##_phase_name(plan, phase); phase++)                                                 \
    fprintf(told, "phase %s\n", kind##_phase_name(plan, phase))
#define TELL_RUNS(plan, kind)                                                                     \
    do {                                                                                          \
        int64_t elements = 0;                                                                     \
        if (kind##_elements(plan, &elements))                                                     \
            abort_with_message();                                                                 \
        fprintf(told, "%lld elements\n", (long long)elements);                                    \
        void *in = array_of(elements * COMPLEX_BYTES), *out = array_of(elements * COMPLEX_BYTES); \
        for (int direction = PENCILFFT_FORWARD; direction <= PENCILFFT_BACKWARD; direction++) {   \
            tell_status("executed", kind##_execute(plan, direction, in, out));                    \
            tell_status("executed in place", kind##_execute(plan, direction, in, in));            \
        }                                                                                         \
        free(in);                                                                                 \
        free(out);                                                                                \
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
    int status = pencilfft_line_create(&d, check.grid, &plan);
    tell_status("planned", status);
    if (status)
        return;
    for (int array = PENCILFFT_INPUT; array <= PENCILFFT_OUTPUT; array++)
        for (int rank = 0; rank < check.ranks; rank++) {
            int64_t points = 0, index[MOST_POINTS];
            if (!pencilfft_line_points(plan, array, rank, &points) && !pencilfft_line_indices(plan, array, rank, index))
                tell_indices(index, points);
        }
    TELL_EXCHANGES(plan, pencilfft_line);
    TELL_RUNS(plan, pencilfft_line);
    if (pencilfft_line_destroy(plan))
        abort_with_message();
}

/* All ranks in three factors. */
static void draw_bricks(int64_t number, int bricks[3])
{
    int left = check.ranks;
    for (int axis = 0, which = 20; axis < 2; axis++) {
        do
            bricks[axis] = 1 + (int)chance(number, which++, left);
        while (left % bricks[axis]);
        left /= bricks[axis];
    }
    bricks[2] = left;
}

static void tell_brick_lines(int64_t number)
{
    pencilfft_brick_lines_desc d;
    pencilfft_brick_lines plan;
    pencilfft_brick_lines_desc_init(&d);
    draw_bricks(number, d.bricks);
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
    int status = pencilfft_brick_lines_create(&d, check.grid, &plan);
    tell_status("planned", status);
    if (status)
        return;
    for (int array = PENCILFFT_INPUT; array <= PENCILFFT_OUTPUT; array++)
        for (int rank = 0; rank < check.ranks; rank++)
            for (int axis = 0; axis < 3; axis++) {
                int64_t extent[3], index[MOST_POINTS];
                if (!pencilfft_brick_lines_extent(plan, array, rank, extent) &&
                    !pencilfft_brick_lines_indices(plan, array, rank, axis, index))
                    tell_indices(index, extent[axis]);
            }
    TELL_EXCHANGES(plan, pencilfft_brick_lines);
    TELL_RUNS(plan, pencilfft_brick_lines);
    if (pencilfft_brick_lines_destroy(plan))
        abort_with_message();
}

/* ---- all answers of a transform, and its actions ------------------------------------------------------------------- */

static void tell_array(pencilfft_plan plan, int array)
{
    pencilfft_format f;
    int parts = 0, status = pencilfft_parts(plan, array, &parts);
    fprintf(told, "array %d: status %d, %d parts\n", array, status, parts);
    if (!pencilfft_format_of(plan, array, &f))
        fprintf(told, "%zu of %zu bytes, complex %d, %d fields by %lld, %lldx%lldx%lld\n", f.element_bytes, f.real_bytes,
                f.is_complex, f.fields, (long long)f.field_stride, (long long)f.n[0], (long long)f.n[1], (long long)f.n[2]);
    for (int rank = 0; rank < check.ranks && !status; rank++)
        for (int i = 0; i < parts; i++) {
            pencilfft_part part;
            if (!pencilfft_part_of(plan, array, rank, i, &part))
                tell_part(&part);
        }
}

/* The elements of an array in the order of the walk, as a single number. */
static void tell_walk(pencilfft_plan plan, int array)
{
    pencilfft_walk walk;
    uint64_t sum = 0;
    int64_t n = 0;
    for (pencilfft_walk_begin(plan, array, &walk); pencilfft_walk_next(&walk); n++) {
        char text[160];
        int used = snprintf(text, sizeof text, "%lld %lld %lld %lld %.6g %.6g %.6g %d", (long long)walk.at,
                            (long long)walk.index[0], (long long)walk.index[1], (long long)walk.index[2], walk.waves[0],
                            walk.waves[1], walk.waves[2], walk.field);
        sum = 31 * sum + checksum_of(text, (size_t)used);
    }
    fprintf(told, "walk of %lld elements %016llx\n", (long long)n, (unsigned long long)sum);
}

static void tell_exchange(pencilfft_plan plan, int e)
{
    const char *stage = pencilfft_exchange_stage(plan, e), *chosen = pencilfft_exchange_chosen(plan, e);
    fprintf(told, "exchange %d: %s %s\n", e, stage ? stage : "-", chosen ? chosen : "-");
    TELL_TRAFFIC(pencilfft_traffic, plan, e)
}

static void tell_answers(pencilfft_plan plan)
{
    int R = 0, C = 0, threads = 0, bricks[3] = {0}, exchanges = 0;
    int64_t elements = 0, bytes = 0;
    double scale = 0;
    const char *text = "";
    if (pencilfft_plan_text(plan, &text) || pencilfft_grid(plan, &R, &C) || pencilfft_threads(plan, &threads) ||
        pencilfft_bricks(plan, bricks) || pencilfft_scale(plan, &scale) || pencilfft_exchanges(plan, &exchanges) ||
        pencilfft_alloc_elements(plan, &elements) || pencilfft_alloc_bytes(plan, &bytes))
        abort_with_message();
    fprintf(told, "%sgrid %dx%d, %d threads, bricks %d %d %d, scale %.12g, %lld elements, %lld bytes, schedule %s\n", text,
            R, C, threads, bricks[0], bricks[1], bricks[2], scale, (long long)elements, (long long)bytes,
            pencilfft_schedule_chosen(plan));
    for (int axis = 0; axis < 3; axis++) {
        pencilfft_line line;
        if (!pencilfft_line_of(plan, axis, &line))
            fprintf(told, "line %d: %d %d\n", axis, (int)line.kind, line.number);
    }
    for (int array = PENCILFFT_INNER_INPUT; array <= exchanges; array++)
        tell_array(plan, array);
    for (int e = PENCILFFT_REMAP_IN; e < exchanges; e++)
        tell_exchange(plan, e);
    for (int phase = 0; pencilfft_phase_name(plan, phase); phase++)
        fprintf(told, "phase %s %d\n", pencilfft_phase_name(plan, phase), pencilfft_phase_kind(plan, phase));
    tell_walk(plan, PENCILFFT_INPUT);
    tell_walk(plan, PENCILFFT_OUTPUT);
}

/* All runs of a plan, out of place and in place, and each exchange alone. */
static void tell_runs(pencilfft_plan plan, int directions)
{
    void *array[4], *work;
    int64_t bytes = 0, work_bytes = 0;
    if (pencilfft_alloc_bytes(plan, &bytes) || pencilfft_work_bytes(plan, 1, &work_bytes))
        abort_with_message();
    work = array_of(work_bytes);
    if (work_bytes && pencilfft_set_work(plan, work, work_bytes))
        abort_with_message();
    for (int i = 0; i < 4; i++)
        array[i] = array_of(bytes);
    for (int direction = PENCILFFT_FORWARD; direction <= PENCILFFT_BACKWARD; direction++)
        if (directions & direction) {
            tell_status("executed", pencilfft_execute(plan, direction, array[0], array[1]));
            tell_status("executed in place", pencilfft_execute(plan, direction, array[0], array[0]));
        }
    if (directions == (PENCILFFT_FORWARD | PENCILFFT_BACKWARD))
        tell_status("pair", pencilfft_execute_pair(plan, array[0], array[1], array[2], array[3]));
    for (int e = 0; pencilfft_exchange_stage(plan, e); e++)
        for (int direction = PENCILFFT_FORWARD; direction <= PENCILFFT_BACKWARD; direction++)
            tell_status("transposed", pencilfft_transpose(plan, e, direction, array[0], array[1]));
    for (int i = 0; i < 4; i++)
        free(array[i]);
    free(work);
}

static void tell_transform(int64_t number)
{
    const struct pf_tuning usual = pf_tuning;
    struct drawn_plan drawn;
    pencilfft_plan plan;
    draw(number, &drawn);
    if (drawn.plan.tiny_pieces) {
        pf_tuning.block_bytes = 1 << 10;
        pf_tuning.message_bytes = 1 << 6;
        pf_tuning.row_bytes = 4;
        pf_tuning.ask_bytes = 1 << 9;
        pf_tuning.past_bytes = 1 << 12;
        pf_tuning.thread_bytes = 1 << 8;
        pf_tuning.direct = PF_ALWAYS;
    }
    fprintf(told, "%s\n", drawn.plan.name);
    int status = pencilfft_plan_create(&drawn.plan.desc, check.grid, &plan);
    tell_status("planned", status);
    if (!status) {
        tell_answers(plan);
        tell_runs(plan, drawn.plan.desc.directions);
    }
    if (pencilfft_plan_destroy(plan))
        abort_with_message();
    pf_tuning = usual;
}

/* ---- output ----------------------------------------------------------------------------------------------------------- */

static void tell(int64_t number)
{
    switch (number % 8) {
    case 1:
    case 5: tell_halo(number); break;
    case 3: tell_line(number); break;
    case 7: tell_brick_lines(number); break;
    default: tell_transform(number);
    }
}

/* Printed by the first rank, one text after the other, because a launcher mixes the output of several ranks. */
static void print_texts(const char *text, int n)
{
    if (check.rank) {
        CHECK_MPI(MPI_Send(text, n, MPI_CHAR, 0, 0, check.grid));
        return;
    }
    printf("---- rank 0\n%s", text);
    for (int rank = 1; rank < check.ranks; rank++) {
        MPI_Status about;
        CHECK_MPI(MPI_Probe(rank, 0, check.grid, &about));
        CHECK_MPI(MPI_Get_count(&about, MPI_CHAR, &n));
        char *other = array_of(n);
        CHECK_MPI(MPI_Recv(other, n, MPI_CHAR, rank, 0, check.grid, &about));
        printf("---- rank %d\n%.*s", rank, n, other);
        free(other);
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
    pf_tuning.block_bytes = 1 << 17; /* the same with any processor's caches */
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
        tell(number);
        recorded_calls_end();
        fclose(told);
        if (argc == 2)
            print_texts(text, (int)n);
        else
            print_checksum(number, text, n);
        free(text);
    }
    MPI_Comm_free(&check.grid);
    MPI_Finalize();
    return 0;
}
