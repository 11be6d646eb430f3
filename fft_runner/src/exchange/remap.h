/* Redistribution from any boxes of the ranks to any other boxes of the same array, and back. */
#pragma once

#include "exchange/communicators.h"
#include "exchange/messages.h"

struct pf_remap;

struct pf_remap_request {
    struct pf_communicators *communicators;
    int ranks, me;
    const pencilfft_box *from, *to; /* of every rank, with their strides; not needed afterwards */
    size_t element_bytes, sent_bytes; /* in the arrays, and in the messages */
    int fields;
    int threads; /* that may share copies */
    const struct pf_exchange *exchange;
    bool beside; /* start returns at once; only for an exchange that offers this */
    int directions; /* like the member of a descriptor */
};

/* Collective; fails on all ranks or on none. NULL after a failure. */
int pf_remap_make(const struct pf_remap_request *request, struct pf_remap **remap);
int pf_remap_release(struct pf_remap *remap);

/* The bytes of its two buffers, which are taken from `memory`, at whole cache lines, unless it is NULL; and the end of those
 * that were made with the remap. Not for an exchange that is tied to its buffers. */
int64_t pf_remap_lay(struct pf_remap *remap, char *memory);
void pf_remap_leave_buffers(struct pf_remap *remap);

/* Call these four in turn, and progress between start and finish. All but packing are collective; `to` may be `from`, which
 * otherwise is kept. */
int pf_remap_pack(struct pf_remap *remap, int backward, const void *from);
int pf_remap_start(struct pf_remap *remap, int backward, void *to);
int pf_remap_progress(struct pf_remap *remap, int backward, int *done);
int pf_remap_finish(struct pf_remap *remap, int backward);
int pf_remap_unpack(struct pf_remap *remap, int backward, void *to);

/* bytes[rank] and messages[rank] of every rank, as in pencilfft_traffic(). */
int pf_remap_traffic(const struct pf_remap *remap, int backward, int64_t *bytes, int64_t *messages);
const struct pf_exchange *pf_remap_algorithm(const struct pf_remap *remap);
/* Number of ranks in the group, this rank included. */
int pf_remap_members(const struct pf_remap *remap);
