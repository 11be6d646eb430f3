/* The order of partners of exchange p2p.
 * Idea:  without places, step s pairs a rank with a single partner: me xor s if p is a power of two, otherwise the rank
 *        sends to me + s and receives from me - s (mod p). On a torus such a step leaves most links idle: all members send
 *        the same way. With places, members whose coordinates fill a box (any set of positions in each dimension) are
 *        numbered in the box, and an offset v is added modulo the extents of the box. Then every member sends one message
 *        and receives one, and all lines of links along a dimension carry the same load; the ranks on the line through
 *        member 0 give the total load, because other groups use the same links. A phase begins with the offset of the
 *        largest remaining load and its opposite, which fills both directions; further offsets join the phase as long as its
 *        loads of all dimensions are not in proportion to the remaining loads. So the loads of the busiest links of all
 *        phases add up to the load of the busiest link of the whole exchange (tests: to within a few per cent), with about
 *        four messages at a time. Messages that may go either way round a ring count half in each direction. Members that
 *        fill no box exchange with me + s and me - s at a time.
 * Source: MPICH's pairwise all-to-all, for the order without places. Contention-free phases: Y.-C. Tseng, S. K. S. Gupta,
 *         All-to-all personalized communication in a wormhole-routed torus, IEEE TPDS 7 (1996), on rings of 8 n nodes; Y.-C.
 *         Tseng, T.-H. Lin, S. K. S. Gupta, D. K. Panda, Bandwidth-optimal complete exchange on wormhole-routed 2D/3D torus
 *         networks, IEEE TPDS 8 (1997), with messages combined. Any extents, boxes and meshes, and the greedy choice are
 *         ours.
 * Cost:  at most LOOK loads compared for each message, once; as many phases as the box has offsets over four, about.
 * Needs: nothing. Loads are loads of minimal routing along one dimension after the other. */
#include "exchange/partner_order.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/failure.h"
#include "pencilfft.h"

enum { BOX_DIMS = MAX_DIMS + 1, WAYS = 2 * MAX_DIMS }; /* dimensions and the slots of a node; directions */
enum { MOST_MESSAGES = 16, LOOK = 1024 };              /* of a phase; offsets considered for a phase */

static int no_memory(int p)
{
    return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the order of %d partners", p);
}

static void add_message(struct pf_partners *partners, int *n, int target, int source)
{
    partners->target[*n] = target;
    partners->source[(*n)++] = source;
}

static void end_phase(struct pf_partners *partners, int n)
{
    partners->end[partners->phases++] = n;
}

/* ---- places --------------------------------------------------------------------------------------------------------- */

static int by_group(const void *a, const void *b)
{
    const struct pf_stop *first = a, *second = b;
    return first->group != second->group ? (first->group > second->group) - (first->group < second->group)
                                         : (first->position > second->position) - (first->position < second->position);
}

/* Whether the node is on the line along dimension i. */
static bool is_on_line(const struct coordinate *node, const struct coordinate *line, int i)
{
    for (int k = 0; k < node->dims; k++)
        if (k != i && node->at[k] != line->at[k])
            return false;
    return true;
}

/* Counts the ranks on the line through member 0, and stores the ranks if there is room. */
static void find_stops(struct pf_places *places, int i, int ranks, const int64_t *node, const int *group)
{
    places->stops[i] = 0;
    for (int r = 0; r < ranks; r++) {
        struct coordinate at = torus_coordinate(&places->torus, node[r]);
        if (!is_on_line(&at, &places->at[0], i))
            continue;
        if (places->line[i])
            places->line[i][places->stops[i]] = (struct pf_stop){group[r], at.at[i]};
        places->stops[i]++;
    }
}

