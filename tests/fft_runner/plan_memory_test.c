/* The memory of a plan, by counting: of the plan while it is made, of plan and arrays after that, out of place and in place.
 * Calls of the program and of the library come here by the linker's --wrap; calls inside MPI and FFTW do not. Run under
 * mpirun with 2 ranks. */
#include <malloc.h>

#include "driver.h"

enum { N = 128, RANKS = 2, COUNTED = 1 << 16, PAGE = 1 << 21, BLOCKS = 3 << 20 };
static long long now, peak;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t n, size_t bytes);
void __real_free(void *memory);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void __wrap_free(void *memory);

/* Small allocations are not counted, because some come from elsewhere. */
static void *counted(void *memory, int sign)
{
    long long bytes = memory ? (long long)malloc_usable_size(memory) : 0;
    now += bytes >= COUNTED ? sign * bytes : 0;
    peak = now > peak ? now : peak;
    return memory;
}

void *__wrap_malloc(size_t bytes)
{
    return counted(__real_malloc(bytes), 1);
}

void *__wrap_calloc(size_t n, size_t bytes)
{
    return counted(__real_calloc(n, bytes), 1);
}

void __wrap_free(void *memory)
{
    __real_free(counted(memory, -1));
}

/* At most so many arrays, each with its alignment to a large page, and the blocks of all passes. */
static void check_peak(const char *type, const char *exchange, const char *when, int arrays, long long array)
{
    long long most = arrays * (array + PAGE) + BLOCKS;
    if (peak > most) {
        printf("%s %s: %s %lld bytes, more than %d arrays of %lld\n", type, exchange, when, peak, arrays, array);
        check_failures++;
    }
    peak = now;
}

/* For a cube on all ranks; the count of memory restarts here. */
static pencilfft_desc begin(const char *type)
{
    now = peak = 0;
    pencilfft_desc desc = described(N, N, N);
    desc.R = 1, desc.C = RANKS;
    desc.type = type;
    return desc;
}

/* First out of place, then in place, because a plan that may destroy its input needs more there. */
static void check_destroying(const char *type, int apart, int together)
{
    pencilfft_desc desc = begin(type);
    pencilfft_plan plan;
    void *in, *out;
    int64_t array;
    desc.destroy_input = 1;
    OK(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan));
    OK(pencilfft_alloc_bytes(plan, &array));
    peak = now;
    OK(pencilfft_alloc(plan, &in));
    OK(pencilfft_alloc(plan, &out));
    memset(in, 0, (size_t)array);
    OK(pencilfft_forward(plan, in, out));
    OK(pencilfft_backward(plan, out, in));
    OK(pencilfft_transpose(plan, PENCILFFT_COLUMN, PENCILFFT_FORWARD, in, out));
    check_peak(type, "that destroys its input", "out of place", apart, array);
    OK(pencilfft_forward(plan, in, in));
    check_peak(type, "that destroys its input", "in place", together, array);
    OK(pencilfft_plan_destroy(plan));
    CHECK(now < COUNTED);
}

static void check_plan(const char *type, const char *exchange, int made, int apart, int together)
{
    pencilfft_desc desc = begin(type);
    pencilfft_plan plan;
    void *in, *out;
    int64_t array;
    desc.exchange = exchange;
    desc.schedule = "sequence";
    desc.auto_budget_s = 0.3;
    OK(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan));
    OK(pencilfft_alloc_bytes(plan, &array));
    check_peak(type, exchange, "while it is made", made, array);
    OK(pencilfft_alloc(plan, &in));
    memset(in, 0, (size_t)array);
    OK(pencilfft_forward(plan, in, in));
    OK(pencilfft_backward(plan, in, in));
    check_peak(type, exchange, "in place", together, array);
    OK(pencilfft_alloc(plan, &out));
    OK(pencilfft_forward(plan, in, out));
    OK(pencilfft_backward(plan, out, in));
    check_peak(type, exchange, "out of place", apart, array);
    OK(pencilfft_plan_destroy(plan));
    CHECK(now < COUNTED);
}

int main(int argc, char **argv)
{
    start_tests(argc, argv, MPI_THREAD_SINGLE);
    CHECK_INT(ranks, RANKS);
    check_plan("c2c", "alltoallv", 3, 3, 2);
    check_plan("r2c", "p2p", 3, 3, 2);
    /* The trial's arrays, and all candidates with their own buffers; Bruck's algorithm, if chosen, has two. */
    check_plan("c2c", "auto", 8, 8, 5);
    check_destroying("c2c", 2, 4);
    check_destroying("r2c", 2, 4);
    return end_tests();
}
