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

struct row {
    const char *type, *exchange;
    int destroys; /* the input */
    int made, apart, together; /* arrays while the plan is made, out of place, in place; no limit while made if 0 */
};

/* At most so many arrays, each with its alignment to a large page, and the blocks of all passes. */
static void check_peak(const struct row *row, const char *when, int arrays, long long array)
{
    long long most = arrays * (array + PAGE) + BLOCKS;
    if (arrays && peak > most) {
        printf("%s %s%s: %s %lld bytes, more than %d arrays of %lld\n", row->type, row->exchange ? row->exchange : "",
               row->destroys ? " that destroys its input" : "", when, peak, arrays, array);
        check_failures++;
    }
    peak = now;
}

static void run(const struct row *row, pencilfft_plan plan, void *in, void *out, int64_t array)
{
    OK(pencilfft_forward(plan, in, out));
    OK(pencilfft_backward(plan, out, in));
    if (in != out && row->destroys)
        OK(pencilfft_transpose(plan, PENCILFFT_COLUMN, PENCILFFT_FORWARD, in, out));
    check_peak(row, in == out ? "in place" : "out of place", in == out ? row->together : row->apart, array);
}

/* A cube on all ranks, first in place. A plan that may destroy its input needs more there, so out of place comes first. */
static void check_plan(const struct row *row)
{
    pencilfft_desc desc = described(N, N, N);
    void *in, *out;
    int64_t array;
    desc.R = 1, desc.C = RANKS;
    desc.type = row->type, desc.exchange = row->exchange;
    desc.destroy_input = row->destroys;
    desc.schedule = row->destroys ? NULL : "sequence";
    desc.auto_budget_s = 0.3;
    now = peak = 0;
    pencilfft_plan plan = made(&desc);
    OK(pencilfft_alloc_bytes(plan, &array));
    check_peak(row, "while it is made", row->made, array);
    OK(pencilfft_alloc(plan, &in));
    memset(in, 0, (size_t)array);
    if (!row->destroys)
        run(row, plan, in, in, array);
    OK(pencilfft_alloc(plan, &out));
    run(row, plan, in, out, array);
    if (row->destroys)
        run(row, plan, in, in, array);
    OK(pencilfft_plan_destroy(plan));
    CHECK(now < COUNTED);
}

int main(int argc, char **argv)
{
    static const struct row rows[] = {
        {"c2c", "alltoallv", 0, 3, 3, 2},
        {"r2c", "p2p", 0, 3, 3, 2},
        /* The trial's arrays, and all candidates with their own buffers; Bruck's algorithm, if chosen, has two. */
        {"c2c", "auto", 0, 8, 8, 5},
        {"c2c", NULL, 1, 0, 2, 4},
        {"r2c", NULL, 1, 0, 2, 4},
    };
    start_tests(argc, argv, MPI_THREAD_SINGLE);
    CHECK_INT(ranks, RANKS);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_plan(&rows[i]);
    return end_tests();
}
