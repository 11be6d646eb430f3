/* In which order a rank exchanges messages with the other members of its group. No communication. */
#pragma once

#include "common/torus.h"

/* A rank on a line of nodes: its position there, and its group as the number of any one member. */
struct pf_stop {
    int group, position;
};

/* Where the members of a group are in a torus, and who else uses the links that they use. */
struct pf_places {
    struct torus torus;
    struct coordinate *at;          /* of each member; NULL: nothing is known */
    struct pf_stop
        *line[MAX_DIMS]; /* along each dimension through member 0: the ranks of all groups there, by group and position */
    int stops[MAX_DIMS];
};

/* From the nodes of all ranks and their groups; those of one group are its members in order. To be released in any case. */
int pf_places_find(const struct torus *torus, int ranks, const int64_t *node, const int *group, int mine,
                   struct pf_places *places);
void pf_places_release(struct pf_places *places);

/* Message k goes to member target[k] while one comes from source[k]; phase i ends before message end[i]. All members have as
 * many phases. */
struct pf_partners {
    int phases, *end;
    int *target, *source;
};

/* For member `me` of p; without places (NULL), every phase has one message. To be released in any case. */
int pf_partners_make(int p, int me, const struct pf_places *places, struct pf_partners *partners);
void pf_partners_release(struct pf_partners *partners);
