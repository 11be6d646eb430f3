/* Threads of a rank: how many; OpenMP's number; their phases. Run under mpirun with the grid: threads_test R C. The fuzzer
 * checks what they compute. */
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

static void has_threads(const pencilfft_desc *desc, int expected)
{
    int threads;
    pencilfft_plan plan = made(desc);
    OK(pencilfft_threads(plan, &threads));
    CHECK_INT(threads, expected);
    pencilfft_plan_destroy(plan);
}

static void openmp_says_how_many(void)
{
    pencilfft_desc desc = description(8, 9, 10, PENCILFFT_OMP_THREADS);
    pencilfft_plan plan;
    omp_set_num_threads(3);
    has_threads(&desc, 3);
    desc.threads = 0; /* ignoring OpenMP's setting */
    has_threads(&desc, 1);
    desc.threads = PENCILFFT_OMP_THREADS;
    omp_set_num_threads(2 + (rank == 0));
    CHECK_INT(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan), ranks > 1 ? PENCILFFT_MISMATCH : PENCILFFT_OK);
    if (ranks > 1)
        CHECK_CONTAINS(pencilfft_error_message(), "OMP_NUM_THREADS asks for 2 threads on one rank and for 3 on another");
    pencilfft_plan_destroy(plan);
}

/* 7 planes that all fit in a block: 4 for one thread and 3 for the other; and their phases. */
static void threads_get_equal_groups_of_planes(void)
{
    int64_t worth = pf_tuning.thread_bytes;
    const char *text;
    pf_tuning.thread_bytes = 0;
    pencilfft_desc desc = description(7 * C, 2 * R, 2 * R, 2);
    pencilfft_plan plan = made(&desc);
    pf_tuning.thread_bytes = worth;
    OK(pencilfft_plan_text(plan, &text));
    CHECK_CONTAINS(text, "1 field, 2 threads\n");
    CHECK_CONTAINS(text, "in blocks of 4 planes");
    OK(pencilfft_forward(plan, buffer_of(plan), buffer_of(plan)));
    CHECK(check_phase_times(plan) > 0);
    pencilfft_plan_destroy(plan);
}

int main(int argc, char **argv)
{
    start_tests(argc, argv, MPI_THREAD_FUNNELED);
    a_parallel_region_leaves_one_thread();
    few_bytes_are_worth_few_threads();
    openmp_says_how_many();
    threads_get_equal_groups_of_planes();
    return end_tests();
}
