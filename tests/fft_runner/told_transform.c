/* All answers of a transform, and its actions. */
#include <stdlib.h>
#include <string.h>

#include "check_mpi.h"
#include "checksum.h"
#include "recorded_calls.h"
#include "speed/tuning.h"
#include "told.h"

static void tell_array(pencilfft_plan plan, int array)
{
    pencilfft_format f;
    int parts = 0, status = pencilfft_parts(plan, array, &parts);
    fprintf(told, "array %d: status %d, %d parts\n", array, status, parts);
    if (!pencilfft_format_of(plan, array, &f))
        fprintf(told, "%zu of %zu bytes, complex %d, %d fields by %lld, %lldx%lldx%lld\n", f.element_bytes, f.real_bytes,
                f.is_complex, f.fields, (long long)f.field_stride, (long long)f.n[0], (long long)f.n[1], (long long)f.n[2]);
    for (int rank = 0; rank < told_check.ranks && !status; rank++)
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
    int64_t bytes[TOLD_RANKS], messages[TOLD_RANKS];
    const char *stage = pencilfft_exchange_stage(plan, e), *chosen = pencilfft_exchange_chosen(plan, e);
    fprintf(told, "exchange %d: %s %s\n", e, stage ? stage : "-", chosen ? chosen : "-");
    for (int direction = PENCILFFT_FORWARD; direction <= PENCILFFT_BACKWARD; direction++)
        tell_traffic(direction, pencilfft_traffic(plan, e, direction, bytes, messages), bytes, messages);
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
    work = told_array(work_bytes);
    if (work_bytes && pencilfft_set_work(plan, work, work_bytes))
        abort_with_message();
    for (int i = 0; i < 4; i++)
        array[i] = told_array(bytes);
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

void tell_transform(int64_t number)
{
    const struct pf_tuning usual = pf_tuning;
    struct drawn_plan drawn;
    pencilfft_plan plan;
    told_draw(number, &drawn);
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
    int status = pencilfft_plan_create(&drawn.plan.desc, told_check.grid, &plan);
    tell_status("planned", status);
    if (!status) {
        tell_answers(plan);
        tell_runs(plan, drawn.plan.desc.directions);
    }
    if (pencilfft_plan_destroy(plan))
        abort_with_message();
    pf_tuning = usual;
}
