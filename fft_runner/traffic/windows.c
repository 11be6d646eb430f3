#include "windows.h"

#include <stdlib.h>

#include "state.h"

static struct window_kind open; /* what the open window has so far */
static double begin_s; /* since MPI_Init */
static int level;

static struct window_kind kinds[MOST_KINDS] = {[REST] = {.signature = 1}, [LATE] = {.signature = 2}};
static int levels[MOST_KINDS];
static int used = LATE + 1;
static uint8_t *sequence;
static size_t windows, places, of_each[2]; /* ended by the rank alone, and SYNCHRONISED */
static bool sent;

void window_add(uint64_t key, uint64_t bytes, uint64_t messages)
{
    int new = pairs_add(&open.pairs, key, bytes, messages);
    traffic.failed |= new < 0;
    if (new > 0)
        open.signature += mixed(key + 3);
}

void window_computed(double seconds)
{
    open.computing += seconds;
}

void window_passes(void)
{
    double now = traffic_seconds();
    open.seconds += traffic.counting ? now - begin_s : 0;
    begin_s = now;
}

static int kind_of_window(void)
{
    uint64_t wanted = level ? mixed((uint64_t)level) : open.signature;
    for (int kind = LATE + 1; kind < used; kind++)
        if (kinds[kind].signature == wanted && levels[kind] == level)
            return kind;
    if (used == MOST_KINDS)
        return REST;
    kinds[used].signature = wanted;
    levels[used] = level;
    return used++;
}

/* Append a kind to the sequence; false if the sequence is full. */
static bool append(int kind, bool synchronised)
{
    if (of_each[synchronised] == MOST_WINDOWS)
        return false;
    if (windows == places) {
        size_t more = places ? 2 * places : 256;
        uint8_t *larger = realloc(sequence, more);
        traffic.failed |= !larger;
        if (!larger)
            return false;
        sequence = larger;
        places = more;
    }
    of_each[synchronised]++;
    sequence[windows++] = (uint8_t)(kind | (synchronised ? SYNCHRONISED : 0));
    return true;
}

static void close_window(bool synchronised)
{
    int kind = kind_of_window();
    if (!append(kind, synchronised))
        kind = LATE;
    window_passes();
    kinds[kind].windows++;
    kinds[kind].seconds += open.seconds;
    kinds[kind].computing += open.computing;
    for (const struct pair *pair = open.pairs.at; pair < open.pairs.at + open.pairs.size; pair++)
        if (pair->messages)
            traffic.failed |= pairs_add(&kinds[kind].pairs, pair->key, pair->bytes, pair->messages) < 0;
    pairs_clear(&open.pairs);
    open = (struct window_kind){.pairs = open.pairs};
    sent = false;
}

void window_close(void)
{
    close_window(true);
}

void window_sent(void)
{
    sent = true;
}

void window_waited(bool always)
{
    if ((sent || always) && !level && traffic.counting && of_each[false] < MOST_WINDOWS && of_each[true] < MOST_WINDOWS)
        close_window(false);
}

void window_synchronised(void)
{
    if (!level)
        window_close();
}

void window_level(int next)
{
    window_close();
    level = next;
}

const struct window_kind *window_open(void)
{
    return &open;
}

const struct window_kind *window_kinds(int *count)
{
    *count = used;
    return kinds;
}

const uint8_t *window_sequence(size_t *count)
{
    *count = windows;
    return sequence;
}

int window_kind_level(int kind)
{
    return levels[kind];
}