int pf_places_find(const struct torus *torus, int ranks, const int64_t *node, const int *group, int mine,
                   struct pf_places *places)
{
    int members = 0;
    *places = (struct pf_places){.torus = *torus};
    if (!(places->at = calloc((size_t)ranks, sizeof *places->at)))
        return no_memory(ranks);
    for (int r = 0; r < ranks; r++)
        if (group[r] == mine)
            places->at[members++] = torus_coordinate(torus, node[r]);
    for (int i = 0; i < torus->dims; i++) {
        find_stops(places, i, ranks, node, group);
        if (!(places->line[i] = calloc((size_t)places->stops[i], sizeof *places->line[i])))
            return no_memory(ranks);
        find_stops(places, i, ranks, node, group);
        qsort(places->line[i], (size_t)places->stops[i], sizeof *places->line[i], by_group);
    }
    return PENCILFFT_OK;
}

void pf_places_release(struct pf_places *places)
{
    free(places->at);
    for (int i = 0; i < MAX_DIMS; i++)
        free(places->line[i]);
}

/* ---- without places ------------------------------------------------------------------------------------------------- */

static void order_pairs(int p, int me, struct pf_partners *partners)
{
    bool power_of_two = (p & (p - 1)) == 0;
    for (int s = 1, n = 0; s < p; s++) {
        add_message(partners, &n, power_of_two ? me ^ s : (me + s) % p, power_of_two ? me ^ s : (me - s + p) % p);
        end_phase(partners, n);
    }
}

/* Partners at a distance up and down the list of members. */
static void add_both(int p, int me, int distance, struct pf_partners *partners, int *n)
{
    int up = (me + distance) % p, down = (me - distance + p) % p;
    add_message(partners, n, up, down);
    if (up != down)
        add_message(partners, n, down, up);
}

/* Both ways at once, small distances beside large distances. */
static void order_distances(int p, int me, struct pf_partners *partners)
{
    int n = 0, started = 0;
    for (int small = 1, large = p / 2; small <= large; small++, large--) {
        add_both(p, me, small, partners, &n);
        if (large > small)
            add_both(p, me, large, partners, &n);
        if (n - started >= MOST_MESSAGES / 2 || large - small <= 1) {
            end_phase(partners, n);
            started = n;
        }
    }
}

/* ---- lists of positions --------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    int first = *(const int *)a, second = *(const int *)b;
    return (first > second) - (first < second);
}

/* Sorts the list and removes duplicates; returns the new length. */
static int make_unique(int *list, int n)
{
    int kept = 0;
    qsort(list, (size_t)n, sizeof *list, ascending);
    for (int k = 0; k < n; k++)
        if (k == 0 || list[k] != list[k - 1])
            list[kept++] = list[k];
    return kept;
}

static int number_among(const int *list, int n, int value)
{
    const int *found = bsearch(&value, list, (size_t)n, sizeof *list, ascending);
    return (int)(found - list);
}

/* ---- the box of a group --------------------------------------------------------------------------------------------- */

/* Cell number of an index: slot fastest, then the dimensions of the torus in order. */
struct box {
    int dims;              /* of the torus; index 0 is the slot, index i + 1 the position in dimension i */
    int extent[BOX_DIMS];
    int *position[MAX_DIMS]; /* the occurring coordinates, ascending */
    int64_t (*load[MAX_DIMS])[2]; /* by shift: of the busiest link up and down, twice the messages of all groups */
    int *member;           /* by cell */
    int me;                /* my cell */
};

static void box_release(struct box *box)
{
    for (int i = 0; i < box->dims; i++) {
        free(box->position[i]);
        free(box->load[i]);
    }
    free(box->member);
}

static int find_positions(struct box *box, int i, int p, const struct coordinate *at)
{
    int *position = box->position[i] = calloc((size_t)p, sizeof *position);
    if (!position)
        return no_memory(p);
    for (int j = 0; j < p; j++)
        position[j] = at[j].at[i];
    box->extent[i + 1] = make_unique(position, p);
    return PENCILFFT_OK;
}

/* Number of a member's node in the box. */
static int node_of(const struct box *box, const struct coordinate *at)
{
    int node = 0;
    for (int i = box->dims - 1; i >= 0; i--)
        node = node * box->extent[i + 1] + number_among(box->position[i], box->extent[i + 1], at->at[i]);
    return node;
}

