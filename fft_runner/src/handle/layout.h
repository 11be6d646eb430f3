/* The places of a plan's data on the ranks: routes, lanes, messages, and boxes of the ends. The file named at each part
 * holds the functions. */
#pragma once

#include "exchange/partner_order.h"
#include "exchange/remap.h"
#include "handle/handle.h"
#include "lines/transforms.h"
#include "schedule/schedule.h"

enum { PF_MAX_PASSES = PF_MAX_ARRAYS + 2, PF_NO_EXCHANGE = -1, PF_NO_AXIS = -1 };

/* One exchange of a lane in one direction: its data, its messages, and the algorithm's own state. transfer.c */
struct pf_transfer {
    const struct pf_exchange *exchange;
    int number; /* of the exchange in the plan */
    struct pf_transpose transpose;
    struct pf_parts sent, received; /* messages, or the lane's pieces of a box */
    void *state;
    bool in_slots; /* of the lanes: a rank's own part is copied when the exchange starts */
    double started; /* end of start(), beside other work */
};

/* The work of a pass of a forward transform. forms.c */
struct pf_pass_form {
    int array; /* the pass is divided like this array of the route */
    bool z; /* is z transformed */
    int u; /* the axis beside z, or PF_NO_AXIS if only z; y lies beside it */
    int exchange; /* of the route, behind the pass, or PF_NO_EXCHANGE */
    unsigned done; /* the axes that are transformed before, as bits */
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

/* The input or output of a transform, if its boxes differ from the array's boxes: ends.c */
struct pf_end {
    bool remapped;
    int64_t n[3]; /* extents of the input or output; axes are the caller's in this and the next */
    pencilfft_box *given; /* of all ranks; NULL: bricks */
    struct pf_remap *remap; /* from the input or to the output of forward; NULL if not made */
};
enum { PF_ENDS = 2 }; /* 0 is before a forward transform, 1 after it */

struct pf_plan_layout {
    struct pf_geometry geometry; /* of the exchanged elements of the forward output */
    struct pf_transform transform;
    size_t input_bytes, element_bytes; /* of an element of the input, and after its z transform */
    size_t sent_bytes; /* of an element after its z transform in a message: half if numbers are sent in single precision */
    pencilfft_box input; /* of a forward transform, after its remap */
    struct pf_end end[PF_ENDS];
    int exchanges; /* of the decomposition; it uses as many arrays, or one more */
    MPI_Comm group[PF_MAX_EXCHANGES]; /* of the communicators */
    int p[PF_MAX_EXCHANGES], me[PF_MAX_EXCHANGES]; /* size of the group, own position */
    struct pf_places places[PF_MAX_EXCHANGES]; /* of the members; `at` is NULL if unknown. places.c */
    int parts; /* of each array but the first */
    struct pf_part {
        const struct pf_decomposition *decomposition;
        struct pf_share share;
    } part[PF_MAX_ROUTES];
    int routes, lanes;
    struct pf_route route[PF_MAX_ROUTES];
    struct pf_lane *lane;
};
