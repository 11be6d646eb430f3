/* The interface of an exchange algorithm: a file exchange_<name>.c, which defines pf_exchange_<name>, and a line in
 * exchange_table.c. Algorithms that differ by a radix are rows of one file: exchange_bruck.c.
 *
 * An exchange moves data and knows nothing of FFTs, the type of transform or its precision: the exchange sees boxes, the
 * bytes of an element, and the number of fields. There are two kinds, for messages or, with takes_boxes, for boxes:
 *
 * messages     `plan` gets the number of elements and the start of every message, in the send buffer and in the receive
 *              buffer. The caller packs the messages (a transform does so while its lines are in the caches) and unpacks
 *              them. Messages come densely, in the order of the members. `plan` may move them: change start[] and total
 *              (padding). The two lists live as long as the state; an exchange with `memory` moves the starts into that
 *              memory when it connects.
 *              A rank's own part is message `me`: the caller has written this part to its place in `to`, and the exchange
 *              leaves it alone, unless moves_self is set; then the part lies among the messages of `from` like any other.
 *              The contents of a message do not concern the exchange: the common part of from[i] and to[j], one field after
 *              the other, dense.
 * boxes        `from` and `to` are the whole boxes with their strides; the exchange finds the parts itself (MPI data types,
 *              other planners) and moves all parts, including its own, as moves_self says.
 *
 * Running: the caller of an exchange goes through these steps, in this order; all but start are optional:
 *     begin      before the first message is written
 *     start      when all messages are written
 *     progress   any number of times between start and finish
 *     finish     before received data are used, or sent data are overwritten
 *     end        when all received data have been used
 * An exchange may do all in start, which then returns when everything has arrived. If transpose->beside is set, the exchange
 * runs beside passes and other exchanges: start returns at once, finish waits, and progress lets MPI work, and tells
 * whether finish would not wait. progress is never called in a loop until then: a simulator charges time for the call, or
 * stops the clock. Exchanges of a group that are in flight together have different lanes. All ranks of a group start,
 * progress and finish exchanges in the same order.
 *
 * Buffers: start may overwrite `from` only if it takes boxes, and without `beside`. Both buffers are aligned to 64 bytes.
 * For messages they hold sent->total and received->total elements. With `memory` both are that memory. */
#pragma once

#include <mpi.h>
#include <stdbool.h>

#include "common/failure.h"
#include "common/names.h"
#include "pencilfft.h"

/* The members of a group in a torus: partner_order.h. */
struct pf_places;

/* One transpose in one direction: member j of the group holds from[j] before and to[j] after. The boxes of `from` and of
 * `to` cover the same elements; the common part of from[i] and to[j] passes from i to j. Strides count elements. Field f of
 * a box lies f times the elements of the box behind field 0. */
struct pf_transpose {
    MPI_Comm group;
    int p, me;
    const pencilfft_box *from, *to;
    size_t element_bytes; /* 4, 8 or 16 */
    size_t array_bytes; /* of an element before packing and after unpacking, if twice as many; else 0 */
    int fields;
    int threads; /* that may share copies */
    bool beside; /* runs beside passes or other exchanges; only for an exchange that offers this */
    bool backward; /* lines are whole in `from`, not in `to` */
    bool sparse; /* most messages are empty: collectives over all members give way to single messages */
    int lane; /* tag of its messages: differs for exchanges of a group that may be in flight together */
    const struct pf_places *places; /* of the members; NULL if unknown */
    void *other_direction; /* state of the same exchange in the other direction, if planned before; else NULL */
};

/* The messages of a side. Message j goes to or comes from member j; all members count elements. */
struct pf_messages {
    int p;
    int64_t *elements, *start;
    int64_t total; /* size of the buffer */
};

struct pf_exchange {
    const char *name;
    size_t bytes; /* of its state, which is zero before plan() */
    /* Local, no communication. Exchanges of boxes leave the lists alone. NULL: "auto". Callers use pf_exchange_plan(). */
    int (*plan)(const struct pf_transpose *transpose, struct pf_messages *sent, struct pf_messages *received, void *state);
    /* Collective over the group, like the other steps of a run. */
    int (*start)(void *state, void *from, void *to);
    /* Frees all but the state itself, also after plan() has failed. Collective over the group after connect, local before.
     * The two directions come in any order. NULL: nothing. */
    void (*release)(void *state);
    bool takes_boxes;
    bool moves_self;
    bool beside; /* can run beside passes and other exchanges */
    int least_group; /* "auto" skips groups of fewer ranks, because another row does the same there */
    bool direct; /* with `memory`: the ranks of a node read the messages where they were written */
    bool transposes_alone; /* only for boxes of a transpose, with messages about equal */
    int (*begin)(void *state, void *to);
    int (*progress)(void *state, int *done); /* never waits; any rank may call at any time */
    int (*finish)(void *state);
    int (*end)(void *state);
    /* Optional. Collective over the group, after all ranks have planned: communicators, shared memory, other planners. If
     * the exchange is tied, every run of this state uses these two buffers. Fails on the whole group or not at all, except
     * for failures of MPI. */
    int (*connect)(void *state, void *from, void *to);
    bool tied;
    /* Optional. Bytes and messages that this rank sends to each member; by default, its messages as planned. */
    void (*traffic)(const void *state, int64_t *bytes, int64_t *messages);
    /* Optional, for messages. The place of sent and received data after connect(), instead of the plan's buffers; NULL in
     * a group of one. */
    void *(*memory)(const void *state);
    /* Optional. Makes FFTW know the algorithms that this exchange adds, before wisdom is read or written. */
    void (*prepare)(void);
    const char *means; /* optional: the MPI calls used, if they depend on the MPI */
};

enum { PF_MOST_EXCHANGES = 16 };
extern const struct pf_table pf_exchanges; /* of pointers */
static inline const struct pf_exchange *pf_exchange_at(int i)
{
    return pf_table_row(&pf_exchanges, i);
}

/* MPI's type of an element of that many bytes; only for moving data, not for arithmetic. */
MPI_Datatype pf_element_type(size_t bytes);

struct pf_sync {
    const char *name;
    int (*wait)(MPI_Comm comm); /* collective over the plan's communicator; a pencilfft_status. NULL: no wait */
};

extern const struct pf_table pf_syncs;
