#pragma once

#include <stdint.h>

enum { PF_CACHE_LINE = 64 };

/* Ask the processor for memory that is needed soon. It goes on at once, where reading or writing would wait.
 * Inlined, because GCC leaves out calls of functions that only ask. */
static inline __attribute__((always_inline)) void pf_ask_for(const char *from, int64_t bytes)
{
    for (int64_t at = 0; at < bytes; at += PF_CACHE_LINE)
        __builtin_prefetch(from + at);
}

/* Of a row that is written past the caches, the lines that it shares with its neighbours. */
static inline __attribute__((always_inline)) void pf_ask_for_ends(const char *from, int64_t bytes)
{
    if ((uintptr_t)from % PF_CACHE_LINE)
        __builtin_prefetch(from);
    if ((uintptr_t)(from + bytes) % PF_CACHE_LINE)
        __builtin_prefetch(from + bytes - 1);
}
