#include "windows.h"

#include <stdlib.h>
#include <string.h>

#include "state.h"

enum { FIRST_SIZE = 64 };

static struct pair *place(const struct pairs *pairs, uint64_t key)
{
    size_t i = mixed(key) & (pairs->size - 1);
    while (pairs->at[i].messages && pairs->at[i].key != key)
        i = (i + 1) & (pairs->size - 1);
    return pairs->at + i;
}

static bool grow(struct pairs *pairs)
{
    struct pairs larger = {.size = pairs->size ? 2 * pairs->size : FIRST_SIZE, .used = pairs->used};
    if (!(larger.at = calloc(larger.size, sizeof *larger.at)))
        return false;
    for (size_t i = 0; i < pairs->size; i++)
        if (pairs->at[i].messages)
            *place(&larger, pairs->at[i].key) = pairs->at[i];
    free(pairs->at);
    *pairs = larger;
    return true;
}

int pairs_add(struct pairs *pairs, uint64_t key, uint64_t bytes, uint64_t messages)
{
    if (2 * pairs->used >= pairs->size && !grow(pairs))
        return -1;
    struct pair *found = place(pairs, key);
    int new = !found->messages;
    pairs->used += (size_t) new;
    found->key = key;
    found->bytes += bytes;
    found->messages += messages;
    return new;
}

/* A map that is much too large is given up: clearing it would slow down every small window after a large one. */
void pairs_clear(struct pairs *pairs)
{
    if (pairs->size > FIRST_SIZE && pairs->used < pairs->size / 16)
        pairs_free(pairs);
    else if (pairs->used)
        memset(pairs->at, 0, pairs->size * sizeof *pairs->at);
    pairs->used = 0;
}

void pairs_free(struct pairs *pairs)
{
    free(pairs->at);
    *pairs = (struct pairs){.size = 0};
}
