/* The buffers of pencilfft_alloc(), whose lengths are known in every call, also of another plan. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "handle/handle.h"

/* The rest of a buffer from an address on. */
struct pf_given {
    const struct pf_handle *owner; /* the plan, of any kind */
    int64_t (*bytes_on)(const void *owner, int rank); /* of such a buffer on a rank of the plan */
    const char *start; /* of the buffer */
    int64_t bytes;
    int64_t number; /* of the buffer; none has the number of another */
};

int pf_given_add(const struct pf_given *given);
/* Forgets the buffers of a plan. */
void pf_given_forget(const void *owner);
/* The buffer around an address, with the bytes from there on; false if the address is elsewhere. Any thread may ask. */
bool pf_given_find(const void *address, struct pf_given *given);

/* An array of a call: the bytes that the caller must give, on every rank. */
struct pf_wanted {
    const char *function, *name;
    const void *start;
    int64_t (*bytes_on)(const void *of, int array, int rank);
    const void *of; /* the plan or halo */
    int array, also; /* a second array at the same place, if it differs */
    struct pf_fitting *fitting; /* what the last check found; may be NULL */
};
struct pf_fitting {
    int64_t number; /* of a buffer that is long enough on all ranks; 0 before the first */
    int array, also;
};

/* Refuses a buffer of pencilfft_alloc() that is too short on this rank; on all ranks, if all give a buffer of the same
 * plan. */
int pf_given_check(const struct pf_wanted *wanted, MPI_Comm comm, int rank, int ranks);
