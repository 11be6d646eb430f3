/* The program of a plan: the steps of its transforms, and how far a run has come. */
#pragma once

#include "handle/layout.h"
#include "lines/pass.h"

/* The timed parts of a transform: how many, their names and numbers, from the description of the decomposition. */
enum { PF_PHASE_NAME = 32 };

struct pf_phases {
    int n;
    struct {
        char name[PF_PHASE_NAME];
        pencilfft_kind kind;
    } phase[PENCILFFT_MAX_PHASES];
    int fft[3]; /* numbers: of an axis, and of an exchange */
    struct pf_exchange_phases {
        int pack, exchange, unpack, wait, hidden;
    } of[PF_MAX_EXCHANGES], remap[2]; /* before and after a forward transform */
};

extern const char *const pf_remap_names[2];
/* Phases have the letters of the caller's axes; a third axis that is not there has none. `remapped` tells whether there is a
 * remap before and after the transform. */
void pf_phases_make(const struct pf_decomposition *decomposition, const struct pf_axes *axes, const bool remapped[2],
                    struct pf_phases *phases);

/* The place to which a pass writes a rank's own data, if the exchange does not move them: the place of the reader; the same,
 * but among the sent data if the pass reads that array; among the sent data, from where they are copied. */
enum pf_kept { PF_KEPT_THERE, PF_KEPT_BY_ARRAYS, PF_KEPT_AMONG_SENT };

/* The link between two passes: an exchange, or nothing if the second pass reads the output of the first. joints.c */
struct pf_joint {
    int exchange; /* of the route, or PF_NO_EXCHANGE */
    int from, to; /* buffers; a lane has its slot there */
    enum pf_kept kept;
};

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
    int flying; /* of plan->program.flying: transfers under way, so that MPI can make progress on them */
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

struct pf_plan_program {
    struct pf_phases phases;
    struct pf_sequence sequence[PF_DIRECTIONS];
    struct pf_steps pair; /* both directions at once */
    struct pf_transfer **flying; /* as many as can be under way */
    struct pf_walk walk; /* of the last run */
    struct pf_clock clock;
};
