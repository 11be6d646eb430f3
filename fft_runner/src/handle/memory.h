/* The memory of a plan: buffers for the caller, and its own. buffers.c */
#pragma once

#include "handle/handle.h"
#include "lines/pass.h"

enum { PF_EXTRA_ROOM, PF_EXTRA_WORK, PF_EXTRA_INNER, PF_EXTRAS }; /* for output, input, arrays between remaps */

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

struct pf_plan_memory {
    int64_t alloc_elements, work_elements; /* of buffers for the caller, and of work buffers */
    struct pf_buffer *buffers; /* all allocated buffers, including the work buffers */
    void *work[PF_WORKS];
    void *extra[PF_EXTRAS]; /* in place of arrays that are not longer than their elements; NULL before the first use */
    struct pf_fitting fitting[PF_DIRECTIONS][2]; /* of the last in and out from elsewhere */
    int64_t *alloc_of; /* bytes of pencilfft_alloc() on all ranks; NULL: of the largest array. arrays.c */
    bool work_is_left; /* work buffers of the caller: those made with the plan are gone */
    int64_t given_bytes; /* by the caller */
    void *lent[2]; /* two more, of so many elements each, that the maker of the plan may overwrite: trial.c */
    int64_t lent_elements;
    void *lent_work[PF_WORKS]; /* become work buffers if they exist and are large enough */
    int64_t lent_work_elements;
};
