/* Stands before malloc and its like, and before FFTW's planners, by the linker's --wrap: calls of the program and of the
 * library come here, calls inside MPI, FFTW and hwloc do not. The environment configures a program that does not know this
 * file: PENCILFFT_FAILING_RANK and PENCILFFT_FAILING_ALLOCATION, counted from 0. */
#include "failing_memory.h"

#include <errno.h>
#include <fftw3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long countdown = -1;

void failing_memory_after(long others)
{
    countdown = others;
}

long failing_memory_left(void)
{
    return countdown;
}

static int fails_now(void)
{
    int fails = countdown >= 0 && countdown-- == 0;
    if (fails)
        errno = ENOMEM; /* as malloc does */
    return fails;
}

/* ---- allocations that are held: a set of addresses, by open addressing ---------------------------------------- */

enum { PLACES = 1 << 16 };

static const void *held[PLACES];
static long count;

static size_t place_of(const void *address)
{
    size_t at = ((uintptr_t)address >> 4) * 0x9e3779b1u % PLACES;
    while (held[at] && held[at] != address)
        at = (at + 1) % PLACES;
    return at;
}

static void *hold(void *address)
{
    if (address && count < PLACES / 2) {
        size_t at = place_of(address);
        count += held[at] != address;
        held[at] = address;
    }
    return address;
}

/* Ignore addresses that others allocated. */
static void let_go(const void *address)
{
    size_t at = address ? place_of(address) : 0;
    if (!address || held[at] != address)
        return;
    held[at] = NULL;
    count--;
    for (size_t next = (at + 1) % PLACES; held[next]; next = (next + 1) % PLACES) { /* those behind move up */
        const void *moved = held[next];
        held[next] = NULL;
        held[place_of(moved)] = moved;
    }
}

long failing_memory_held(void)
{
    return count;
}

#define WRAPPED(type, name, parameters, arguments)                 \
    type __real_##name parameters;                                 \
    type __wrap_##name parameters;                                 \
    type __wrap_##name parameters                                  \
    {                                                              \
        return fails_now() ? NULL : hold(__real_##name arguments); \
    }

#define FREED(type, name)             \
    void __real_##name(type address); \
    void __wrap_##name(type address); \
    void __wrap_##name(type address)  \
    {                                 \
        let_go(address);              \
        __real_##name(address);       \
    }

FREED(void *, free)
FREED(void *, fftw_free)
FREED(fftw_plan, fftw_destroy_plan)

WRAPPED(void *, malloc, (size_t bytes), (bytes))
WRAPPED(void *, calloc, (size_t n, size_t bytes), (n, bytes))
WRAPPED(void *, aligned_alloc, (size_t alignment, size_t bytes), (alignment, bytes))
WRAPPED(char *, strdup, (const char *text), (text))
WRAPPED(void *, fftw_malloc, (size_t bytes), (bytes))

#define MANY int rank, const fftw_iodim64 *line, int many_rank, const fftw_iodim64 *many
WRAPPED(fftw_plan, fftw_plan_guru64_dft, (MANY, fftw_complex *in, fftw_complex *out, int sign, unsigned flags),
        (rank, line, many_rank, many, in, out, sign, flags))
WRAPPED(fftw_plan, fftw_plan_guru64_dft_r2c, (MANY, double *in, fftw_complex *out, unsigned flags),
        (rank, line, many_rank, many, in, out, flags))
WRAPPED(fftw_plan, fftw_plan_guru64_dft_c2r, (MANY, fftw_complex *in, double *out, unsigned flags),
        (rank, line, many_rank, many, in, out, flags))
WRAPPED(fftw_plan, fftw_plan_guru64_r2r, (MANY, double *in, double *out, const fftw_r2r_kind *kind, unsigned flags),
        (rank, line, many_rank, many, in, out, kind, flags))

void *__real_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes)
{
    void *now = fails_now() ? NULL : __real_realloc(old, bytes);
    if (now) {
        let_go(old);
        hold(now);
    }
    return now;
}

/* ---- for programs without calls of this file ------------------------------------------------------------------ */

static const char *rank_here(void)
{
    const char *of_open_mpi = getenv("OMPI_COMM_WORLD_RANK"), *of_mpich = getenv("PMI_RANK");
    return of_open_mpi ? of_open_mpi : of_mpich ? of_mpich : "0";
}

static void __attribute__((constructor)) read_environment(void)
{
    const char *rank = getenv("PENCILFFT_FAILING_RANK"), *allocation = getenv("PENCILFFT_FAILING_ALLOCATION");
    if (rank && allocation && !strcmp(rank, rank_here()))
        failing_memory_after(atol(allocation));
}

/* On standard error, as the runner's standard output is its own. */
static void __attribute__((destructor)) tell_what_is_left(void)
{
    const char *allocation = getenv("PENCILFFT_FAILING_ALLOCATION");
    if (allocation && countdown >= 0)
        fprintf(stderr, "allocations made: %ld\n", atol(allocation) - countdown);
}
