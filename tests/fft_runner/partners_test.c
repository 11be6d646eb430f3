/* Prints the order of partners of exchange p2p, which test_units.py checks: partners_test TORUS R C, with the node of each
 * rank on standard input; partners_test - P 1 for a group of P ranks whose places are not known. A line for each member of
 * each group of rows, then of columns: targets and sources in turn; "|" separates phases. */
#include <inttypes.h>
#include <stdlib.h>

#include "check.h"
#include "exchange/partner_order.h"

enum { MOST_RANKS = 512 };

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
    if (argc == 4 && strcmp(argv[1], "-"))
        print_order(argv[1], atoi(argv[2]), atoi(argv[3]));
    else if (argc == 4)
        print_group(NULL, atoi(argv[2]));
    return argc != 4 || check_failures > 0;
}
