/* A plan: what is known of a transform on one rank. Data alone; what is done with it is in the files named at each part. */
#pragma once

#include "exchange/communicators.h"
#include "exchange/exchange.h"
#include "exchange/messages.h"
#include "exchange/partner_order.h"
#include "exchange/remap.h"
#include "exchange/sync.h"
#include "geometry/bricks.h"
#include "geometry/geometry.h"
#include "handle/handle.h"
#include "handle/phases.h"
#include "lines/line_fft.h"
#include "lines/pass.h"
#include "schedule/schedule.h"
#include "speed/clock.h"

enum { PF_DIRECTIONS = 2 }; /* 0 is forward, 1 backward */
enum { PF_MAX_PASSES = PF_MAX_ARRAYS + 2, PF_NO_EXCHANGE = -1, PF_NO_AXIS = -1 };

/* malloc, not fftw_malloc, so that a simulator that shares large mallocs sees them; hence aligned by hand. */
struct pf_buffer {
    void *raw, *data;
    struct pf_buffer *next;
};

/* Outputs that trials write in turn, so that none is in the caches when its turn comes. buffers.c */
struct pf_outs {
    struct pf_buffer buffer;
    int n, next;
    size_t step; /* bytes from one to the next */
};

/* One exchange of a lane in one direction: what moves, by which messages, and the algorithm's own state. transfer.c */
struct pf_transfer {
    const struct pf_exchange *exchange;
    int number; /* of the exchange in the plan */
    struct pf_transpose transpose;
    struct pf_parts sent, received; /* messages; with PF_BOXES the pieces of a box that are the lane's */
    void *state;
    double started; /* when start returned, beside other work */
};

/* What a pass of a forward transform does. forms.c */
struct pf_pass_form {
    int array;    /* what is passed over is divided like this array of the route */
    bool z;       /* is z transformed */
    int u;        /* the axis beside it, or PF_NO_AXIS: only z, y lies beside it */
    int exchange; /* of the route, behind the pass, or PF_NO_EXCHANGE */
};

/* Where a pass writes what this rank keeps, of an exchange that does not move it: to where it will be read; the same, but
 * among what is sent where that is the array that it reads; among what is sent. From there it is copied. */
enum pf_kept { PF_KEPT_THERE, PF_KEPT_BY_ARRAYS, PF_KEPT_AMONG_SENT };

/* What lies between two passes: an exchange, or nothing: then the second pass reads what the first one wrote. joints.c */
struct pf_joint {
    int exchange; /* of the route, or PF_NO_EXCHANGE */
    int from, to; /* buffers; a lane has its slot in them */
    enum pf_kept kept;
};

/* An order of the exchanges, what goes that way, and the passes between them. routes.c, forms.c */
struct pf_route {
    const struct pf_decomposition *decomposition;
    struct pf_share share;
    int exchange[PF_MAX_EXCHANGES];      /* numbers of its exchanges in the plan */
    int nearest[PF_MAX_EXCHANGES];       /* the axis that is fastest in the messages of each. forms.c */
    pencilfft_box mine[PF_MAX_ARRAYS];   /* of its planes */
    int passes;
    struct pf_pass_form form[PF_MAX_PASSES];
};

/* What travels and is worked on together: all that goes a route, or a chunk of it. lanes.c */
struct pf_lane {
    int route, chunk; /* number of the chunk, or PF_WHOLE_LANE */
    int field, field_end;
    pencilfft_box *boxes[PF_MAX_EXCHANGES][2]; /* of the members, before and after a forward exchange of the route */
    int64_t slot; /* element of a work buffer where its messages begin */
    struct pf_transfer transfer[PF_DIRECTIONS][PF_MAX_EXCHANGES]; /* by exchange of the route */
};
enum { PF_WHOLE_LANE = -1 };

/* What execute does, one after the other. steps.c, execute.c */
struct pf_step {
    enum pf_step_kind { PF_PASS, PF_PACK, PF_UNPACK, PF_SYNC, PF_BEGIN, PF_OWN, PF_START, PF_FINISH, PF_END } kind;
    int backward, lane;
    struct pf_pass *pass;
    struct pf_range range; /* of the pass */
    struct pf_transfer *transfer;
    int from, to;          /* buffers of the exchange */
    enum pf_kept kept;     /* of the exchange */
    int64_t slot;          /* element in them */
};

struct pf_steps {
    int n;
    struct pf_step *step;
};

/* FFTW's plans for several axes at once, stage after stage. whole.c */
enum { PF_WHOLE_STAGES = 2 };
struct pf_whole {
    int stages, shares;
    struct pf_whole_stage {
        int axes;                   /* as bits */
        int shared;                 /* the axis along which threads share it; PF_NO_AXIS: one does all */
        struct pf_line_shape shape; /* but for the extent along that axis */
    } stage[PF_WHOLE_STAGES];
    struct pf_whole_part {  /* what a thread does in a stage */
        void *plan;         /* NULL: nothing */
        int64_t n, in, out; /* indices along the shared axis; bytes from the start of the arrays */
    } *part[2]; /* with two arrays, and in place: all of stage 0, then of stage 1; NULL where passes are faster, or needed */
};

