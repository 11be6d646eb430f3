#ifndef PF_PLAN_H
#define PF_PLAN_H

#include "exchange/exchange.h"
#include "exchange/messages.h"
#include "exchange/sync.h"
#include "geometry/geometry.h"
#include "lines/line_fft.h"
#include "plan/phases.h"
#include "plan/route.h"
#include "speed/clock.h"

/* malloc and not fftw_malloc, so that a simulator that folds large mallocs sees these; hence aligned by hand. */
struct pf_buffer {
    void *raw, *data;
    struct pf_buffer *next;
};

enum { PF_WAYS = 2 }; /* forward, backward */

/* One exchange, one way: what moves, by which messages, and the algorithm's own state. */
struct pf_move {
    const struct pf_exchange *exchange;
    struct pf_transpose transpose;
    struct pf_parts sent, received; /* empty with PF_BOXES */
    void *state;
};

struct pencilfft_plan_s {
    struct pf_geometry geometry; /* of what is exchanged, which is what forward gives */
    struct pf_transform transform;
    int rank, ranks, directions;
    const struct pf_exchange *exchange, *chosen[PF_MAX_EXCHANGES]; /* asked for; taken for each */
    const struct pf_precision *precision;
    const struct pf_rigor *rigor;
    const struct pf_sync *sync;

    int exchanges; /* of the decomposition; arrays have this many in use, or one more */
    MPI_Comm all, group[PF_MAX_EXCHANGES];
    int p[PF_MAX_EXCHANGES], me[PF_MAX_EXCHANGES]; /* size of the group, place in it */
    pencilfft_box *boxes[PF_MAX_EXCHANGES][2];     /* of the members, before and after a forward exchange */
    struct pf_move moves[PF_WAYS][PF_MAX_EXCHANGES];
    size_t input_bytes, element_bytes; /* of an element that forward takes, and of those after its z transform */
    int fields;
    struct pf_route route[PF_WAYS];

    pencilfft_box mine[PF_MAX_ARRAYS];
    pencilfft_box input, output;                    /* of a forward transform */
    int64_t alloc_elements;
    struct pf_buffer *buffers;                      /* all that was handed out, work among them */
    void *work[PF_WORKS];                           /* messages to send, messages received; see route.c */
    struct pf_phases phases;
    struct pf_clock clock;
    double *auto_seconds[PF_MAX_EXCHANGES];             /* by number of the exchange; NULL without "auto" */
};

/* All that follows from plan->chosen[]: routes, exchanges, work buffers, passes; and its end, with every buffer that was
 * handed out. Collective. Fails on all ranks or on none, and then too is to be cleared. */
int pf_plan_build(pencilfft_plan plan);
void pf_plan_clear(pencilfft_plan plan);
/* Grid rank of member j of my group. */
int pf_member(const struct pencilfft_plan_s *plan, int e, int j);
bool pf_is_exchange(const struct pencilfft_plan_s *plan, int e);
/* Run one exchange; `from` may be lost. Phases are booked. */
int pf_exchange_run(pencilfft_plan plan, int way, int e, void *from, void *to);

static inline int pf_way(pencilfft_direction direction)
{
    return direction == PENCILFFT_BACKWARD;
}

/* The exchange itself with what it may interleave. */
int pf_move_run(pencilfft_plan plan, int way, int e, const struct pf_run *run, void *from, void *to);
/* One of the plan's buffers, or the memory of an exchange; not those of the caller. NULL where there is none. */
void *pf_plan_buffer(const struct pencilfft_plan_s *plan, int way, int buffer);
/* The buffers whose messages an exchange alone moves: those it was connected with. */
void pf_move_buffers(const struct pencilfft_plan_s *plan, int way, int e, void **from, void **to);

#endif
