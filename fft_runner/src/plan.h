#ifndef PF_PLAN_H
#define PF_PLAN_H

#include <fftw3.h>

#include "exchange.h"
#include "line_fft.h"
#include "messages.h"
#include "pencils.h"
#include "phases.h"
#include "sync.h"

/* malloc and not fftw_malloc, so that a simulator that folds large mallocs sees these; hence aligned by hand. */
struct pf_buffer {
    void *raw, *data;
    struct pf_buffer *next;
};

enum { PF_WAYS = 2 }; /* forward, backward */
enum { PF_STAGES = 3, PF_EXCHANGES = 2 };

/* One exchange, one way: what moves, by which messages, and the algorithm's own state. */
struct pf_move {
    const struct pf_exchange *exchange;
    struct pf_transpose transpose;
    struct pf_parts sent, received; /* empty with PF_BOXES */
    void *state;
};

struct pencilfft_plan_s {
    struct pf_geometry geometry;
    int rank, ranks, directions;
    const struct pf_exchange *exchange, *chosen[PF_EXCHANGES]; /* asked for; taken for row and column */
    const struct pf_rigor *rigor;
    const struct pf_sync *sync;

    MPI_Comm all, group[PF_EXCHANGES];              /* row, column */
    int p[PF_EXCHANGES], me[PF_EXCHANGES];          /* size of row and column, place in them */
    pencilfft_box *boxes[PF_EXCHANGES][2];          /* of the members, before and after a forward exchange */
    struct pf_move moves[PF_WAYS][PF_EXCHANGES];
    size_t element_bytes;
    int fields;
    fftw_plan lines[PF_WAYS][PF_STAGES];            /* by way and pencil */

    pencilfft_box mine[PF_STAGES];                  /* by pencil */
    int64_t alloc_elements;
    struct pf_buffer *buffers;                      /* all that was handed out, work among them */
    void *work[2];                                  /* messages to send, messages received */
    struct pf_clock clock;
    double *auto_seconds[PF_EXCHANGES];             /* by number of the exchange; NULL without "auto" */
};

/* One exchange, one way, by that algorithm: local planning, then what is collective over the group; and its end. */
int pf_move_plan(pencilfft_plan plan, int way, int e, const struct pf_exchange *exchange);
int pf_move_connect(pencilfft_plan plan, int way, int e);
void pf_move_release(struct pf_move *move);
/* Grid rank of member j of my row or column. */
int pf_member(const struct pencilfft_plan_s *plan, pencilfft_exchange e, int j);
/* Run one exchange; `from` may be lost. Phases are booked. */
int pf_exchange_run(pencilfft_plan plan, int way, pencilfft_exchange e, void *from, void *to);

static inline int pf_way(pencilfft_direction direction)
{
    return direction == PENCILFFT_BACKWARD;
}

/* The order of things in each direction; plan.c and execute.c both follow it. */
struct pf_route {
    pencilfft_pencil pencil[PF_STAGES];
    pencilfft_exchange exchange[PF_EXCHANGES];
};
extern const struct pf_route pf_routes[PF_WAYS];
extern const int pf_line_axis[PF_STAGES]; /* transformed axis, by pencil */

#endif