/* Each node has the same number of members, which get its slots in their order; false for other groups. */
static bool fill(struct box *box, int p, int me, int nodes, const struct coordinate *at)
{
    int slots = p / nodes;
    box->extent[0] = slots;
    memset(box->member, -1, (size_t)p * sizeof *box->member);
    for (int j = 0; j < p; j++) {
        int cell = node_of(box, &at[j]) * slots, last = cell + slots;
        while (cell < last && box->member[cell] >= 0)
            cell++;
        if (cell == last)
            return false;
        box->member[cell] = j;
        if (j == me)
            box->me = cell;
    }
    return true;
}

/* *is_box: whether the members fill a box. */
static int box_make(struct box *box, int p, int me, const struct pf_places *places, bool *is_box)
{
    int status = PENCILFFT_OK;
    int64_t nodes = 1;
    *box = (struct box){.dims = places->torus.dims};
    for (int i = 0; i < box->dims && !status; i++)
        if (!(status = find_positions(box, i, p, places->at)) && nodes <= p)
            nodes *= box->extent[i + 1];
    if (!status && !(box->member = calloc((size_t)p, sizeof *box->member)))
        status = no_memory(p);
    *is_box = !status && nodes <= p && p % nodes == 0 && fill(box, p, me, (int)nodes, places->at);
    return status;
}

/* ---- loads of links ------------------------------------------------------------------------------------------------- */

/* A line of nodes with the senders along it. The links between two occupied positions count as a single link. */
struct line {
    int ring; /* its length; 0: no wrap */
    int n, *position;
    int stops, *group, *number; /* by stop: its group, the number of its position */
    int64_t *up, *down; /* how the load changes from link to link */
};

static void line_release(struct line *line)
{
    free(line->position);
    free(line->group);
    free(line->number);
    free(line->up);
    free(line->down);
}

static int line_make(struct line *line, const struct pf_stop *stop, int n, int ring)
{
    size_t size = (size_t)n + 1;
    *line = (struct line){.ring = ring, .stops = n};
    line->position = calloc(size, sizeof *line->position);
    line->group = calloc(size, sizeof *line->group);
    line->number = calloc(size, sizeof *line->number);
    line->up = calloc(size, sizeof *line->up);
    line->down = calloc(size, sizeof *line->down);
    if (!line->position || !line->group || !line->number || !line->up || !line->down)
        return no_memory(n);
    for (int k = 0; k < n; k++)
        line->position[k] = stop[k].position;
    line->n = make_unique(line->position, n);
    for (int k = 0; k < n; k++) {
        line->group[k] = stop[k].group;
        line->number[k] = number_among(line->position, line->n, stop[k].position);
    }
    return PENCILFFT_OK;
}

/* From one position up to another. */
static void go_up(int64_t *change, int n, int from, int to, int weight)
{
    change[from] += weight;
    change[to] -= weight;
    if (to <= from) { /* round the ring */
        change[0] += weight;
        change[n] -= weight;
    }
}

static void add_message_on(struct line *line, int from, int to)
{
    int distance = line->position[to] - line->position[from], ring = line->ring;
    int above = ring ? (distance + ring) % ring : distance, below = ring ? ring - above : -distance;
    int weight = above == below ? 1 : 2;
    if (ring ? above <= below : above > 0)
        go_up(line->up, line->n, from, to, weight);
    if (ring ? below <= above : below > 0)
        go_up(line->down, line->n, to, from, weight);
}

/* Every rank sends to the rank `shift` positions above in its group, in the shorter direction. If a node has several ranks
 * of a group, as many as any other node, they send to the ranks of the same target node. */
static void add_shift(struct line *line, int shift)
{
    for (int first = 0, end; first < line->stops; first = end) {
        int slots = 0, *number = line->number;
        for (end = first; end < line->stops && line->group[end] == line->group[first]; end++)
            slots += number[end] == number[first];
        for (int k = 0, n = end - first; k < n; k++)
            if (number[first + k] != number[first + (k + shift * slots) % n])
                add_message_on(line, number[first + k], number[first + (k + shift * slots) % n]);
    }
}

