/* The way of the data through a transform: passes, and exchanges between them. */
#ifndef PF_ROUTE_H
#define PF_ROUTE_H

#include "lines/pass.h"
#include "pencilfft.h"

enum { PF_MAX_PASSES = PF_MAX_ARRAYS + 2 };

struct pf_move;

struct pf_link {
    int exchange; /* -1: none, the pass after reads what the one before wrote */
    int from, to; /* buffers */
};

/* Passes of a forward transform. */
struct pf_form {
    int n;
    struct pf_pass_form {
        int array;    /* what is passed over is divided like this array */
        bool z;       /* is z transformed */
        int u;        /* the axis beside it, or -1: only z, y lies beside it */
        int exchange; /* behind the pass, or -1 */
    } pass[PF_MAX_PASSES];
};

struct pf_route {
    int n;
    struct pf_form form;
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
