/* FNV-1a of 64 bits (Fowler, Noll, Vo, 1991): a text as a number. */
#pragma once

#include <stddef.h>
#include <stdint.h>

static inline uint64_t checksum_of(const char *text, size_t n)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t i = 0; i < n; i++)
        sum = (sum ^ (unsigned char)text[i]) * 0x100000001b3u;
    return sum;
}
