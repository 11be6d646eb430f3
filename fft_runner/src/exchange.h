/* What an exchange algorithm is: one file exchange_<name>.c and one line in exchange_table.c. */
#ifndef PF_EXCHANGE_H
#define PF_EXCHANGE_H

#include <mpi.h>

#include "names.h"
#include "pencilfft.h"
#include "phases.h"
#include "sync.h"

/* One transpose, one way: member j of the group (a row or a column) holds from[j] before and to[j] after.
 * The boxes of `from` together are those of `to`; what passes from i to j is from[i] and to[j]'s common part. */
struct pf_transpose {
    MPI_Comm group;
    int p, me;
    const pencilfft_box *from, *to;
};

/* How one run is timed and synchronised. */
struct pf_run {
    struct pf_clock *clock;
    pencilfft_phase pack, exchange, unpack;
    const struct pf_sync *sync;
    MPI_Comm all;
};

struct pf_exchange {
    const char *name;
    /* Local, no messages. *state is NULL when it fails and may need nothing from destroy. */
    int (*plan)(const struct pf_transpose *transpose, void **state);
    /* Collective over the group, and over run->all for the sync. `from` is lost; both hold alloc_elements. */
    int (*run)(void *state, const struct pf_run *run, void *from, void *to);
    void (*destroy)(void *state);
};

extern const struct pf_table pf_exchanges;

#endif
