/* The order in which a rank exchanges messages with the other members of its group. No communication. */
#pragma once

#include "common/torus.h"

/* A rank on a line of nodes: its position there, and its group as the number of any member. */
struct pf_stop {
    int group, position;
};

/* The members of a group in a torus, and the other users of their links. */
struct pf_places {
    struct torus torus;
    struct coordinate *at;          /* of each member; NULL if unknown */
    struct pf_stop
        *line[MAX_DIMS]; /* along each dimension through member 0: the ranks of all groups there, by group and position */
    int stops[MAX_DIMS];
};

/* From the nodes of all ranks and their groups; ranks with the same group number are its members in order. Always
 * release. */
int pf_places_find(const struct torus *torus, int ranks, const int64_t *node, const int *group, int mine,
                   struct pf_places *places);
void pf_places_release(struct pf_places *places);

/* Message k goes to member target[k] while a message from source[k] arrives; phase i ends before message end[i]. All members
 * have the same number of phases. */
struct pf_partners {
    int phases, *end;
    int *target, *source;
};

/* For member `me` of p; without places (NULL), every phase has one message. Release the order in any case. */
int pf_partners_make(int p, int me, const struct pf_places *places, struct pf_partners *partners);
void pf_partners_release(struct pf_partners *partners);
