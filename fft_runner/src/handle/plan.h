/* A plan: all data of a transform on one rank. The file named at each part holds the functions. */
#pragma once

#include "exchange/communicators.h"
#include "exchange/exchange.h"
#include "exchange/messages.h"
#include "exchange/partner_order.h"
#include "exchange/remap.h"
#include "exchange/sync.h"
#include "geometry/bricks.h"
#include "geometry/geometry.h"
#include "handle/given.h"
#include "handle/handle.h"
#include "handle/phases.h"
#include "lines/line_fft.h"
#include "lines/pass.h"
#include "schedule/schedule.h"
#include "speed/clock.h"

enum { PF_DIRECTIONS = 2 }; /* 0 is forward, 1 backward */
enum { PF_EXTRA_ROOM, PF_EXTRA_WORK, PF_EXTRA_INNER, PF_EXTRAS }; /* for output, input, arrays between remaps */
enum { PF_MAX_PASSES = PF_MAX_ARRAYS + 2, PF_NO_EXCHANGE = -1, PF_NO_AXIS = -1 };

/* malloc, not fftw_malloc, because a simulator that shares large mallocs must see the call; hence aligned by hand. */
struct pf_buffer {
    void *raw, *data;
    struct pf_buffer *next;
};

/* Outputs that trials write in turn, so that no output is in the caches when its turn comes. buffers.c */
struct pf_outs {
    struct pf_buffer buffer;
    int n, next;
    size_t step; /* bytes between starts */
};

/* One exchange of a lane in one direction: its data, its messages, and the algorithm's own state. transfer.c */
struct pf_transfer {
    const struct pf_exchange *exchange;
    int number; /* of the exchange in the plan */
    struct pf_transpose transpose;
    bool boxes; /* the exchange takes boxes */
    struct pf_parts sent, received; /* messages, or the lane's pieces of a box */
    void *state;
    bool in_slots;  /* of the lanes: a rank's own part is copied when the exchange starts */
    double started; /* end of start(), beside other work */
};

/* The work of a pass of a forward transform. forms.c */
struct pf_pass_form {
    int array;    /* the pass is divided like this array of the route */
    bool z;       /* is z transformed */
    int u;        /* the axis beside z, or PF_NO_AXIS if only z; y lies beside it */
    int exchange; /* of the route, behind the pass, or PF_NO_EXCHANGE */
    unsigned done; /* the axes that are transformed before, as bits */
};

/* The place to which a pass writes a rank's own data, if the exchange does not move them: the place of the reader; the same,
 * but among the sent data if the pass reads that array; among the sent data, from where they are copied. */
enum pf_kept { PF_KEPT_THERE, PF_KEPT_BY_ARRAYS, PF_KEPT_AMONG_SENT };

/* The link between two passes: an exchange, or nothing if the second pass reads the output of the first. joints.c */
struct pf_joint {
    int exchange; /* of the route, or PF_NO_EXCHANGE */
    int from, to; /* buffers; a lane has its slot there */
    enum pf_kept kept;
};

/* An order of the exchanges, its share of the array, and the passes between the exchanges. routes.c, forms.c */
struct pf_route {
    const struct pf_decomposition *decomposition;
    struct pf_share share;
    int exchange[PF_MAX_EXCHANGES]; /* numbers of its exchanges in the plan */
    int nearest[PF_MAX_EXCHANGES]; /* the fastest axis in the messages of each. forms.c */
    pencilfft_box mine[2][PF_MAX_ARRAYS]; /* of its planes, before and after the lines of each array */
    int passes;
    struct pf_pass_form form[PF_MAX_PASSES];
};

/* Data that travel and are worked on together: the whole of a route, or a chunk. lanes.c */
struct pf_lane {
    int route, chunk; /* number of the chunk, or PF_WHOLE_LANE */
    int field, field_end;
    pencilfft_box *boxes[PF_MAX_EXCHANGES][2]; /* of the members, before and after a forward exchange of the route */
    int64_t slot; /* element of a work buffer at which its messages begin */
    struct pf_transfer transfer[PF_DIRECTIONS][PF_MAX_EXCHANGES]; /* by exchange of the route */
};
enum { PF_WHOLE_LANE = -1 };

/* The steps of execute, in order. steps.c, execute.c */
struct pf_step {
    enum pf_step_kind {
        PF_PASS,
        PF_PACK,
        PF_UNPACK,
        PF_SYNC,
        PF_BEGIN,
        PF_OWN,
        PF_START,
        PF_FINISH,
        PF_END,
        PF_ALL_PASSES, /* all passes at once: whole.c */
        PF_REMAP_PACK, /* of `end`, like the next four */
        PF_REMAP_SYNC,
        PF_REMAP_START,
        PF_REMAP_FINISH,
        PF_REMAP_UNPACK
    } kind;
    int backward, lane, end;
    struct pf_pass *pass;
    struct pf_range range; /* of the pass */
    struct pf_transfer *transfer;
    int from, to; /* buffers of the exchange */
    enum pf_kept kept; /* of the exchange */
    int64_t slot; /* element in the buffers */
};

