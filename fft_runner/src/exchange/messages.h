/* The messages of a transpose: how large, where, and copying boxes into and out of them. No communication. */
#pragma once

#include "exchange/exchange.h"

/* Boxes of all messages in order, as dense lists, and the part that stays. */
struct pf_parts {
    struct pf_messages list;
    pencilfft_box *part; /* with the strides it has inside its message */
};

/* Of what is sent, or of what is received. `nearest` is the axis that is fastest in the messages, the same on all ranks; not
 * one along which boxes are cut. */
int pf_parts_make(const struct pf_transpose *transpose, bool sent, int nearest, struct pf_parts *parts);
void pf_parts_release(struct pf_parts *parts);

/* All between a box with all its fields and its messages; the part of member `without` is omitted (-1: none is). */
void pf_pack(const struct pf_transpose *transpose, const struct pf_parts *sent, int without, const void *box,
             void *messages);
void pf_unpack(const struct pf_transpose *transpose, const struct pf_parts *received, int without, const void *messages,
               void *box);
/* Copy what stays from the box `from` to its place among the received messages. */
void pf_pack_own(const struct pf_transpose *transpose, const struct pf_parts *received, const void *box, void *messages);
