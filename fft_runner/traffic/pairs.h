/* Bytes and messages by communicator, kind and partner: a hash map, so that memory grows with the pairs that talk. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pair {
    uint64_t key, bytes, messages; /* no messages: an empty place of the map */
};

struct pairs {
    struct pair *at;
    size_t size, used;
};

enum { PARTNER_BITS = 32, KIND_BITS = 4 };

static inline uint64_t pair_key(int communicator, unsigned kind, int partner)
{
    return (uint64_t)communicator << (PARTNER_BITS + KIND_BITS) | (uint64_t)kind << PARTNER_BITS | (uint32_t)partner;
}

static inline int pair_partner(uint64_t key)
{
    return (int)(uint32_t)key;
}

static inline unsigned pair_kind(uint64_t key)
{
    return key >> PARTNER_BITS & ((1U << KIND_BITS) - 1);
}

static inline int pair_communicator(uint64_t key)
{
    return (int)(key >> (PARTNER_BITS + KIND_BITS));
}

/* Add to a pair; return 1 if the pair is new, 0 if it is known, -1 without memory. */
int pairs_add(struct pairs *pairs, uint64_t key, uint64_t bytes, uint64_t messages);

void pairs_clear(struct pairs *pairs);
void pairs_free(struct pairs *pairs);