struct pf_steps {
    int n;
    struct pf_step *step;
};

/* The arrays that steps of a direction work on; and the places for messages, which are longer than an array: the output and
 * the input, or buffers of the plan if an array is not longer than its elements. */
struct pf_arrays {
    const void *in;
    void *out, *room, *work;
};

/* Steps with the arrays of each direction; NULL without the direction. */
struct pf_leg {
    const struct pf_step *step;
    int n;
    struct pf_arrays of[PF_DIRECTIONS];
};

/* A run of a plan: remap, transform, remap, or two of these one after the other; and how far it has come. execute.c */
enum { PF_MOST_LEGS = 6 };
struct pf_walk {
    int legs, leg, step; /* the next step */
    struct pf_leg of[PF_MOST_LEGS];
    struct pf_pass_run run[PF_DIRECTIONS];
    int flying; /* of plan->flying: transfers under way, so that MPI can make progress on them */
};

/* FFTW's plans for several axes at once, stage after stage. whole.c */
enum { PF_WHOLE_STAGES = 2 };
struct pf_whole {
    int stages, shares;
    struct pf_whole_stage {
        int axes; /* as bits */
        int shared; /* the axis that threads divide; PF_NO_AXIS for a single thread */
        struct pf_line_shape shape; /* without the extent along that axis */
    } stage[PF_WHOLE_STAGES];
    struct pf_whole_part { /* a thread's work in a stage */
        void *plan; /* NULL: nothing */
        int64_t n, in, out; /* indices along the shared axis; bytes from the start of the arrays */
    } *part[2]; /* [0]: two arrays, [1]: in place; all of stage 0, then of stage 1; NULL if passes are used */
};

/* A transform in one direction: for each route passes and the joints between them, and the same as a list of steps; each
 * exchange alone. The first route has the passes that all routes share. */
struct pf_sequence {
    int n;
    struct pf_pass pass[PF_MAX_ROUTES][PF_MAX_PASSES];
    struct pf_joint joint[PF_MAX_ROUTES][PF_MAX_PASSES - 1];
    struct pf_steps transform, alone[PF_MAX_EXCHANGES];
    struct pf_whole whole;
    bool input_is_work; /* an input other than the output replaces the first work buffer. joints.c */
    int64_t room_bytes, work_bytes; /* of messages in output and input, if these are longer than the arrays; else 0 */
};

/* The input or output of a transform, if its boxes differ from the array's boxes: ends.c */
struct pf_end {
    bool remapped;
    int64_t n[3]; /* extents of the input or output; axes are the caller's in this and the next */
    pencilfft_box *given; /* of all ranks; NULL: bricks */
    struct pf_remap *remap; /* from the input or to the output of forward; NULL if not made */
};
enum { PF_ENDS = 2 }; /* 0 is before a forward transform, 1 after it */

struct pencilfft_plan_s {
    PF_HANDLE;
    struct pf_geometry geometry; /* of the exchanged elements of the forward output */
    struct pf_transform transform;
    int directions;
    int threads; /* that share the work of this rank, the same number on all ranks */
    bool destroys_input; /* allowed if in and out differ */
    pencilfft_norm norm[PF_DIRECTIONS]; /* of the next transforms */
    bool nonblocking; /* runs may be started: each exchange returns at once, on communicators of the plan */
    const struct pf_exchange *exchange, *chosen[PF_MAX_EXCHANGES]; /* requested; chosen for each */
    const struct pf_precision *precision, *exchange_precision;
    const struct pf_rigor *rigor;
    const struct pf_sync *sync;

    int exchanges; /* of the decomposition; it uses as many arrays, or one more */
    MPI_Comm group[PF_MAX_EXCHANGES]; /* of the communicators */
    int p[PF_MAX_EXCHANGES], me[PF_MAX_EXCHANGES]; /* size of the group, own position */
    struct pf_places places[PF_MAX_EXCHANGES]; /* of the members; `at` is NULL if unknown. places.c */
    int bricks[3]; /* along the caller's x, y and z; 0 without bricks */
    struct pf_end end[PF_ENDS];
    pencilfft_box input; /* of a forward transform, after its remap */
    size_t input_bytes, element_bytes; /* of an element of the input, and after its z transform */
    size_t sent_bytes; /* of an element after its z transform in a message: half if numbers are sent in single precision */
    int fields;
    bool interleaved; /* the fields are nearest in the caller's arrays: A[x][y][z][field] */
    struct pf_phases phases;

