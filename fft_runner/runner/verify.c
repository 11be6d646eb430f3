/* Verification inside the run.
 * Idea:  (1) data that are only moved are compared exactly; (2) the transform of random data is compared with a serial FFTW
 *        on rank 0; (3) some of its values are compared with the plain sum, which has nothing in common with any FFT. A
 *        round trip would pass with a permuted spectrum, and a comparison with FFTW alone might share its errors.
 * Source: the error measure and its growth with log N follow FFTW's accuracy benchmark (fftw.org/accuracy).
 * Needs: room for the whole array on rank 0 for (2); without this room, or above a limit, (2) is omitted with a message. */
#include "verify.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runner.h"
#include "values.h"

double tolerance_of(size_t real_bytes, int64_t elements)
{
    const double epsilon = real_bytes == sizeof(float) ? FLT_EPSILON : DBL_EPSILON, factor = 10;
    return epsilon * factor * fmax(1, log2((double)elements));
}

/* The largest of N errors of which `rounding` is the most in the mean: of independent errors it grows with sqrt(log N). */
static double rounding_of(double rounding, int64_t elements)
{
    return rounding * (1 + log2((double)elements));
}

int problem_make(pencilfft_plan plan, MPI_Comm grid, struct problem *p)
{
    *p = (struct problem){.plan = plan, .grid = grid};
    int status = 0;
    for (int axis = 0; axis < 3 && !status; axis++)
        status = pencilfft_line_of(plan, axis, &p->line[axis]);
    if (!status && !(status = pencilfft_alloc(plan, &p->in)))
        status = pencilfft_alloc(plan, &p->other);
    return pf_agree(status, grid);
}

void problem_run(const struct problem *p)
{
    const struct problem *forward = p, *backward = p->beside;
    if (p->direction == PENCILFFT_BACKWARD && p->beside) {
        forward = p->beside;
        backward = p;
    }
    or_abort(p->beside ? pencilfft_execute_pair(p->plan, forward->in, forward->out, backward->in, backward->out)
                       : pencilfft_execute(p->plan, p->direction, p->in, p->out));
}

int moves_of(pencilfft_plan plan, int number[MOST_MOVES])
{
    int n = 0, exchanges = 0;
    if (pencilfft_exchange_stage(plan, PENCILFFT_REMAP_IN))
        number[n++] = PENCILFFT_REMAP_IN;
    while (pencilfft_exchange_stage(plan, exchanges))
        number[n++] = exchanges++;
    if (pencilfft_exchange_stage(plan, PENCILFFT_REMAP_OUT))
        number[n++] = PENCILFFT_REMAP_OUT;
    return n;
}

int side_of(const struct problem *p, int array, struct side *side)
{
    int status = pencilfft_parts(p->plan, array, &side->parts);
    for (int i = 0; i < side->parts && !status; i++)
        status = pencilfft_part_mine(p->plan, array, i, &side->part[i]);
    return status ? status : pencilfft_format_of(p->plan, array, &side->format);
}

int64_t side_elements(const struct side *side)
{
    const pencilfft_part *last = &side->part[side->parts - 1];
    return last->start + last->fields * last->box.extent[0] * last->box.extent[1] * last->box.extent[2];
}

static int fill_input(const struct problem *p)
{
    struct side in;
    int status = side_of(p, input_of(p->direction), &in);
    for (int i = 0; !status && i < in.parts; i++)
        values_fill(&in.part[i], &in.format, value_random, p->in);
    return status;
}

int fill_inputs(const struct problem *p)
{
    int status = fill_input(p);
    return status || !p->beside ? status : fill_input(p->beside);
}

double scale_of(const pencilfft_format *format, const void *array, int64_t elements, MPI_Comm comm)
{
    double both[2] = {0, (double)elements}, all[2];
    for (int64_t i = 0; i < elements; i++) {
        double complex v = element_load(format, array, i);
        both[0] += creal(v) * creal(v) + cimag(v) * cimag(v);
    }
    CHECK_MPI(MPI_Allreduce(both, all, 2, MPI_DOUBLE, MPI_SUM, comm));
    return sqrt(all[0] / all[1]);
}

double worse_error(double one, double other)
{
    return isnan(one) || one > other ? one : other;
}

/* Written so that NaN does not pass. */
static bool is_small(double error, double tolerance)
{
    return error <= tolerance;
}