static int64_t highest(int64_t *change, int n)
{
    int64_t load = 0, most = 0;
    for (int k = 0; k < n; k++) {
        load += change[k];
        most = load > most ? load : most;
    }
    memset(change, 0, (size_t)(n + 1) * sizeof *change);
    return most;
}

static int find_loads(struct box *box, int i, const struct pf_places *places)
{
    const struct torus *torus = &places->torus;
    int n = box->extent[i + 1], ring = torus->wrapped[i] && torus->extent[i] > 2 ? torus->extent[i] : 0; /* 2: one cable */
    struct line line;
    int status = line_make(&line, places->line[i], places->stops[i], ring);
    if (!status && !(box->load[i] = calloc((size_t)n, sizeof *box->load[i])))
        status = no_memory(n);
    for (int shift = 1; shift < n && !status; shift++) {
        add_shift(&line, shift);
        box->load[i][shift][0] = highest(line.up, line.n);
        box->load[i][shift][1] = highest(line.down, line.n);
    }
    line_release(&line);
    return status;
}

static int find_all_loads(struct box *box, const struct pf_places *places)
{
    int status = PENCILFFT_OK;
    for (int i = 0; i < box->dims && !status; i++)
        status = find_loads(box, i, places);
    return status;
}

/* ---- phases --------------------------------------------------------------------------------------------------------- */

/* An offset and its opposite, which may be the same offset. */
struct offsets {
    int v, opposite;
    int64_t load[WAYS], most; /* of both: by dimension and direction; the largest */
};

/* The cell at an offset; with sign -1 at the opposite offset. */
static int moved(const struct box *box, int cell, int v, int sign)
{
    int result = 0;
    for (int i = 0, scale = 1; i <= box->dims; i++) {
        int n = box->extent[i];
        result += scale * ((cell % n + sign * (v % n) + n) % n);
        cell /= n;
        v /= n;
        scale *= n;
    }
    return result;
}

static void add_load(const struct box *box, int v, int64_t load[WAYS])
{
    v /= box->extent[0];
    for (int i = 0, way = 0; i < box->dims; i++, way += 2) {
        const int64_t *shift = box->load[i][v % box->extent[i + 1]];
        load[way] += shift[0];
        load[way + 1] += shift[1];
        v /= box->extent[i + 1];
    }
}

static int64_t largest(const int64_t load[WAYS])
{
    int64_t most = 0;
    for (int i = 0; i < WAYS; i++)
        most = load[i] > most ? load[i] : most;
    return most;
}

static int64_t total(const int64_t load[WAYS])
{
    int64_t sum = 0;
    for (int i = 0; i < WAYS; i++)
        sum += load[i];
    return sum;
}

static int by_load(const void *a, const void *b)
{
    const struct offsets *first = a, *second = b;
    return first->most != second->most ? (first->most < second->most) - (first->most > second->most)
                                       : (first->v > second->v) - (first->v < second->v);
}

/* All offsets but 0, the largest load first. */
static int list_offsets(const struct box *box, int p, struct offsets *list)
{
    int n = 0;
    for (int v = 1; v < p; v++) {
        int opposite = moved(box, 0, v, -1);
        if (opposite < v)
            continue;
        struct offsets *o = &list[n++];
        *o = (struct offsets){.v = v, .opposite = opposite};
        add_load(box, v, o->load);
        if (opposite != v)
            add_load(box, opposite, o->load);
        o->most = largest(o->load);
    }
    qsort(list, (size_t)n, sizeof *list, by_load);
    return n;
}

/* A phase under construction: its loads, and all loads not in earlier phases. */
struct phase {
    int64_t load[WAYS], left[WAYS];
    int messages;
};

