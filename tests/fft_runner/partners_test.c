/* The order of partners of exchange p2p: every pair of a group once, sender and receiver in the same phase, and on a torus
 * evenly used links. Loads are counted here hop by hop for all groups together. */
#include <inttypes.h>
#include <stdlib.h>

#include "check.h"
#include "exchange/partner_order.h"

enum { MOST_RANKS = 512, MOST_PHASES = MOST_RANKS };

static int64_t carried[MOST_PHASES + 1][MOST_RANKS * 2 * MAX_DIMS]; /* by phase and link, twice the messages; last: of all */

static void add_hops(const struct torus *t, int phase, struct coordinate *here, int i, int direction, int length, int weight)
{
    int n = t->extent[i];
    for (; length > 0; length--) {
        int64_t link = (torus_node(t, here) * t->dims + i) * 2 + (direction > 0);
        carried[phase][link] += weight;
        carried[MOST_PHASES][link] += weight;
        here->at[i] = (here->at[i] + direction + n) % n;
    }
}

/* Dimension by dimension, half of the message in each direction if both ways are equally long. */
static void add_message(const struct torus *t, int phase, int64_t from, int64_t to)
{
    struct coordinate here = torus_coordinate(t, from), there = torus_coordinate(t, to);
    for (int i = 0; i < t->dims; i++) {
        int n = t->extent[i], distance = there.at[i] - here.at[i], up = (distance + n) % n, down = n - up;
        bool ring = t->wrapped[i] && n > 2;
        struct coordinate back = here;
        if (!ring)
            add_hops(t, phase, &here, i, distance > 0 ? 1 : -1, abs(distance), 2);
        else if (up == down) {
            add_hops(t, phase, &here, i, 1, up, 1);
            add_hops(t, phase, &back, i, -1, down, 1);
        } else
            add_hops(t, phase, &here, i, up < down ? 1 : -1, up < down ? up : down, 2);
    }
}

static int64_t busiest(int phase)
{
    int64_t most = 0;
    for (int link = 0; link < MOST_RANKS * 2 * MAX_DIMS; link++)
        most = carried[phase][link] > most ? carried[phase][link] : most;
    return most;
}

/* Each two members are partners once, in the same phase on both sides. */
static void check_pairs(int p, const struct pf_partners *all)
{
    static int phase_of[MOST_RANKS][MOST_RANKS];
    memset(phase_of, -1, sizeof phase_of);
    for (int j = 0; j < p; j++) {
        CHECK_INT(all[j].phases, all[0].phases);
        CHECK_INT(all[j].phases ? all[j].end[all[j].phases - 1] : 0, p - 1);
        for (int i = 0, k = 0; i < all[j].phases; i++)
            for (; k < all[j].end[i]; k++)
                phase_of[j][all[j].target[k]] = i;
    }
    for (int j = 0; j < p; j++)
        for (int i = 0, k = 0; i < all[j].phases; i++)
            for (; k < all[j].end[i]; k++)
                CHECK(all[j].source[k] != j && phase_of[all[j].source[k]][j] == i);
}

/* Ranks in the order of `node`; groups of rows and columns of a grid RxC. The phases together may take `over` times as long
 * as the busiest link of the whole exchange. */
static void check_groups(const struct torus *torus, const int64_t *node, int R, int C, bool columns, double over)
{
    static struct pf_partners all[MOST_RANKS];
    static int group[MOST_RANKS];
    int p = columns ? C : R, ranks = R * C, phases = 0;
    memset(carried, 0, sizeof carried);
    for (int r = 0; r < ranks; r++)
        group[r] = columns ? r % R : r / R;
    for (int g = 0; g < ranks / p; g++) {
        struct pf_places places;
        CHECK_INT(pf_places_find(torus, ranks, node, group, g, &places), 0);
        for (int j = 0; j < p; j++)
            CHECK_INT(pf_partners_make(p, j, &places, &all[j]), 0);
        check_pairs(p, all);
        for (int j = 0; j < p; j++) {
            int from = columns ? g + R * j : g * R + j;
            for (int i = 0, k = 0; i < all[j].phases; i++)
                for (; k < all[j].end[i]; k++)
                    add_message(torus, i, node[from], node[columns ? g + R * all[j].target[k] : g * R + all[j].target[k]]);
            phases = all[j].phases > phases ? all[j].phases : phases;
            pf_partners_release(&all[j]);
        }
        pf_places_release(&places);
    }
    int64_t sum = 0, whole = busiest(MOST_PHASES);
    for (int i = 0; i < phases; i++)
        sum += busiest(i);
    CHECK((double)sum <= over * (double)whole);
    if ((double)sum > over * (double)whole)
        printf("%dx%d %s: %lld of %lld\n", R, C, columns ? "columns" : "rows", (long long)sum, (long long)whole);
}

