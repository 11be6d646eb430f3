/* The memory of a plan, by counting: of the plan while it is made, of plan and arrays after that, out of place and in place.
 * Calls of the program and of the library come here by the linker's --wrap; calls inside MPI and FFTW do not. Run under
 * mpirun with 2 ranks. */
#include <malloc.h>
#include <mpi.h>
#include <stdlib.h>

#include "check.h"
#include "pencilfft.h"

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
    pencilfft_desc desc;
    now = peak = 0;
    pencilfft_desc_init(&desc);
    desc.nx = desc.ny = desc.nz = N;
    desc.R = 1, desc.C = RANKS;
    desc.type = type;
    desc.rigor = "estimate";
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
    CHECK_INT(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan), PENCILFFT_OK);
    CHECK_INT(pencilfft_alloc_bytes(plan, &array), PENCILFFT_OK);
    peak = now;
    CHECK_INT(pencilfft_alloc(plan, &in), PENCILFFT_OK);
    CHECK_INT(pencilfft_alloc(plan, &out), PENCILFFT_OK);
    memset(in, 0, (size_t)array);
    CHECK_INT(pencilfft_forward(plan, in, out), PENCILFFT_OK);
    CHECK_INT(pencilfft_backward(plan, out, in), PENCILFFT_OK);
    CHECK_INT(pencilfft_transpose(plan, PENCILFFT_COLUMN, PENCILFFT_FORWARD, in, out), PENCILFFT_OK);
    check_peak(type, "that destroys its input", "out of place", apart, array);
    CHECK_INT(pencilfft_forward(plan, in, in), PENCILFFT_OK);
    check_peak(type, "that destroys its input", "in place", together, array);
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
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
    CHECK_INT(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan), PENCILFFT_OK);
    CHECK_INT(pencilfft_alloc_bytes(plan, &array), PENCILFFT_OK);
    check_peak(type, exchange, "while it is made", made, array);
    CHECK_INT(pencilfft_alloc(plan, &in), PENCILFFT_OK);
    memset(in, 0, (size_t)array);
    CHECK_INT(pencilfft_forward(plan, in, in), PENCILFFT_OK);
    CHECK_INT(pencilfft_backward(plan, in, in), PENCILFFT_OK);
    check_peak(type, exchange, "in place", together, array);
    CHECK_INT(pencilfft_alloc(plan, &out), PENCILFFT_OK);
    CHECK_INT(pencilfft_forward(plan, in, out), PENCILFFT_OK);
    CHECK_INT(pencilfft_backward(plan, out, in), PENCILFFT_OK);
    check_peak(type, exchange, "out of place", apart, array);
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
    CHECK(now < COUNTED);
}

int main(int argc, char **argv)
{
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    CHECK_INT(ranks, RANKS);
    check_plan("c2c", "alltoallv", 3, 3, 2);
    check_plan("r2c", "p2p", 3, 3, 2);
    /* The trial's arrays, and all candidates with their own buffers; Bruck's algorithm, if chosen, has two. */
    check_plan("c2c", "auto", 8, 8, 5);
    check_destroying("c2c", 2, 4);
    check_destroying("r2c", 2, 4);
    MPI_Finalize();
    return check_result();
}
