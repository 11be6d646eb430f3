/* Threads inside a rank. threads.c is the only file that knows OpenMP. */
#pragma once

#include <stdint.h>

enum { PF_MOST_THREADS = 1024 };

/* The number of threads for the member `asked` of a descriptor: *threads, 1 or more. MPI runs. Local. */
int pf_threads_take(int asked, int *threads);
/* work(share, of) for share 0 to shares - 1, each by its own thread, or by fewer threads if OpenMP has fewer: no share may
 * wait for another. Share 0 is the calling thread's. Returns when all are done. */
void pf_threads_run(int shares, void (*work)(int share, void *of), void *of);

/* The number of these threads that pays for so many bytes, 1 or more. */
int pf_threads_worth(int threads, int64_t bytes);

/* Start of a share of n things among `shares`; share 0 has the most. */
static inline int64_t pf_share_start(int64_t n, int share, int shares)
{
    return (n * share + shares - 1) / shares;
}

/* memcpy() by some threads, if they pay. */
void pf_threads_copy(int threads, void *to, const void *from, int64_t bytes);
