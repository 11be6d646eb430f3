/* How every plan begins. */
#include "handle/begin.h"

#include <stdlib.h>

#include "common/failure.h"
#include "pencilfft.h"

int pf_begin(const char *function, bool given, size_t bytes, MPI_Comm comm, void **made,
             struct pf_communicators **communicators)
{
    int status = pf_communicators_join(comm, communicators);
    if (status)
        return status;
    *made = given ? calloc(1, bytes) : NULL;
    if (!given)
        status = pf_fail(PENCILFFT_BAD_CALL, "%s: null descriptor or plan", function);
    else if (!*made)
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for a plan");
    if ((status = pf_agree(status, (*communicators)->all))) {
        free(*made);
        if (status != PENCILFFT_MPI_ERROR)
            pf_communicators_leave(*communicators);
    }
    return status;
}
