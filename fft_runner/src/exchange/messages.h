/* The messages of a transpose: sizes, starts, and copies from boxes into messages and back. No communication. */
#pragma once

#include "exchange/exchange.h"

/* Boxes of all messages in order, as dense lists, and a rank's own part; or the pieces of the whole box of a rank. */
struct pf_parts {
    struct pf_messages list;
    pencilfft_box *part; /* with the strides inside its message */
    bool whole; /* pieces of a box, because the exchange takes boxes */
};

/* Memory for messages at a whole cache line, to be freed by free(*raw). */
int pf_aligned_make(size_t bytes, void **raw, void **data);

/* Of the sent or the received messages. `nearest` is the fastest axis in the messages, the same on all ranks; boxes are not
 * cut along this axis. */
int pf_parts_make(const struct pf_transpose *transpose, bool sent, int nearest, struct pf_parts *parts);
/* The same for this exchange: if it takes boxes, so many pieces, the first of which is the whole box. */
int pf_exchange_parts(const struct pf_exchange *exchange, const struct pf_transpose *transpose, bool sent, int nearest,
                      int pieces, struct pf_parts *parts);
void pf_parts_release(struct pf_parts *parts);

/* Plan a state of the exchange; *state is NULL after a failure. */
int pf_exchange_plan(const struct pf_exchange *exchange, const struct pf_transpose *transpose, struct pf_parts *sent,
                     struct pf_parts *received, void **state);
void pf_exchange_destroy(const struct pf_exchange *exchange, void *state);
/* The traffic of an exchange. By default it sends the common part of two boxes, as one message if it is not empty. */
void pf_exchange_traffic(const struct pf_exchange *exchange, const void *state, const struct pf_transpose *transpose,
                         int64_t *bytes, int64_t *messages);

/* Copy between a box with all its fields and all its messages; the part of member `without` is omitted (-1: none is). */
void pf_pack(const struct pf_transpose *transpose, const struct pf_parts *sent, int without, const void *box,
             void *messages);
void pf_unpack(const struct pf_transpose *transpose, const struct pf_parts *received, int without, const void *messages,
               void *box);
/* Copy a rank's own part from the box `from` to its place among the received messages. */
void pf_pack_own(const struct pf_transpose *transpose, const struct pf_parts *received, const void *box, void *messages);
