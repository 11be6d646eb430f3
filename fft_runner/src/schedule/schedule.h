/* The interface of a schedule: one file schedule_<name>.c, which defines pf_schedule_<name>, and one line in
 * schedule_table.c.
 *
 * A schedule cuts a transform into lanes, and orders their passes and exchanges. A lane travels and is worked on as a unit:
 * all of the data, a chunk, or the half that takes the other route (row and column exchange in the other order). A schedule
 * knows nothing of buffers, FFTs or MPI: its input is the lengths of the axes, its output a list of moves.
 *
 * Texts: the name, then options after colons, as in "overlap:4:x". Sizes of chunks are relative. The cut rule: chunk k of a
 * block of e indices with sizes w, of sum W, goes from floor(e (w_0 + .. + w_(k-1)) / W) to floor(e (w_0 + .. + w_k) / W); K
 * equal chunks have sizes 1. Every rank cuts its own block. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/failure.h"
#include "common/names.h"

enum { PF_MAX_CHUNKS = 256, PF_MAX_SIZE = 1000, PF_SCHEDULE_TEXT = 2048, PF_MAX_ROUTES = 2, PF_ORDER_PASSES = 8 };

/* The axis cut into chunks, in the order of trials by rule. */
enum pf_cut_axis { PF_CUT_X, PF_CUT_Z, PF_CUT_FIELD, PF_CUT_AXES, PF_CUT_BY_RULE = PF_CUT_AXES };

/* A text after reading. settle() replaces members set by rule. */
struct pf_choice {
    const struct pf_schedule *schedule;
    int chunks;                   /* 0: by rule */
    int64_t size[PF_MAX_CHUNKS];
    enum pf_cut_axis axis;
    char letter[2];               /* the caller's, of x and z */
    int64_t lower;                /* planes along z that go the first route; 0: by rule */
};

/* The facts of a transform for a schedule. */
struct pf_shape {
    int64_t most[PF_CUT_AXES];  /* indices of the smallest block, so the most chunks; 0: the axis cannot be cut */
    int64_t message_bytes;      /* of an average message of the exchange with the shorter messages */
    int64_t enough_bytes;       /* a message whose transfer takes longer than its start */
    const char *decomposition;
    bool two_routes;            /* the exchanges may also be run in the other order */
    int64_t over[PF_MAX_ROUTES]; /* ranks that divide z between the exchanges of each route */
    int64_t nz;                 /* planes along z after its transform */
    int fields;
};

/* The share of a route. */
struct pf_share {
    int64_t z, z_end; /* planes, after the z transform */
    int field, field_end;
};

enum pf_move { PF_DO_PASS, PF_DO_START, PF_DO_FINISH };

/* A transform whose passes and exchanges need an order: pass 0, exchange 0, pass 1, .. , pass `exchanges`. */
struct pf_order {
    int lanes, exchanges;
    bool by_lane[PF_ORDER_PASSES]; /* may the pass be run for a lane; else run once for all */
    bool early; /* the last pass of a lane may be run before the first pass of a later lane */
    void (*add)(void *list, enum pf_move move, int at, int lane);
    void *list;
};
enum { PF_ALL_LANES = -1 };

struct pf_schedule {
    const char *name;
    const char *takes;   /* options after the name, for messages */
    bool keeps_boxes;    /* the arrays are divided as without a schedule */
    bool beside;         /* exchanges run beside passes or each other */
    bool runs_pairs;     /* a forward and a backward transform may run at once */
    int (*read)(const char *text, const char *after, struct pf_choice *choice); /* NULL: no options */
    int (*settle)(const struct pf_shape *shape, struct pf_choice *choice);      /* NULL: nothing is by rule or refused */
    void (*write)(const struct pf_choice *choice,
                  char text[PF_SCHEDULE_TEXT]); /* NULL: the name, and chunks or lower planes */
    void (*order)(const struct pf_order *order);
    /* With two routes: the share of each route. NULL for one route. */
    void (*divide)(const struct pf_shape *shape, const struct pf_choice *choice, struct pf_share share[PF_MAX_ROUTES]);
};

extern const struct pf_table pf_schedules; /* of pointers */
extern const struct pf_schedule pf_schedule_sequence;

/* ---- schedule_table.c ---------------------------------------------------------------------------------------------- */

/* Read a text, "overlap:4:x", with the caller's letters of x and z. Local; refuses a text unknown to all schedules. */
int pf_choice_read(const char *text, const char letter[2], struct pf_choice *choice);
/* The name of the axis that is cut. */
enum { PF_CUT_NAME = 8 };
const char *pf_cut_name(const struct pf_choice *choice, enum pf_cut_axis axis, char name[PF_CUT_NAME]);
/* Replace members set by rule; refuses a schedule if the transform is too small. Then no choice is left. */
int pf_choice_settle(const struct pf_shape *shape, struct pf_choice *choice);
/* The text of this choice. */
void pf_choice_write(const struct pf_choice *choice, char text[PF_SCHEDULE_TEXT]);
/* Refuses a transform whose exchanges have one order. */
int pf_two_routes_settle(const struct pf_shape *shape, struct pf_choice *choice);

/* ---- chunks.c ------------------------------------------------------------------------------------------------------ */

/* A whole number from 1 to `most` that takes all of `bytes` characters; 0 for other texts. */
int64_t pf_number_read(const char *text, size_t bytes, int64_t most);
/* "4" or "1,2,4,8". Sets chunks and sizes; false for other texts. */
bool pf_chunks_read(const char *text, size_t bytes, struct pf_choice *choice);
void pf_chunks_equal(struct pf_choice *choice, int chunks);
/* Start of chunk k in a block of `extent` indices; chunk `chunks` is the end of the last chunk. */
int64_t pf_chunk_start(const struct pf_choice *choice, int64_t extent, int k);
/* The most chunks along any axis, at least 1. */
int64_t pf_most_chunks(const struct pf_shape *shape);
/* Choose the axis, or check the requested axis. */
int pf_chunks_settle(const struct pf_shape *shape, struct pf_choice *choice);

/* ---- order.c ------------------------------------------------------------------------------------------------------- */

/* A pass for a lane or, if not run by lanes, for all lanes: the first pass before the first lane, any other after the
 * last. */
void pf_order_pass(const struct pf_order *order, int pass, int lane);
void pf_order_start(const struct pf_order *order, int exchange, int lane);
void pf_order_finish(const struct pf_order *order, int exchange, int lane);
/* All stages, so that with two lanes one lane travels during work on the other. */
void pf_order_stages(const struct pf_order *order);
/* The last pass of lanes `*done` to `lane` - 1, if possible by now. */
void pf_order_last(const struct pf_order *order, int *done, int lane, bool first_pass_is_done);
/* Both of two transforms beside each other, stage by stage. */
void pf_order_pair(const struct pf_order *one, const struct pf_order *other);
