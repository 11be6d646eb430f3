/* Whether FFTW's plans for several axes are faster than the passes.
 * Idea:  both are timed in turn, as in use, and the shorter median wins; runs in place are timed apart from runs with two
 *        arrays.
 * Cost:  TRIALS transforms with each. */
#include <stdlib.h>
#include <string.h>

#include "layout/layout.h"
#include "passes/passes.h"
#include "run/inside.h"
#include "speed/tuning.h"

enum { TRIALS = 7 };

/* Arrays of the trials: the arrays of the plan, but outputs in turn. In the caches, an output would help FFTW's plan. */
struct trial_arrays {
    void *in, *out;
    bool same; /* in place */
    struct pf_outs outs;
    size_t bytes;
};

static struct trial_arrays trial_arrays_of(const struct pencilfft_plan_s *plan, void *in, void *out, bool same)
{
    struct trial_arrays a = {.in = in, .out = out, .same = same};
    a.bytes = (size_t)plan->memory.alloc_elements * plan->layout.element_bytes;
    memset(out, 0, a.bytes);
    pf_outs_make(plan, plan->memory.alloc_elements, TRIALS + 1, pf_tuning.whole_outs_bytes, &a.outs);
    return a;
}

/* The next output, and the input written again, like in a program that computes its input. Zeros: growing numbers would be
 * slower to compute with. */
static void lay(struct trial_arrays *a)
{
    if (a->outs.buffer.data)
        a->out = pf_outs_next(&a->outs);
    if (a->same)
        a->in = a->out;
    memset(a->in, 0, a->bytes);
}

/* Whether FFTW's plan is faster than the passes. The first times warm the caches. Each run begins with a new input, not with
 * its last output, because data left in the caches would help either side. */
static int try_both(pencilfft_plan plan, int backward, struct trial_arrays *arrays, bool *faster)
{
    double seconds[2][TRIALS + 1];
    int status = PENCILFFT_OK;
    for (int i = 0; i <= TRIALS && !status; i++) {
        lay(arrays);
        double start = pf_now();
        status = pf_transform_by_steps(plan, backward, arrays->in, arrays->out);
        seconds[0][i] = pf_now() - start;
        lay(arrays);
        start = pf_now();
        pf_whole_run(plan, backward, arrays->in, arrays->out);
        seconds[1][i] = pf_now() - start;
    }
    for (int i = 0; i < 2 && !status; i++)
        pf_seconds_sort(seconds[i] + 1, TRIALS);
    *faster = !status && seconds[1][1 + TRIALS / 2] < seconds[0][1 + TRIALS / 2];
    return status;
}

int pf_whole_make(pencilfft_plan plan, int backward, void *in, void *out)
{
    struct pf_whole *whole = &plan->program.sequence[backward].whole;
    int cases = pf_whole_cases(plan, backward, in, out), status = PENCILFFT_OK;
    for (int same = 0; same < cases && !status; same++) {
        bool faster = pf_tuning.direct == PF_ALWAYS;
        status = pf_whole_plan(plan, backward, same ? out : in, out);
        if (!status && whole->part[same] && !faster) {
            struct trial_arrays trial = trial_arrays_of(plan, in, out, same);
            status = try_both(plan, backward, &trial, &faster);
            free(trial.outs.buffer.raw);
        }
        if (!faster)
            pf_whole_drop(plan, whole, same);
    }
    return status;
}
