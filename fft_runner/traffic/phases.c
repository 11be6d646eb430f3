/* Idea:  each rank has a number for each of its windows, the signature of its kind. The sums of these numbers, mixed with
 *        the ranks, tell which windows are of one kind on every rank: one reduction of as many numbers as there were
 *        windows. Windows that the ranks cannot match are put together first, and have the sum of their kinds. The phases
 *        with the most bytes are kept, the others are put together. */
#include "windows.h"

#include <stdlib.h>
#include <string.h>

#include "state.h"

struct agreed {
    size_t own, windows, count, map_size; /* own windows, and those that all ranks have */
    size_t *of_own; /* of each own window, its number among those of all */
    uint64_t *sum; /* of each window */
    uint64_t *name; /* of each window, the number of its phase */
    uint64_t *bytes; /* of each phase, by all ranks */
    size_t *order; /* phases, most bytes first */
    size_t *first; /* a hash map from a sum to its first window */
    int *phase; /* of each phase, its number in the file */
};

static bool allocate(struct agreed *a)
{
    a->map_size = 16;
    while (a->map_size < 2 * a->windows)
        a->map_size *= 2;
    a->sum = calloc(a->windows + 1, sizeof *a->sum);
    a->name = calloc(a->windows + 1, sizeof *a->name);
    a->bytes = calloc(a->windows + 1, sizeof *a->bytes);
    a->order = calloc(a->windows + 1, sizeof *a->order);
    a->first = malloc(a->map_size * sizeof *a->first);
    a->phase = malloc((a->windows + 1) * sizeof *a->phase);
    return a->sum && a->name && a->bytes && a->order && a->first && a->phase;
}

static void release(struct agreed *a)
{
    free(a->of_own);
    free(a->sum);
    free(a->name);
    free(a->bytes);
    free(a->order);
    free(a->first);
    free(a->phase);
}

/* Number the windows that all ranks have: each, or those up to a synchronised one if their numbers differ. All numbers are
 * equal if and only if the mean of their squares is the square of their mean. */
static bool match(struct agreed *a, size_t synchronised, MPI_Comm comm)
{
    const uint8_t *sequence = window_sequence(&a->own);
    uint64_t *sums = calloc(2 * synchronised + 1, sizeof *sums);
    a->of_own = calloc(a->own + 1, sizeof *a->of_own);
    uint64_t failed = !sums || !a->of_own;
    if (sums_of_all(&failed, 1, comm) && !failed) {
        for (size_t w = 0, s = 0; w < a->own; w++) {
            sums[2 * s]++;
            if (sequence[w] & SYNCHRONISED) {
                sums[2 * s + 1] = sums[2 * s] * sums[2 * s];
                s++;
            }
        }
        failed = !sums_of_all(sums, 2 * synchronised, comm);
        for (size_t w = 0, s = 0; w < a->own && !failed; w++) {
            bool last = sequence[w] & SYNCHRONISED;
            a->of_own[w] = a->windows;
            a->windows += last || (uint64_t)traffic.ranks * sums[2 * s + 1] == sums[2 * s] * sums[2 * s];
            s += last;
        }
    }
    free(sums);
    return !failed;
}

/* Add to each window the kinds that it has, each once. */
static void sign(struct agreed *a)
{
    const uint8_t *sequence = window_sequence(&a->own);
    const struct window_kind *kind = window_kinds(&(int){0});
    size_t seen[MOST_KINDS] = {0};
    for (size_t w = 0; w < a->own; w++) {
        int k = window_kind_of(sequence[w]);
        if (seen[k] != a->of_own[w] + 1)
            a->sum[a->of_own[w]] += mixed(kind[k].signature + 5);
        seen[k] = a->of_own[w] + 1;
    }
    for (size_t w = 0; w < a->windows; w++)
        a->sum[w] = mixed(a->sum[w] + mixed((uint64_t)traffic.rank + 1));
}

/* Whether all ranks have the number that rank 0 has. */
static bool same_number(uint64_t number, MPI_Comm comm, bool *same)
{
    uint64_t of_first = traffic.rank == 0 ? number : 0;
    if (!sums_of_all(&of_first, 1, comm))
        return false;
    uint64_t differ = number != of_first;
    bool done = sums_of_all(&differ, 1, comm);
    *same = !differ;
    return done;
}

/* The phases are numbered by their first windows. */
static void name_phases(struct agreed *a)
{
    for (size_t i = 0; i < a->map_size; i++)
        a->first[i] = SIZE_MAX;
    for (size_t w = 0; w < a->windows; w++) {
        size_t i = mixed(a->sum[w]) & (a->map_size - 1);
        while (a->first[i] != SIZE_MAX && a->sum[a->first[i]] != a->sum[w])
            i = (i + 1) & (a->map_size - 1);
        if (a->first[i] == SIZE_MAX) {
            a->first[i] = w;
            a->name[w] = a->count++;
        } else
            a->name[w] = a->name[a->first[i]];
    }
}

