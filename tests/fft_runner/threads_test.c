/* Threads of a rank: how many; OpenMP's number; their phases. Run under mpirun with the grid: threads_test R C. The fuzzer
 * checks what they compute. */
#include <math.h>
#include <omp.h>

#include "driver.h"
#include "speed/threads.h"
#include "speed/tuning.h"

static pencilfft_desc description(int64_t nx, int64_t ny, int64_t nz, int threads)
{
    pencilfft_desc desc = described(nx, ny, nz);
    desc.threads = threads;
    return desc;
}

/* The library is called within a parallel region, by the thread that called MPI_Init; there are no more threads. */
static void a_parallel_region_leaves_one_thread(void)
{
    pencilfft_desc desc = description(32, 30, 35, 7);
    pencilfft_plan plan = made(&desc);
    double *in = buffer_of(plan), *out = buffer_of(plan);
    pencilfft_box box;
    int64_t wrong = 0;
    int status = pencilfft_box_mine(plan, PENCILFFT_OUTPUT, &box);
    if (rank == 0)
        in[0] = 1; /* an impulse, whose transform is 1 everywhere */
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 0)
        status = pencilfft_forward(plan, in, out);
    OK(status);
    for (int64_t i = 0; i < box_elements(&box); i++)
        wrong += !(fabs(out[2 * i] - 1) < 1e-12 && fabs(out[2 * i + 1]) < 1e-12);
    CHECK_INT(wrong, 0);
    pencilfft_plan_destroy(plan);
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
    pencilfft_plan plan = made(&desc);
    double seconds[PENCILFFT_MAX_PHASES], sum = 0, total = 0;
    const char *text;
    int phases;
    OK(pencilfft_forward(plan, buffer_of(plan), buffer_of(plan)));
    OK(pencilfft_phases(plan, &phases));
    OK(pencilfft_phase_seconds(plan, seconds));
    for (int phase = 0; phase < phases; phase++) {
        int kind = pencilfft_phase_kind(plan, phase);
        CHECK(seconds[phase] >= 0);
        if (kind == PENCILFFT_TOTAL)
            total = seconds[phase];
        else if (kind != PENCILFFT_WAIT && kind != PENCILFFT_HIDDEN)
            sum += seconds[phase];
    }
    CHECK(total > 0 && fabs(sum - total) < 1e-9);
    OK(pencilfft_plan_text(plan, &text));
    CHECK_CONTAINS(text, "1 field, 3 threads\n");
    pencilfft_plan_destroy(plan);
}

int main(int argc, char **argv)
{
    start_tests(argc, argv, MPI_THREAD_FUNNELED);
    a_parallel_region_leaves_one_thread();
    few_bytes_are_worth_few_threads();
    openmp_says_how_many();
    phases_add_up_to_the_total();
    return end_tests();
}
