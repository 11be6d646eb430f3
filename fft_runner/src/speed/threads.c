/* Threads inside a rank, by OpenMP.
 * Idea:  the work is cut into shares beforehand, as many as there are threads, and each thread does a share: so the run
 *        follows the serial plan, and a thread has the same memory in all passes. OpenMP may give fewer threads than
 *        requested (nested regions, OMP_DYNAMIC, OMP_THREAD_LIMIT); a thread then does several shares in turn.
 * Cost:  a parallel region: some microseconds.
 * Needs: MPI_THREAD_FUNNELED, because the calling thread alone calls MPI, outside of the shares or in share 0. */
#include "speed/threads.h"

#include <mpi.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "common/failure.h"
#include "pencilfft.h"
#include "speed/tuning.h"

/* ---- how many ---------------------------------------------------------------------------------------------------- */

static int of_openmp(int asked, int *threads)
{
#ifdef _OPENMP
    *threads = asked == PENCILFFT_OMP_THREADS ? omp_get_max_threads() : asked;
    return PENCILFFT_OK;
#else
    *threads = 1;
    return pf_fail(PENCILFFT_NOT_POSSIBLE,
                   "threads is %d, but this library was built without OpenMP; build it with a compiler that has OpenMP and "
                   "with -DPENCILFFT_OPENMP=ON, or ask for one thread",
                   asked);
#endif
}

static int check_mpi(int threads)
{
    int level;
    PF_MPI(MPI_Query_thread(&level));
    if (level < MPI_THREAD_FUNNELED)
        return pf_fail(PENCILFFT_NOT_POSSIBLE,
                       "threads is %d, but MPI runs with MPI_THREAD_SINGLE; start it by MPI_Init_thread with "
                       "MPI_THREAD_FUNNELED or more, or ask for one thread",
                       threads);
    return PENCILFFT_OK;
}

int pf_threads_take(int asked, int *threads)
{
    int status = PENCILFFT_OK;
    *threads = asked ? asked : 1;
    if (asked < 0 && asked != PENCILFFT_OMP_THREADS)
        return pf_fail(PENCILFFT_BAD_CALL,
                       "threads is %d; give 1 or more, or PENCILFFT_OMP_THREADS (%d) for as many as OMP_NUM_THREADS says",
                       asked, PENCILFFT_OMP_THREADS);
    if (*threads != 1)
        status = of_openmp(asked, threads);
    if (!status && *threads > PF_MOST_THREADS)
        return pf_fail(PENCILFFT_BAD_CALL, "threads is %d; a rank has at most %d", *threads, PF_MOST_THREADS);
    return status || *threads == 1 ? status : check_mpi(*threads);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

void pf_threads_run(int shares, void (*work)(int share, void *of), void *of)
{
#ifdef _OPENMP
    if (shares > 1) {
#pragma omp parallel num_threads(shares)
        for (int share = omp_get_thread_num(); share < shares; share += omp_get_num_threads())
            work(share, of);
        return;
    }
#endif
    for (int share = 0; share < shares; share++)
        work(share, of);
}

int pf_threads_worth(int threads, int64_t bytes)
{
    int64_t worth = pf_tuning.thread_bytes ? bytes / pf_tuning.thread_bytes : threads;
    return worth >= threads ? threads : worth > 1 ? (int)worth : 1;
}

/* ---- copying ----------------------------------------------------------------------------------------------------- */

struct bytes {
    int shares;
    char *to;
    const char *from;
    int64_t n;
};

static void copy_share(int share, void *of)
{
    const struct bytes *b = of;
    int64_t start = pf_share_start(b->n, share, b->shares), end = pf_share_start(b->n, share + 1, b->shares);
    memcpy(b->to + start, b->from + start, (size_t)(end - start));
}

void pf_threads_copy(int threads, void *to, const void *from, int64_t bytes)
{
    struct bytes b = {pf_threads_worth(threads, bytes), to, from, bytes};
    pf_threads_run(b.shares, copy_share, &b);
}