/* A transform in one direction: for each route passes and the joints between them, and the same as a list of steps; each
 * exchange alone. A pass that the routes share is one of the first route. */
struct pf_sequence {
    int n;
    struct pf_pass pass[PF_MAX_ROUTES][PF_MAX_PASSES];
    struct pf_joint joint[PF_MAX_ROUTES][PF_MAX_PASSES - 1];
    struct pf_steps transform, alone[PF_MAX_EXCHANGES];
    struct pf_whole whole;
    bool input_is_work; /* the input, where it is not the output, takes the place of the first work buffer. joints.c */
};

/* What a transform takes, or gives, where its boxes are not those of an array: ends.c */
struct pf_end {
    bool remapped;
    int64_t n[3]; /* extents of what it takes or gives */
    pencilfft_box *given; /* of all ranks; NULL: bricks */
    struct pf_remap *remap; /* from what a forward transform takes, or to what it gives; NULL while it is not made */
};
enum { PF_ENDS = 2 }; /* 0 is before a forward transform, 1 after it */

struct pencilfft_plan_s {
    PF_HANDLE;
    struct pf_geometry geometry; /* of the exchanged elements, those of the forward output */
    struct pf_transform transform;
    int directions;
    int threads; /* that share the work of this rank, as many on all ranks */
    bool destroys_input; /* it may: where in and out are not the same */
    const struct pf_exchange *exchange, *chosen[PF_MAX_EXCHANGES]; /* asked for; taken for each */
    const struct pf_precision *precision;
    const struct pf_rigor *rigor;
    const struct pf_sync *sync;

    int exchanges; /* of the decomposition; arrays have this many in use, or one more */
    MPI_Comm group[PF_MAX_EXCHANGES]; /* of the communicators */
    int p[PF_MAX_EXCHANGES], me[PF_MAX_EXCHANGES]; /* size of the group, place in it */
    struct pf_places places[PF_MAX_EXCHANGES]; /* of the members; `at` is NULL where they are not known. places.c */
    int bricks[3]; /* along x, y and z; 0 without bricks */
    struct pf_end end[PF_ENDS];
    pencilfft_box input; /* of a forward transform, after its remap */
    size_t input_bytes, element_bytes; /* of an element that forward takes, and of those after its z transform */
    int fields;
    struct pf_phases phases;

    bool any_schedule; /* it is not asked for: "auto" finds one */
    struct pf_choice choice; /* of a schedule */
    char schedule[PF_SCHEDULE_TEXT];
    const struct pf_schedule *asked; /* the one above, but where nothing is exchanged */
    bool beside; /* exchanges run beside passes or each other: by the schedule, and there are some */
    int parts; /* of each array but the first */
    struct pf_part {
        const struct pf_decomposition *decomposition;
        struct pf_share share;
    } part[PF_MAX_ROUTES];
    int routes, lanes;
    struct pf_route route[PF_MAX_ROUTES];
    struct pf_lane *lane;
    struct pf_sequence sequence[PF_DIRECTIONS];
    struct pf_steps pair; /* both directions at once */
    struct pf_transfer **flying; /* as many as there may be */
    int64_t alloc_elements, work_elements; /* of buffers handed out, and of work buffers */
    struct pf_buffer *buffers; /* all allocated buffers, including the work buffers. buffers.c */
    void *work[PF_WORKS];
    void *lent[2]; /* two more, of so many elements each, while they may be overwritten by who makes the plan: trial.c */
    int64_t lent_elements;
    void *lent_work[PF_WORKS]; /* taken as work buffers where they are there and large enough */
    int64_t lent_work_elements;
    double *auto_seconds[PF_MAX_EXCHANGES]; /* by number of the exchange; NULL without "auto" */
    bool recalled; /* something that "auto" took is from wisdom */

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

/* A number of a remap that the plan has. */
static inline bool pf_is_remap(const struct pencilfft_plan_s *plan, int e)
{
    return plan && (e == PENCILFFT_REMAP_IN || e == PENCILFFT_REMAP_OUT) && plan->end[e - PENCILFFT_REMAP_IN].remap;
}

/* Grid rank of member j of my group. */
static inline int pf_member(const struct pencilfft_plan_s *plan, int e, int j)
{
    return pf_grid_member(&plan->geometry, plan->geometry.decomposition->exchange[e].over, plan->rank, j);
}

/* A forward transform beside a backward one. */
static inline bool pf_runs_pairs(const struct pencilfft_plan_s *plan)
{
    return plan->beside && plan->choice.schedule->runs_pairs && !plan->end[0].remapped && !plan->end[1].remapped &&
           pf_has_direction(plan, 0) && pf_has_direction(plan, 1);
}

/* What a forward transform takes of a rank: the first array, of real numbers where it makes complex ones of them. */
static inline pencilfft_box pf_input_box(const struct pencilfft_plan_s *plan, int rank)
{
    struct pf_geometry g = plan->geometry;
    g.n[2] = plan->transform.input_nz;
    return pf_array_box(&g, 0, rank);
}
