#ifndef PF_TUNING_H
#define PF_TUNING_H

#include <stdint.h>

enum pf_direct { PF_BY_CLOCK, PF_ALWAYS };

/* Sizes that matter for speed alone. Tests make them tiny, so that small arrays are cut as large ones are. */
struct pf_tuning {
    int64_t block_bytes;   /* what a pass gathers, transforms and scatters at once: one of two blocks in the caches */
    int64_t message_bytes; /* a message whose bytes take longer than its start */
    int64_t row_bytes;     /* a row that is worth copying */
    int64_t direct_bytes;  /* a part of the array that stays in the caches, with what it is transformed into */
    enum pf_direct direct; /* lines read and written where they lie, without a copy in the caches */
};
extern struct pf_tuning pf_tuning;

#endif
