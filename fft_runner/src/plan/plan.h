/* A plan: what is known of a transform on one rank. Data alone; what is done with it is in the files named at each part. */
#pragma once

#include "exchange/exchange.h"
#include "exchange/messages.h"
#include "exchange/sync.h"
#include "geometry/geometry.h"
#include "lines/line_fft.h"
#include "lines/pass.h"
#include "plan/phases.h"
#include "speed/clock.h"

enum { PF_DIRECTIONS = 2 }; /* 0 is forward, 1 backward */
enum { PF_MAX_PASSES = PF_MAX_ARRAYS + 2, PF_NO_EXCHANGE = -1, PF_NO_AXIS = -1 };

/* malloc, not fftw_malloc, so that a simulator that shares large mallocs sees them; hence aligned by hand. */
struct pf_buffer {
    void *raw, *data;
    struct pf_buffer *next;
};

/* One exchange in one direction: what moves, by which messages, and the algorithm's own state. transfer.c */
struct pf_transfer {
    const struct pf_exchange *exchange;
    struct pf_transpose transpose;
    struct pf_parts sent, received; /* empty with PF_BOXES */
    void *state;
};

/* What a pass of a forward transform does. passes.c */
struct pf_pass_form {
    int array;    /* what is passed over is divided like this array */
    bool z;       /* is z transformed */
    int u;        /* the axis beside it, or PF_NO_AXIS: only z, y lies beside it */
    int exchange; /* behind the pass, or PF_NO_EXCHANGE */
};

/* What lies between two passes: an exchange, or nothing: then the second pass reads what the first one wrote. joints.c */
struct pf_joint {
    int exchange; /* or PF_NO_EXCHANGE */
    int from, to; /* buffers */
};

/* What execute does, one after the other. steps.c, execute.c */
struct pf_step {
    enum pf_step_kind { PF_PASS, PF_PACK, PF_UNPACK, PF_SYNC, PF_BEGIN, PF_START, PF_FINISH, PF_END } kind;
    int pass, exchange, slice;
    int from, to;          /* buffers of the exchange */
    struct pf_range range; /* of the pass */
};

struct pf_steps {
    int n;
    struct pf_step *step;
};

/* A transform in one direction: passes and the joints between them, and the same as a list of steps; each exchange alone. */
struct pf_sequence {
    int n;
    struct pf_pass pass[PF_MAX_PASSES];
    struct pf_joint joint[PF_MAX_PASSES - 1];
    struct pf_steps transform, alone[PF_MAX_EXCHANGES];
};

struct pencilfft_plan_s {
    struct pf_geometry geometry; /* of the exchanged elements, those of the forward output */
    struct pf_transform transform;
    int rank, ranks, directions;
    const struct pf_exchange *exchange, *chosen[PF_MAX_EXCHANGES]; /* asked for; taken for each */
    const struct pf_precision *precision;
    const struct pf_rigor *rigor;
    const struct pf_sync *sync;

    int exchanges; /* of the decomposition; arrays have this many in use, or one more */
    MPI_Comm all, group[PF_MAX_EXCHANGES];
    int p[PF_MAX_EXCHANGES], me[PF_MAX_EXCHANGES]; /* size of the group, place in it */
    pencilfft_box *boxes[PF_MAX_EXCHANGES][2]; /* of the members, before and after a forward exchange */
    pencilfft_box mine[PF_MAX_ARRAYS];
    pencilfft_box input, output; /* of a forward transform */
    size_t input_bytes, element_bytes; /* of an element that forward takes, and of those after its z transform */
    int fields;
    struct pf_phases phases;

    int passes;
    struct pf_pass_form form[PF_MAX_PASSES];
    struct pf_transfer transfer[PF_DIRECTIONS][PF_MAX_EXCHANGES];
    struct pf_sequence sequence[PF_DIRECTIONS];
    int64_t alloc_elements;
    struct pf_buffer *buffers; /* all allocated buffers, including the work buffers. buffers.c */
    void *work[PF_WORKS];
    double *auto_seconds[PF_MAX_EXCHANGES]; /* by number of the exchange; NULL without "auto" */

    struct pf_clock clock;
    char *text; /* of pencilfft_plan_text() */
};

static inline bool pf_has_direction(const struct pencilfft_plan_s *plan, int backward)
{
    return plan->directions & (backward ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD);
}

static inline bool pf_is_exchange(const struct pencilfft_plan_s *plan, int e)
{
    return plan && e >= 0 && e < plan->exchanges;
}

/* Grid rank of member j of my group. */
static inline int pf_member(const struct pencilfft_plan_s *plan, int e, int j)
{
    return pf_grid_member(&plan->geometry, plan->geometry.decomposition->exchange[e].over, plan->rank, j);
}

/* What a forward transform takes of a rank: the first array, of real numbers where it makes complex ones of them. */
static inline pencilfft_box pf_input_box(const struct pencilfft_plan_s *plan, int rank)
{
    struct pf_geometry g = plan->geometry;
    g.n[2] = plan->transform.input_nz;
    return pf_array_box(&g, 0, rank);
}
