#include "line_run.h"

#include "runner.h"

int line_problem_plan(struct line_problem *p, const int bricks[3])
{
    if (!bricks)
        return pencilfft_line_create(&p->desc, p->comm, &p->plan);
    return pencilfft_brick_lines_create(&(pencilfft_brick_lines_desc){.struct_bytes = sizeof(pencilfft_brick_lines_desc),
                                                                      .nx = p->n[0],
                                                                      .ny = p->n[1],
                                                                      .nz = p->n[2],
                                                                      .bricks = {bricks[0], bricks[1], bricks[2]},
                                                                      .fields = (int)p->desc.lines,
                                                                      .algorithm = p->desc.algorithm,
                                                                      .order = p->desc.order,
                                                                      .precision = p->desc.precision,
                                                                      .rigor = p->desc.rigor,
                                                                      .sync = p->desc.sync},
                                        p->comm, &p->brick);
}

int line_problem_destroy(struct line_problem *p)
{
    int status = pencilfft_line_destroy(p->plan), other = pencilfft_brick_lines_destroy(p->brick);
    return status ? status : other;
}

int line_elements(const struct line_problem *p, int64_t *elements)
{
    return p->brick ? pencilfft_brick_lines_elements(p->brick, elements) : pencilfft_line_elements(p->plan, elements);
}

int line_execute(const struct line_problem *p)
{
    return p->brick ? pencilfft_brick_lines_execute(p->brick, p->direction, p->in, p->out)
                    : pencilfft_line_execute(p->plan, p->direction, p->in, p->out);
}

int64_t line_points(const struct line_problem *p, int array, int rank)
{
    int64_t points = 0, extent[3];
    if (!p->brick) {
        or_abort(pencilfft_line_points(p->plan, array, rank, &points));
        return points;
    }
    or_abort(pencilfft_brick_lines_extent(p->brick, array, rank, extent));
    return extent[0] * extent[1] * extent[2];
}

int64_t line_index(const struct line_problem *p, int array, int rank, int64_t i)
{
    int64_t extent[3], index[3] = {0};
    if (!p->brick) {
        or_abort(pencilfft_line_index(p->plan, array, rank, i, &index[2]));
        return index[2];
    }
    or_abort(pencilfft_brick_lines_extent(p->brick, array, rank, extent));
    const int64_t at[3] = {i / extent[2] / extent[1], i / extent[2] % extent[1], i % extent[2]};
    for (int axis = 0; axis < 3; axis++)
        or_abort(pencilfft_brick_lines_index(p->brick, array, rank, axis, at[axis], &index[axis]));
    return (index[0] * p->n[1] + index[1]) * p->n[2] + index[2];
}

int line_exchanges(const struct line_problem *p, int *n)
{
    return p->brick ? pencilfft_brick_lines_exchanges(p->brick, n) : pencilfft_line_exchanges(p->plan, n);
}

const char *line_exchange_name(const struct line_problem *p, int exchange)
{
    return p->brick ? pencilfft_brick_lines_exchange_name(p->brick, exchange)
                    : pencilfft_line_exchange_name(p->plan, exchange);
}

int line_is_all_to_all(const struct line_problem *p, int exchange)
{
    return p->brick ? pencilfft_brick_lines_is_all_to_all(p->brick, exchange)
                    : pencilfft_line_is_all_to_all(p->plan, exchange);
}

int line_traffic(const struct line_problem *p, int exchange, int64_t *bytes, int64_t *messages)
{
    return p->brick ? pencilfft_brick_lines_traffic(p->brick, exchange, p->direction, bytes, messages)
                    : pencilfft_line_traffic(p->plan, exchange, p->direction, bytes, messages);
}

int line_phases(const struct line_problem *p, int *n)
{
    return p->brick ? pencilfft_brick_lines_phases(p->brick, n) : pencilfft_line_phases(p->plan, n);
}

const char *line_phase_name(const struct line_problem *p, int phase)
{
    return p->brick ? pencilfft_brick_lines_phase_name(p->brick, phase) : pencilfft_line_phase_name(p->plan, phase);
}

int line_phase_seconds(const struct line_problem *p, double *seconds)
{
    return p->brick ? pencilfft_brick_lines_phase_seconds(p->brick, seconds)
                    : pencilfft_line_phase_seconds(p->plan, seconds);
}