/* The time of the phase with these offsets added, plus a lower bound for the phases behind. */
static int64_t time_with(const struct phase *phase, const struct offsets *o, int64_t load[WAYS])
{
    int64_t behind[WAYS];
    for (int i = 0; i < WAYS; i++) {
        load[i] = phase->load[i] + (o ? o->load[i] : 0);
        behind[i] = phase->left[i] - load[i];
    }
    return largest(load) + largest(behind);
}

/* Number in the list of the offsets with the least cost; among equals, the offsets that fill the links best. */
static int best_to_join(const struct phase *phase, const struct offsets *list, int n)
{
    int best = 0;
    int64_t least = INT64_MAX, least_idle = INT64_MAX, load[WAYS];
    for (int i = 0; i < n && i < LOOK; i++) {
        int64_t time = time_with(phase, &list[i], load), idle = WAYS * largest(load) - total(load);
        if (time < least || (time == least && idle < least_idle)) {
            best = i;
            least = time;
            least_idle = idle;
        }
    }
    return best;
}

/* Moves offsets from the list to the phase. */
static void take(const struct box *box, struct phase *phase, struct offsets *list, int *n, int i,
                 struct pf_partners *partners, int *messages)
{
    const struct offsets o = list[i];
    for (int sign = 1; sign >= (o.v == o.opposite ? 1 : -1); sign -= 2) {
        add_message(partners, messages, box->member[moved(box, box->me, o.v, sign)],
                    box->member[moved(box, box->me, o.v, -sign)]);
        phase->messages++;
    }
    for (int way = 0; way < WAYS; way++)
        phase->load[way] += o.load[way];
    memmove(&list[i], &list[i + 1], (size_t)(--*n - i) * sizeof *list);
}

static void order_in_box(const struct box *box, struct offsets *list, int n, struct pf_partners *partners)
{
    struct phase phase = {.messages = 0};
    int64_t load[WAYS];
    for (int i = 0; i < n; i++)
        for (int way = 0; way < WAYS; way++)
            phase.left[way] += list[i].load[way];
    for (int messages = 0; n > 0; end_phase(partners, messages)) {
        for (int way = 0; way < WAYS; way++)
            phase.left[way] -= phase.load[way];
        memset(phase.load, 0, sizeof phase.load);
        phase.messages = 0;
        int64_t all = largest(phase.left);
        take(box, &phase, list, &n, 0, partners, &messages);
        while (n > 0 && phase.messages < MOST_MESSAGES && time_with(&phase, NULL, load) > all)
            take(box, &phase, list, &n, best_to_join(&phase, list, n), partners, &messages);
    }
}

/* *is_box as in box_make(); if false, there is no order. */
static int try_box(int p, int me, const struct pf_places *places, struct pf_partners *partners, bool *is_box)
{
    struct box box;
    struct offsets *list = NULL;
    int status = box_make(&box, p, me, places, is_box);
    if (!status && *is_box && !(status = find_all_loads(&box, places)) && !(list = calloc((size_t)p, sizeof *list)))
        status = no_memory(p);
    if (!status && *is_box)
        order_in_box(&box, list, list_offsets(&box, p, list), partners);
    free(list);
    box_release(&box);
    return status;
}

/* ---- the order ------------------------------------------------------------------------------------------------------- */

int pf_partners_make(int p, int me, const struct pf_places *places, struct pf_partners *partners)
{
    bool is_box = false;
    int status = PENCILFFT_OK;
    *partners = (struct pf_partners){.phases = 0};
    partners->end = calloc((size_t)p, sizeof *partners->end);
    partners->target = calloc((size_t)p, sizeof *partners->target);
    partners->source = calloc((size_t)p, sizeof *partners->source);
    if (!partners->end || !partners->target || !partners->source)
        return no_memory(p);
    if (places)
        status = try_box(p, me, places, partners, &is_box);
    if (!status && !is_box && places)
        order_distances(p, me, partners);
    else if (!status && !is_box)
        order_pairs(p, me, partners);
    return status;
}

void pf_partners_release(struct pf_partners *partners)
{
    free(partners->end);
    free(partners->target);
    free(partners->source);
}
