#ifndef PF_PLAN_H
#define PF_PLAN_H

#include "exchange/exchange.h"
#include "exchange/messages.h"
#include "exchange/sync.h"
#include "geometry/pencils.h"
#include "lines/line_fft.h"
#include "plan/route.h"
#include "speed/phases.h"

/* malloc and not fftw_malloc, so that a simulator that folds large mallocs sees these; hence aligned by hand. */
struct pf_buffer {
    void *raw, *data;
    struct pf_buffer *next;
};

enum { PF_WAYS = 2 }; /* forward, backward */
enum { PF_PENCILS = 3, PF_EXCHANGES = 2, PF_WORKS = 4 };

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
    const struct pf_exchange *exchange, *chosen[PF_EXCHANGES]; /* asked for; taken for row and column */
    const struct pf_precision *precision;
    const struct pf_rigor *rigor;
    const struct pf_sync *sync;

    MPI_Comm all, group[PF_EXCHANGES];              /* row, column */
    int p[PF_EXCHANGES], me[PF_EXCHANGES];          /* size of row and column, place in them */
    pencilfft_box *boxes[PF_EXCHANGES][2];          /* of the members, before and after a forward exchange */
    struct pf_move moves[PF_WAYS][PF_EXCHANGES];
    size_t input_bytes, element_bytes; /* of an element that forward takes, and of those after its z transform */
    int fields;
    struct pf_route route[PF_WAYS];

    pencilfft_box mine[PF_PENCILS];                 /* by pencil */
    pencilfft_box input, output;                    /* of a forward transform */
    int64_t alloc_elements;
    struct pf_buffer *buffers;                      /* all that was handed out, work among them */
    void *work[PF_WORKS];                           /* messages to send, messages received; see route.c */
    struct pf_clock clock;
    double *auto_seconds[PF_EXCHANGES];             /* by number of the exchange; NULL without "auto" */
};

/* All that follows from plan->chosen[]: routes, exchanges, work buffers, passes; and its end, with every buffer that was
 * handed out. Collective. Fails on all ranks or on none, and then too is to be cleared. */
int pf_plan_build(pencilfft_plan plan);
void pf_plan_clear(pencilfft_plan plan);
/* Grid rank of member j of my row or column. */
int pf_member(const struct pencilfft_plan_s *plan, pencilfft_exchange e, int j);
/* Run one exchange; `from` may be lost. Phases are booked. */
int pf_exchange_run(pencilfft_plan plan, int way, pencilfft_exchange e, void *from, void *to);

static inline int pf_way(pencilfft_direction direction)
{
    return direction == PENCILFFT_BACKWARD;
}

/* Phases of an exchange, and the exchange itself with what it may interleave. */
struct pf_exchange_phases {
    pencilfft_phase pack, exchange, unpack;
};
extern const struct pf_exchange_phases pf_exchange_phases[PF_EXCHANGES];
int pf_move_run(pencilfft_plan plan, int way, int e, const struct pf_run *run, void *from, void *to);
/* One of the plan's buffers, or the memory of an exchange; not those of the caller. NULL where there is none. */
void *pf_plan_buffer(const struct pencilfft_plan_s *plan, int way, enum pf_buffer_id id);
/* The buffers whose messages an exchange alone moves: those it was connected with. */
void pf_move_buffers(const struct pencilfft_plan_s *plan, int way, int e, void **from, void **to);

#endif
