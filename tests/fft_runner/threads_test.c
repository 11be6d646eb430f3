/* Threads of a rank beyond the fuzzer's draws: more of them than planes, or than OpenMP gives; OpenMP's number; their
 * phases. Run under mpirun with the grid: threads_test R C. Results are compared with the results of one thread. */
#include <math.h>
#include <omp.h>

#include "common/complex_value.h"
#include "driver.h"
#include "speed/threads.h"
#include "speed/tuning.h"

static pencilfft_desc description(int64_t nx, int64_t ny, int64_t nz, int threads)
{
    pencilfft_desc desc = described(nx, ny, nz);
    desc.threads = threads;
    return desc;
}

struct transform {
    pencilfft_plan plan;
    double complex *in, *out;
    int64_t elements;
};

static struct transform make(const pencilfft_desc *desc)
{
    struct transform t = {.plan = made(desc)};
    pencilfft_alloc_elements(t.plan, &t.elements);
    t.in = buffer_of(t.plan), t.out = buffer_of(t.plan);
    for (int64_t i = 0; i < t.elements; i++)
        t.in[i] = CMPLX(cos((double)(i * i % 97)), sin((double)(i % 31 + rank)));
    return t;
}

static double far(const struct transform *a, const struct transform *b)
{
    pencilfft_box box;
    double most = 0;
    pencilfft_box_mine(a->plan, PENCILFFT_OUTPUT, &box);
    for (int64_t i = 0; i < box_elements(&box); i++)
        most = fmax(most, cabs(a->out[i] - b->out[i]));
    return most;
}

static void results_are_those_of_one_thread(int64_t nx, int64_t ny, int64_t nz, int threads)
{
    pencilfft_desc one = description(nx, ny, nz, 1), several = description(nx, ny, nz, threads);
    struct transform a = make(&one), b = make(&several);
    OK(pencilfft_forward(a.plan, a.in, a.out));
    OK(pencilfft_forward(b.plan, b.in, b.out));
    CHECK(far(&a, &b) < 1e-10);
    memset(b.out, 0, (size_t)b.elements * sizeof *b.out);
    int status = PENCILFFT_OK;
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0) /* which called MPI_Init; there are no more threads */
        status = pencilfft_forward(b.plan, b.in, b.out);
    OK(status);
    CHECK(far(&a, &b) < 1e-10);
    pencilfft_plan_destroy(a.plan);
    pencilfft_plan_destroy(b.plan);
}

/* Planes, rows and ways of a pass like in arrays beyond the caches, chosen by the clock; compared with an estimated plan. */
static void ways_by_the_clock_are_right(int64_t nx, int64_t ny, int64_t nz, int threads)
{
    const struct pf_tuning usual = pf_tuning;
    pencilfft_desc estimated = description(nx, ny, nz, 1), measured = description(nx, ny, nz, threads);
    measured.rigor = "measure";
    struct transform a = make(&estimated);
    pf_tuning.direct_bytes = pf_tuning.whole_bytes = pf_tuning.thread_bytes = 0;
    pf_tuning.block_bytes = 1 << 11;
    pf_tuning.ask_bytes = pf_tuning.past_bytes = 1 << 8;
    struct transform b = make(&measured);
    OK(pencilfft_forward(a.plan, a.in, a.out));
    OK(pencilfft_forward(b.plan, b.in, b.out));
    CHECK(far(&a, &b) < 1e-10);
    pf_tuning = usual;
    pencilfft_plan_destroy(a.plan);
    pencilfft_plan_destroy(b.plan);
}

static void few_bytes_are_worth_few_threads(void)
{
    int64_t worth = pf_tuning.thread_bytes;
    CHECK_INT(pf_threads_worth(4, worth - 1), 1);
    CHECK_INT(pf_threads_worth(4, 2 * worth - 1), 1);
    CHECK_INT(pf_threads_worth(4, 2 * worth), 2);
    CHECK_INT(pf_threads_worth(4, 4 * worth), 4);
    CHECK_INT(pf_threads_worth(4, 9 * worth), 4);
}

static void openmp_says_how_many(void)
{
    pencilfft_desc desc = description(8, 9, 10, PENCILFFT_OMP_THREADS);
    pencilfft_plan plan;
    int threads;
    omp_set_num_threads(3);
    plan = made(&desc);
    OK(pencilfft_threads(plan, &threads));
    CHECK_INT(threads, 3);
    pencilfft_plan_destroy(plan);
    desc.threads = 0; /* ignoring OpenMP's setting */
    plan = made(&desc);
    OK(pencilfft_threads(plan, &threads));
    CHECK_INT(threads, 1);
    pencilfft_plan_destroy(plan);
    desc.threads = PENCILFFT_OMP_THREADS;
    omp_set_num_threads(2 + (rank == 0));
    CHECK_INT(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan), ranks > 1 ? PENCILFFT_MISMATCH : PENCILFFT_OK);
    if (ranks > 1)
        CHECK_CONTAINS(pencilfft_error_message(), "OMP_NUM_THREADS asks for 2 threads on one rank and for 3 on another");
    pencilfft_plan_destroy(plan);
}

