#pragma once

#include <stdint.h>

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
