/* From any boxes of the ranks to any others of the same array, and back. */
#pragma once

#include "exchange/communicators.h"
#include "exchange/messages.h"

struct pf_remap;

struct pf_remap_request {
    struct pf_communicators *communicators;
    int ranks, me;
    const pencilfft_box *from, *to; /* of every rank, with their strides; not needed afterwards */
    size_t element_bytes;
    int fields;
    int threads; /* that copies may be shared by */
    const struct pf_exchange *exchange;
    int directions; /* as those of a descriptor */
};

/* Collective; fails on all ranks or on none. NULL when it fails. */
int pf_remap_make(const struct pf_remap_request *request, struct pf_remap **remap);
int pf_remap_release(struct pf_remap *remap);

/* One of these after the other, each collective but for packing; `to` may be `from`, which else is kept. */
int pf_remap_pack(struct pf_remap *remap, int backward, const void *from);
int pf_remap_exchange(struct pf_remap *remap, int backward, void *to);
int pf_remap_unpack(struct pf_remap *remap, int backward, void *to);

/* bytes[rank] and messages[rank] of every rank, as pencilfft_traffic() tells them. */
int pf_remap_traffic(const struct pf_remap *remap, int backward, int64_t *bytes, int64_t *messages);
const struct pf_exchange *pf_remap_algorithm(const struct pf_remap *remap);
/* How many ranks it joins, this one among them. */
int pf_remap_members(const struct pf_remap *remap);