static void phases_add_up_to_the_total(void)
{
    pencilfft_desc desc = description(24, 25, 26, 3);
    struct transform t = make(&desc);
    double seconds[PENCILFFT_MAX_PHASES], sum = 0, total = 0;
    const char *text;
    int phases;
    OK(pencilfft_forward(t.plan, t.in, t.out));
    OK(pencilfft_phases(t.plan, &phases));
    OK(pencilfft_phase_seconds(t.plan, seconds));
    for (int phase = 0; phase < phases; phase++) {
        int kind = pencilfft_phase_kind(t.plan, phase);
        CHECK(seconds[phase] >= 0);
        if (kind == PENCILFFT_TOTAL)
            total = seconds[phase];
        else if (kind != PENCILFFT_WAIT && kind != PENCILFFT_HIDDEN)
            sum += seconds[phase];
    }
    CHECK(total > 0 && fabs(sum - total) < 1e-9);
    OK(pencilfft_plan_text(t.plan, &text));
    CHECK_CONTAINS(text, "1 field, 3 threads\n");
    pencilfft_plan_destroy(t.plan);
}

/* The result for numbers that depend on their place, from one buffer into another or in place. */
static void run(pencilfft_plan plan, pencilfft_direction direction, bool in_place, double *result)
{
    void *in = buffer_of(plan), *out = buffer_of(plan);
    int64_t bytes;
    pencilfft_alloc_bytes(plan, &bytes);
    for (int64_t i = 0; i < bytes / (int64_t)sizeof(double); i++)
        ((double *)in)[i] = cos((double)(i * i % 97));
    OK(pencilfft_execute(plan, direction, in, in_place ? in : out));
    memcpy(result, in_place ? in : out, (size_t)bytes);
}

/* FFTW's plans of several axes, each thread with some of the planes and lines, beside the passes of one thread. */
static void stages_are_the_passes(const char *type, const char *skip, const char *layout, int threads, int destroy)
{
    enum { NUMBERS = 12 * 7 * 16 * 2 };
    static double by_stages[NUMBERS], by_passes[NUMBERS];
    const struct pf_tuning usual = pf_tuning;
    pencilfft_desc desc = description(12, 7, 10, threads);
    pencilfft_plan stages, passes;
    const char *text;
    desc.type = type, desc.skip = skip, desc.layout = layout, desc.destroy_input = destroy;
    desc.rigor = "measure";
    pf_tuning.thread_bytes = 0;
    pf_tuning.direct = PF_ALWAYS;
    stages = made(&desc);
    desc.threads = 1;
    desc.rigor = "estimate";
    passes = made(&desc);
    pf_tuning = usual;
    OK(pencilfft_plan_text(stages, &text));
    CHECK_CONTAINS(text, threads == 2 ? "by 2 threads" : "by 7 threads");
    for (int way = 0; way < 4; way++) {
        pencilfft_direction direction = way & 1 ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD;
        int64_t elements = 12 * 7 * (!strcmp(type, "c2c") ? 20 : way & 1 ? 10 : !strcmp(type, "r2c") ? 12 : 10);
        double most = 0;
        run(stages, direction, way & 2, by_stages);
        run(passes, direction, way & 2, by_passes);
        for (int64_t i = 0; i < elements; i++)
            most = fmax(most, fabs(by_stages[i] - by_passes[i]));
        CHECK(most < 1e-9);
    }
    pencilfft_plan_destroy(stages);
    pencilfft_plan_destroy(passes);
}

static void one_rank_by_stages(void)
{
    static const char *const types[] = {"c2c", "r2c", "dct"}, *const skips[] = {NULL, "x", "y"};
    for (int i = 0; i < 3; i++)
        for (int skip = 0; skip < 3; skip++)
            for (int destroy = 0; destroy < 2; destroy++) {
                stages_are_the_passes(types[i], skips[skip], "natural", 2, destroy);
                stages_are_the_passes(types[i], skips[skip], "stride1", 7, destroy);
            }
}

int main(int argc, char **argv)
{
    start_tests(argc, argv, MPI_THREAD_FUNNELED);
    for (int threads = 2; threads <= 7; threads += 5) {
        results_are_those_of_one_thread(3 * C, 40 * R, 41 * R, threads); /* fewer planes than threads */
        results_are_those_of_one_thread(32, 30, 35, threads);
        results_are_those_of_one_thread(2 * C, 2 * R * C, 3 * R, threads); /* not worth any */
    }
    for (int threads = 1; threads <= 3; threads++) {
        ways_by_the_clock_are_right(40 * C, 12 * R, 18 * R, threads); /* more groups of planes than are tried */
        ways_by_the_clock_are_right(3 * C, 5 * R, 70 * R, threads);
        ways_by_the_clock_are_right(C, R * C, R, threads); /* a plane on a rank */
    }
    few_bytes_are_worth_few_threads();
    openmp_says_how_many();
    phases_add_up_to_the_total();
    if (ranks == 1)
        one_rank_by_stages();
    return end_tests();
}
