#pragma once

#include <stdint.h>

enum pf_direct { PF_BY_CLOCK, PF_ALWAYS };

/* Sizes that affect only speed. Tests make them tiny, so that small arrays are cut like large ones. */
struct pf_tuning {
    int64_t block_bytes;   /* what a pass gathers, transforms and scatters at once: one of two blocks in the caches */
    int64_t message_bytes; /* size of a message whose transfer takes longer than its start */
    int64_t row_bytes;     /* a row that is worth copying */
    int64_t direct_bytes;  /* size of a part of the array that stays in the caches, together with its result */
    int64_t thread_bytes;  /* what is worth another thread */
    int64_t ask_bytes;     /* size of a part of the array from which on its rows are asked for before they are used */
    int64_t past_bytes;    /* size of a part of the array from which on it is written past the caches */
    int64_t whole_bytes;   /* size of an array from which on passes are faster than one plan of FFTW */
    /* Parts of arrays for which plans are tried side by side; some exchanges have buffers of that size. */
    int64_t trial_bytes;
    int64_t trial_outs_bytes; /* of the outputs that plans write in turn while they are tried */
    enum pf_direct direct; /* lines read and written in place, without a copy in the caches; one plan of FFTW on one rank */
};
extern struct pf_tuning pf_tuning;