static uint64_t bytes_of(const struct window_kind *kind)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < kind->pairs.size; i++)
        sum += kind->pairs.at[i].bytes;
    return sum;
}

static const uint64_t *compared; /* qsort takes no argument for its comparison */

static int more_bytes(const void *one, const void *other)
{
    size_t a = *(const size_t *)one, b = *(const size_t *)other;
    if (compared[a] != compared[b])
        return compared[a] > compared[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Sort the phases by the bytes of all ranks: a window has the average of its kind. */
static bool sort_phases(struct agreed *a, MPI_Comm comm)
{
    int kinds;
    const struct window_kind *kind = window_kinds(&kinds);
    const uint8_t *sequence = window_sequence(&a->own);
    uint64_t average[MOST_KINDS] = {0};
    for (int i = 0; i < kinds; i++)
        average[i] = kind[i].windows ? bytes_of(kind + i) / kind[i].windows : 0;
    for (size_t w = 0; w < a->own; w++)
        a->bytes[a->name[a->of_own[w]]] += average[window_kind_of(sequence[w])];
    for (size_t i = 0; i < a->count; i++)
        a->order[i] = i;
    if (!sums_of_all(a->bytes, a->count, comm))
        return false;
    compared = a->bytes;
    qsort(a->order, a->count, sizeof *a->order, more_bytes);
    return true;
}

/* Number the kept phases in the order of their first windows, and count the windows of each kind in each. */
static void fill(struct phases *phases, const struct agreed *a, bool rest)
{
    const uint8_t *sequence = window_sequence(&(size_t){0});
    size_t most = MOST_PHASES - (size_t)rest, kept = a->count <= most ? a->count : MOST_PHASES - 1;
    int count = 0;
    for (size_t i = 0; i < a->count; i++)
        a->phase[a->order[i]] = i < kept ? 0 : (int)kept;
    for (size_t i = 0; i < a->count; i++)
        a->phase[i] = a->phase[i] ? a->phase[i] : count++;
    phases->has_rest = rest || kept < a->count;
    phases->count = (int)kept + phases->has_rest;
    for (size_t w = 0; w < a->windows; w++)
        phases->windows[a->phase[a->name[w]]]++;
    for (size_t w = 0; w < a->own; w++)
        phases->of_kind[window_kind_of(sequence[w])][a->phase[a->name[a->of_own[w]]]]++;
}

static bool divide(struct phases *phases, struct agreed *a, MPI_Comm comm)
{
    int kinds;
    const struct window_kind *kind = window_kinds(&kinds);
    uint64_t totals[2] = {!allocate(a), kind[LATE].windows};
    if (!sums_of_all(totals, 2, comm) || totals[0])
        return false;
    sign(a);
    if (!sums_of_all(a->sum, a->windows, comm))
        return false;
    name_phases(a);
    if (!sort_phases(a, comm))
        return false;
    fill(phases, a, totals[1] > 0);
    phases->of_kind[LATE][phases->count - 1] += kind[LATE].windows;
    phases->windows[phases->count - 1] += kind[LATE].windows;
    return true;
}

static void single(struct phases *phases)
{
    int kinds;
    const struct window_kind *kind = window_kinds(&kinds);
    phases->count = 1;
    for (int i = 0; i < kinds; i++) {
        phases->of_kind[i][0] = kind[i].windows;
        phases->windows[0] += kind[i].windows;
    }
}

bool phases_agree(struct phases *phases, MPI_Comm comm)
{
    struct agreed a = {.windows = 0};
    size_t windows, synchronised = 0;
    memset(phases, 0, sizeof *phases);
    const uint8_t *sequence = window_sequence(&windows);
    for (size_t w = 0; w < windows; w++)
        synchronised += (sequence[w] & SYNCHRONISED) != 0;
    bool done = same_number(synchronised, comm, &phases->alike);
    if (done && phases->alike)
        done = match(&a, synchronised, comm) && divide(phases, &a, comm);
    else
        single(phases);
    release(&a);
    return done;
}

struct window_kind phase_times(const struct phases *phases, int phase)
{
    int kinds;
    const struct window_kind *kind = window_kinds(&kinds);
    struct window_kind sum = {.windows = phases->windows[phase]};
    for (int k = 0; k < kinds; k++) {
        double part = phases->of_kind[k][phase] ? (double)phases->of_kind[k][phase] / (double)kind[k].windows : 0;
        sum.seconds += part * kind[k].seconds;
        sum.computing += part * kind[k].computing;
    }
    return sum;
}

uint64_t phase_share(uint64_t amount, uint64_t before, uint64_t own, uint64_t all)
{
    uint64_t each = amount / all, left = amount % all;
    return each * own + left * (before + own) / all - left * before / all;
}
