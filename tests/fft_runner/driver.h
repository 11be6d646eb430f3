/* What the C tests of the library share: the ranks and their grid, plans, refusals that all ranks must hear alike. */
#pragma once

#include <math.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>

#include "boxes.h"
#include "check.h"
#include "pencilfft.h"

static int R, C, rank, ranks;

#define OK(call) CHECK_INT(call, PENCILFFT_OK)

/* A call with this status, and words of its message. */
#define REFUSED(call, status, words)                      \
    do {                                                  \
        CHECK_INT(call, status);                          \
        CHECK_CONTAINS(pencilfft_error_message(), words); \
    } while (0)

#define BAD(call, words) REFUSED(call, PENCILFFT_BAD_CALL, words)

/* Collective: the same message on all ranks. */
#define REFUSED_ON_ALL(call, status, words) \
    do {                                    \
        REFUSED(call, status, words);       \
        CHECK(same_message_on_all());       \
    } while (0)

/* Under mpirun, R C as the first arguments, without them ranks x 1. */
static inline void start_tests(int argc, char **argv, int level)
{
    int got;
    MPI_Init_thread(&argc, &argv, level, &got);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    R = argc > 2 ? atoi(argv[1]) : ranks;
    C = argc > 2 ? atoi(argv[2]) : 1;
}

static inline int end_tests(void)
{
    MPI_Finalize();
    return check_result();
}

static inline int same_on_all(int value)
{
    int both[2] = {value, -value}, largest[2];
    MPI_Allreduce(both, largest, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return largest[0] == -largest[1];
}

static inline int same_message_on_all(void)
{
    int number = 0;
    for (const char *at = pencilfft_error_message(); *at; at++)
        number = (number * 31 + *at) & 0xffffff;
    return same_on_all(number);
}

/* On the grid R x C, without trials. */
static inline pencilfft_desc described(int64_t nx, int64_t ny, int64_t nz)
{
    pencilfft_desc desc;
    pencilfft_desc_init(&desc);
    desc.nx = nx, desc.ny = ny, desc.nz = nz;
    desc.R = R, desc.C = C;
    desc.rigor = "estimate";
    return desc;
}

static inline pencilfft_plan made(const pencilfft_desc *desc)
{
    pencilfft_plan plan = NULL;
    OK(pencilfft_plan_create(desc, MPI_COMM_WORLD, &plan));
    if (!plan) {
        printf("%s\n", pencilfft_error_message());
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return plan;
}

/* Of the plan, filled with zeros. */
static inline void *buffer_of(pencilfft_plan plan)
{
    void *buffer = NULL;
    int64_t bytes = 0;
    OK(pencilfft_alloc(plan, &buffer));
    OK(pencilfft_alloc_bytes(plan, &bytes));
    memset(buffer, 0, (size_t)bytes);
    return buffer;
}

/* No plan from this descriptor, and the same message on all ranks. */
static inline void no_plan(pencilfft_desc desc, int status, const char *words)
{
    pencilfft_plan plan = (pencilfft_plan)&desc;
    REFUSED_ON_ALL(pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan), status, words);
    CHECK(plan == NULL && *pencilfft_error_message());
}

/* Of the last transform: no time is negative, and all that are neither waiting nor hidden add up to the total, which is
 * returned. */
static inline double check_phase_times(pencilfft_plan plan)
{
    double seconds[PENCILFFT_MAX_PHASES], sum = 0, total = 0;
    int phases = 0;
    OK(pencilfft_phases(plan, &phases));
    OK(pencilfft_phase_seconds(plan, seconds));
    for (int phase = 0; phase < phases; phase++) {
        int kind = pencilfft_phase_kind(plan, phase);
        CHECK(seconds[phase] >= 0 && pencilfft_phase_name(plan, phase));
        if (kind == PENCILFFT_TOTAL)
            total = seconds[phase];
        else if (kind != PENCILFFT_WAIT && kind != PENCILFFT_HIDDEN)
            sum += seconds[phase];
    }
    CHECK(fabs(sum - total) < 1e-9);
    return total;
}