static int verify_one(const struct problem *p, struct verification *v)
{
    struct side out;
    int status = side_of(p, output_of(p->direction), &out);
    if (status)
        return status;
    int64_t elements = out.format.n[0] * out.format.n[1] * out.format.n[2];
    double rounding;
    if ((status = pencilfft_exchange_error(p->plan, &rounding)))
        return status;
    *v = (struct verification){.tolerance = tolerance_of(out.format.real_bytes, elements) + rounding_of(rounding, elements)};
    if ((status = verify_moved(p, &v->moved_data_exact)) || (status = fill_inputs(p)))
        return status;
    if (out.parts > 1)
        snprintf(v->note, sizeof v->note, "what is moved was checked by the transform alone: arrays have several parts");
    problem_run(p);
    double scale = scale_of(&out.format, p->out, side_elements(&out), p->grid);
    if ((status = verify_serial(p, scale, v)) || (status = verify_direct(p, scale, v)))
        return status;
    v->passed = v->moved_data_exact && is_small(v->error_direct, v->tolerance) &&
                (!v->fftw_done || is_small(v->error_fftw, v->tolerance));
    return status;
}

/* If two transforms run at once, check both and report the worse result. */
int verify(const struct problem *p, struct verification *v)
{
    struct verification other;
    int status = verify_one(p, v);
    if (status || !p->beside || (status = verify_one(p->beside, &other)))
        return status;
    v->passed &= other.passed;
    v->moved_data_exact &= other.moved_data_exact;
    v->fftw_done &= other.fftw_done;
    v->error_fftw = worse_error(v->error_fftw, other.error_fftw);
    v->error_direct = worse_error(v->error_direct, other.error_direct);
    v->points += other.points;
    return status;
}

/* ---- moved data ------------------------------------------------------------------------------------------------------- */

/* Check that data are moved correctly. Every element holds its global index; after each exchange each rank compares its
 * elements with the expected indices. Targets are filled with NaN first, so that unwritten elements are detected. If arrays
 * have several parts, no exchange can run alone, and only the transform itself checks the moves. Remaps are checked by
 * themselves, because they may move real numbers. */

static double complex value_nothing(const pencilfft_format *format, int64_t index)
{
    (void)format, (void)index;
    return CMPLX(NAN, NAN);
}

/* Values that survive the exchanges of a plan. */
static value_function index_values(const struct problem *p)
{
    double rounding = 0;
    pencilfft_exchange_error(p->plan, &rounding);
    return rounding > 0 ? value_index_single : value_index;
}

static int move_and_count(const struct problem *p, int exchange, int target, void *from, void *to, int64_t *wrong)
{
    struct side side;
    int status = side_of(p, target, &side);
    if (status)
        return status;
    values_fill(&side.part[0], &side.format, value_nothing, to);
    or_abort(pencilfft_transpose(p->plan, exchange, p->direction, from, to));
    *wrong += values_wrong(&side.part[0], &side.format, index_values(p), to);
    return 0;
}

static int check_remap(const struct problem *p, int remap, int64_t *wrong)
{
    int outer = remap == PENCILFFT_REMAP_IN ? PENCILFFT_INPUT : PENCILFFT_OUTPUT;
    int inner = remap == PENCILFFT_REMAP_IN ? PENCILFFT_INNER_INPUT : PENCILFFT_INNER_OUTPUT;
    bool inwards = (remap == PENCILFFT_REMAP_IN) == (p->direction == PENCILFFT_FORWARD);
    struct side side;
    if (!pencilfft_exchange_stage(p->plan, remap))
        return 0;
    int status = side_of(p, inwards ? outer : inner, &side);
    if (status)
        return status;
    values_fill(&side.part[0], &side.format, index_values(p), p->in);
    return move_and_count(p, remap, inwards ? inner : outer, p->in, p->other, wrong);
}

static int check_exchanges(const struct problem *p, int64_t *wrong)
{
    bool forward = p->direction == PENCILFFT_FORWARD;
    struct side side;
    int exchanges, parts, status = pencilfft_exchanges(p->plan, &exchanges);
    if (!status)
        status = pencilfft_parts(p->plan, PENCILFFT_INNER_OUTPUT, &parts);
    if (!status && parts > 1)
        return status;
    for (int e = 0; e < exchanges && !status; e++) {
        int array[2] = {e, PENCILFFT_BEFORE + e + 1};
        if ((status = side_of(p, array[!forward], &side)))
            return status;
        values_fill(&side.part[0], &side.format, index_values(p), p->in);
        status = move_and_count(p, e, array[forward], p->in, p->other, wrong);
    }
    return status;
}

int verify_moved(const struct problem *p, bool *exact)
{
    int64_t wrong = 0, all = 0;
    int status = check_remap(p, PENCILFFT_REMAP_IN, &wrong);
    *exact = false;
    if (!status)
        status = check_exchanges(p, &wrong);
    if (!status)
        status = check_remap(p, PENCILFFT_REMAP_OUT, &wrong);
    if (status)
        return status;
    CHECK_MPI(MPI_Allreduce(&wrong, &all, 1, MPI_INT64_T, MPI_SUM, p->grid));
    *exact = all == 0;
    return 0;
}