    bool open_grid; /* "auto" chooses the grid */
    int grid_trials;
    pencilfft_grid_trial *grid_trial; /* the table of "auto"; NULL without trials */
    bool any_schedule; /* not requested: "auto" chooses */
    struct pf_choice choice; /* of a schedule */
    char schedule[PF_SCHEDULE_TEXT];
    const struct pf_schedule *asked; /* the schedule above, unless nothing is exchanged */
    bool beside; /* exchanges run beside passes or each other: the schedule says so, and there are exchanges */
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
    struct pf_transfer **flying; /* as many as can be under way */
    struct pf_walk walk; /* of the last run */
    int64_t alloc_elements, work_elements; /* of buffers for the caller, and of work buffers */
    struct pf_buffer *buffers; /* all allocated buffers, including the work buffers. buffers.c */
    void *work[PF_WORKS];
    void *extra[PF_EXTRAS]; /* in place of arrays that are not longer than their elements; NULL before the first use */
    struct pf_fitting fitting[PF_DIRECTIONS][2]; /* of the last in and out from elsewhere */
    int64_t *alloc_of; /* bytes of pencilfft_alloc() on all ranks; NULL: of the largest array. arrays.c */
    bool caller_work; /* the caller is to give the work buffers */
    bool work_is_left; /* those made with the plan are gone */
    int64_t given_bytes; /* by the caller */
    void *lent[2]; /* two more, of so many elements each, that the maker of the plan may overwrite: trial.c */
    int64_t lent_elements;
    void *lent_work[PF_WORKS]; /* become work buffers if they exist and are large enough */
    int64_t lent_work_elements;
    double *auto_seconds[PF_MAX_EXCHANGES]; /* by number of the exchange; NULL without "auto" */
    bool recalled; /* wisdom gave some choice of "auto" */

    struct pf_clock clock;
    char *text; /* of pencilfft_plan_text() */
};

static inline bool pf_has_direction(const struct pencilfft_plan_s *plan, int backward)
{
    return plan->directions & (backward ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD);
}

/* Whether some lines have more points than modes are kept. */
static inline bool pf_is_padded(const struct pencilfft_plan_s *plan)
{
    const struct pf_transform *t = &plan->transform;
    return t->points[0] > t->n[0] || t->points[1] > t->n[1] || t->points[2] > t->n[2];
}

/* Whether numbers are sent in a lower precision than that of the arrays. */
static inline bool pf_rounds(const struct pencilfft_plan_s *plan)
{
    return plan->sent_bytes < plan->element_bytes;
}

/* The place in the caller's memory of a part whose box is dense. */
static inline void pf_part_lay(const struct pencilfft_plan_s *plan, pencilfft_part *part)
{
    part->field_stride = plan->interleaved ? 1 : pf_box_elements(&part->box);
    for (int axis = 0; axis < 3 && plan->interleaved; axis++)
        part->box.stride[axis] *= part->fields;
}

/* Interleaved fields are one field of an array whose nearest axis is so many times longer. */
static inline pencilfft_box pf_box_widened(const struct pencilfft_plan_s *plan, int array, pencilfft_box box)
{
    int near = pf_nearest_axis(&plan->geometry, array);
    if (plan->interleaved) {
        box.offset[near] *= plan->fields;
        box.extent[near] *= plan->fields;
        pf_box_lay(&plan->geometry, array, &box);
    }
    return box;
}

static inline bool pf_is_exchange(const struct pencilfft_plan_s *plan, int e)
{
    return plan && e >= 0 && e < plan->exchanges;
}

/* Whether the plan has remap number e. */
static inline bool pf_is_remap(const struct pencilfft_plan_s *plan, int e)
{
    return plan && (e == PENCILFFT_REMAP_IN || e == PENCILFFT_REMAP_OUT) && plan->end[e - PENCILFFT_REMAP_IN].remap;
}

/* Grid rank of member j of my group. */
static inline int pf_member(const struct pencilfft_plan_s *plan, int e, int j)
{
    return pf_grid_member(&plan->geometry, plan->geometry.decomposition->exchange[e].over, plan->rank, j);
}

/* Whether a forward transform may run beside a backward transform. */
static inline bool pf_runs_pairs(const struct pencilfft_plan_s *plan)
{
    return plan->beside && plan->choice.schedule->runs_pairs && !plan->end[0].remapped && !plan->end[1].remapped &&
           pf_has_direction(plan, 0) && pf_has_direction(plan, 1);
}

/* A rank's input of a forward transform: the first array, of real numbers if the transform makes complex numbers. */
static inline pencilfft_box pf_input_box(const struct pencilfft_plan_s *plan, int rank)
{
    return pf_array_box(&plan->geometry, PF_BEFORE, rank);
}
