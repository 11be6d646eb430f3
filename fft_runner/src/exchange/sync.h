#pragma once

#include <mpi.h>

#include "common/names.h"

struct pf_sync {
    const char *name;
    int (*wait)(MPI_Comm comm); /* collective over the plan's communicator; a pencilfft_status. NULL: no wait */
};

extern const struct pf_table pf_syncs;