/* Ranks in the order of the nodes, `slots` on each. */
static void check_torus(const char *text, int slots, int R, int C, double over)
{
    struct torus torus;
    static int64_t node[MOST_RANKS];
    CHECK_INT(torus_parse(text, &torus), 0);
    CHECK_INT(torus_nodes(&torus) * slots, R * C);
    for (int r = 0; r < R * C; r++)
        node[r] = r / slots;
    check_groups(&torus, node, R, C, false, over);
    check_groups(&torus, node, R, C, true, over);
}

static void links_are_used_alike(void)
{
    static const struct {
        const char *torus;
        int slots, R, C;
    } cases[] = {
        {"8", 1, 8, 1},        {"5", 1, 5, 1},        {"7:mesh", 1, 7, 1},   {"2", 1, 2, 1},       {"1", 1, 1, 1},
        {"8x8", 1, 8, 8},      {"8x8", 1, 4, 16},     {"5x5", 1, 5, 5},      {"5x5", 1, 25, 1},    {"4x8", 1, 4, 8},
        {"4x8", 1, 8, 4},      {"8x4:mesh", 1, 4, 8}, {"8x4:mesh", 1, 8, 4}, {"4x4x4", 1, 4, 16},  {"4x4x4", 1, 8, 8},
        {"3x3x3", 1, 3, 9},    {"3x3x3", 1, 9, 3},    {"4x4x8", 1, 8, 16},   {"8wx4", 1, 8, 4},    {"3x4x5", 1, 3, 20},
        {"4x4", 2, 8, 4},      {"4x4", 2, 2, 16},     {"4x4", 4, 8, 8},      {"2x2x2x2", 1, 4, 4}, {"8x8x8", 1, 8, 64},
        {"5x7:mesh", 1, 5, 7}, {"1x6x1", 1, 1, 6},    {"4x4x4x2", 1, 16, 8}, {"12x12", 1, 12, 12},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_torus(cases[i].torus, cases[i].slots, cases[i].R, cases[i].C, 1.05);
}

/* Any places of the ranks give a valid order; its quality depends on the places. */
static void any_places_have_an_order(void)
{
    static const struct {
        const char *torus;
        int slots, R, C;
    } cases[] = {{"6x6", 1, 4, 9}, {"7x5", 1, 5, 7}, {"4x3", 1, 6, 2}, {"3x3", 3, 9, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        check_torus(cases[i].torus, cases[i].slots, cases[i].R, cases[i].C, 4);
    struct torus torus;
    int64_t node[64];
    CHECK_INT(torus_parse("8x8", &torus), 0);
    for (int r = 0; r < 64; r++)
        node[r] = r;
    srand(1);
    for (int r = 63; r > 0; r--) {
        int other = rand() % (r + 1);
        int64_t kept = node[r];
        node[r] = node[other];
        node[other] = kept;
    }
    check_groups(&torus, node, 8, 8, false, 4);
    check_groups(&torus, node, 32, 2, false, 4);
}

static void without_places_pairs_meet(void)
{
    static struct pf_partners all[MOST_RANKS];
    for (int p = 1; p <= 9; p++) {
        for (int j = 0; j < p; j++)
            CHECK_INT(pf_partners_make(p, j, NULL, &all[j]), 0);
        check_pairs(p, all);
        CHECK_INT(all[0].phases, p - 1);
        for (int j = 0; j < p; j++)
            pf_partners_release(&all[j]);
    }
}

/* Partners of the members of a group, a line each, targets and sources; phases are separated. */
static void print_group(const struct pf_places *places, int p)
{
    for (int me = 0; me < p; me++) {
        struct pf_partners order;
        CHECK_INT(pf_partners_make(p, me, places, &order), 0);
        for (int i = 0, k = 0; i < order.phases; i++) {
            fputs(i ? "|" : "", stdout);
            for (; k < order.end[i]; k++)
                printf(" %d %d", order.target[k], order.source[k]);
        }
        printf("\n");
        pf_partners_release(&order);
    }
}

/* For each group of rows, then of columns; the nodes of the ranks are read from standard input. */
static void print_order(const char *text, int R, int C)
{
    static int64_t node[MOST_RANKS];
    static int group[MOST_RANKS];
    struct torus torus;
    CHECK_INT(torus_parse(text, &torus), 0);
    for (int r = 0; r < R * C; r++)
        CHECK_INT(scanf("%" SCNd64, &node[r]), 1);
    for (int columns = 0; columns < 2; columns++) {
        for (int r = 0; r < R * C; r++)
            group[r] = columns ? r % R : r / R;
        for (int g = 0; g < (columns ? R : C); g++) {
            struct pf_places places;
            CHECK_INT(pf_places_find(&torus, R * C, node, group, g, &places), 0);
            print_group(&places, columns ? C : R);
            pf_places_release(&places);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc == 4) {
        print_order(argv[1], atoi(argv[2]), atoi(argv[3]));
        return check_failures > 0;
    }
    links_are_used_alike();
    any_places_have_an_order();
    without_places_pairs_meet();
    return check_result();
}
