/* How every plan begins. */
#include "plan/begin.h"

#include <stdlib.h>

#include "common/failure.h"
#include "pencilfft.h"

int pf_begin(const char *function, bool given, size_t bytes, MPI_Comm comm, void **made, MPI_Comm *own)
{
    int status = PENCILFFT_OK;
    PF_MPI(MPI_Comm_dup(comm, own));
    PF_MPI(MPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN));
    *made = given ? calloc(1, bytes) : NULL;
    if (!given)
        status = pf_fail(PENCILFFT_BAD_CALL, "%s: null descriptor or plan", function);
    else if (!*made)
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for a plan");
    if ((status = pf_agree(status, *own))) {
        free(*made);
        MPI_Comm_free(own);
    }
    return status;
}
