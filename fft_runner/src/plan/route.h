/* The way of the data through a transform: passes, and exchanges between them. */
#ifndef PF_ROUTE_H
#define PF_ROUTE_H

#include "lines/pass.h"
#include "pencilfft.h"

enum { PF_MAX_PASSES = 3 };

struct pf_move;

struct pf_link {
    int exchange; /* pencilfft_exchange; -1: none, the pass after reads what the one before wrote */
    enum pf_buffer_id from, to;
};

struct pf_route {
    int n;
    struct pf_pass pass[PF_MAX_PASSES];
    struct pf_link link[PF_MAX_PASSES - 1];
};

/* Which exchanges, in which order and from where to where; nothing is made yet. */
void pf_route_links(pencilfft_plan plan, int way);
/* The passes; moves, work buffers and transform of the plan are there. in and out are overwritten. */
int pf_route_passes(pencilfft_plan plan, int way, void *in, void *out);
int pf_route_run(pencilfft_plan plan, int way, const void *in, void *out);
void pf_route_release(struct pf_route *route);

#endif
