/* Windows: what a rank sent before it waited for others, between two calls that wait, or two of MPI_Pcontrol.
 *
 * Idea:  total bytes hide that exchanges follow one another. Windows in which a rank talks to the same partners in the same
 *        communicators are of one kind and are added up, so memory does not grow with time. The kinds of all windows are
 *        kept in order; at the end the ranks agree on phases: windows that are of one kind on every rank. The windows up
 *        to a collective in which all ranks wait for all are put together if the ranks have different numbers of them. */
#pragma once

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes and messages by communicator, kind and partner: a hash map, so that memory grows with the pairs that talk. */
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

/* REST has the windows of further kinds, LATE the windows after the last that is kept in order. */
enum { REST, LATE, MOST_KINDS = 128, MOST_WINDOWS = 1 << 19 }; /* as many of both ends */
enum { SYNCHRONISED = MOST_KINDS }; /* bit of a window in the sequence that all ranks end together */

struct window_kind {
    uint64_t signature; /* equal for windows with the same partners */
    uint64_t windows;
    double seconds, computing; /* of this rank: of the clock, and outside of MPI */
    struct pairs pairs;
};

void window_add(uint64_t key, uint64_t bytes, uint64_t messages);

/* The window that is not ended: add time outside of MPI; add the time since its begin, or the last call, if that counts. */
void window_computed(double seconds);
void window_passes(void);

/* End the window: at a collective in which all ranks wait for all; at another call that waits, if the rank has called for
 * a message before, or always. MPI_Pcontrol may have switched these off. Last, at the end of the program. */
void window_synchronised(void);
void window_waited(bool always);
void window_close(void);
void window_sent(void);

/* MPI_Pcontrol(level), level >= 2: what follows belongs to the phase of this level, and collectives end no more windows. */
void window_level(int level);

/* What the window that is not ended has so far. */
const struct window_kind *window_open(void);

const struct window_kind *window_kinds(int *count);

/* The kinds of the windows in order, for all but the LATE ones, with SYNCHRONISED. */
const uint8_t *window_sequence(size_t *count);

static inline int window_kind_of(uint8_t in_sequence)
{
    return in_sequence & (MOST_KINDS - 1);
}

/* The level of a kind, 0 without. */
int window_kind_level(int kind);

/* Phases: windows that are of one kind on every rank, as all ranks agree at the end. Windows put together count as one. */
enum { MOST_PHASES = 64 }; /* the last has what is left, if there are more */

struct phases {
    int count;
    bool alike;    /* false: the ranks had different numbers of windows, so there is a single phase */
    bool has_rest; /* the last phase has different windows */
    uint64_t windows[MOST_PHASES];
    uint64_t of_kind[MOST_KINDS][MOST_PHASES]; /* windows of each kind of this rank */
};

/* Collective; return false without memory or if MPI fails, on this rank. */
bool phases_agree(struct phases *phases, MPI_Comm comm);

/* Seconds of this rank in a phase: of the clock, and outside of MPI. */
struct window_kind phase_times(const struct phases *phases, int phase);

/* The part of an amount of a kind that belongs to a phase with `own` of all its windows, `before` of which are in earlier
 * phases. The parts of all phases have the amount as sum. */
uint64_t phase_share(uint64_t amount, uint64_t before, uint64_t own, uint64_t all);
