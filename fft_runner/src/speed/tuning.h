/* Numbers that affect only speed. */
#pragma once

#include <stdint.h>

enum pf_direct { PF_BY_CLOCK, PF_ALWAYS };

/* Tests make the sizes tiny, so that small arrays are cut like large arrays. */
struct pf_tuning {
    int64_t block_bytes;   /* the largest block of a pass: one of two blocks in the caches, see pass_plan.c */
    int64_t message_bytes; /* size of a message whose transfer takes longer than its start */
    int64_t row_bytes;     /* least row worth a copy */
    int64_t direct_bytes;  /* size of a part of the array that stays in the caches, together with its result */
    int64_t thread_bytes;  /* least size worth another thread */
    int64_t ask_bytes;     /* least part of the array whose rows are prefetched */
    int64_t past_bytes;    /* least part of the array written by non-temporal stores */
    int64_t whole_bytes;   /* size of an array from which on passes are faster than a plan of FFTW */
    /* Parts of arrays for which plans are tried side by side; some exchanges have buffers of that size. */
    int64_t trial_bytes;
    int64_t trial_outs_bytes; /* of the outputs that plans write in turn during trials */
    int64_t whole_outs_bytes; /* the same for a plan of FFTW and passes */
    enum pf_direct direct; /* lines read and written in place, without a copy in the caches; FFTW's own plan on one rank */
};
extern struct pf_tuning pf_tuning;

enum { PF_CACHE_LINE = 64 };

/* Prefetch memory. The processor continues at once, while reading or writing would wait. Inlined, because GCC leaves out
 * calls of functions that only prefetch. */
static inline __attribute__((always_inline)) void pf_ask_for(const char *from, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += PF_CACHE_LINE)
        __builtin_prefetch(from + at);
}

/* Prefetch the cache lines that a row of non-temporal stores shares with its neighbours. */
static inline __attribute__((always_inline)) void pf_ask_for_ends(const char *from, int64_t bytes)
{
    if ((uintptr_t)from % PF_CACHE_LINE)
        __builtin_prefetch(from);
    if ((uintptr_t)(from + bytes) % PF_CACHE_LINE)
        __builtin_prefetch(from + bytes - 1);
}
