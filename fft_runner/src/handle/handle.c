/* How every plan begins and ends. After each step of `make` all ranks agree whether to go on (failure.c), so that no rank
 * waits in a collective call for a rank that has given up. A failure is undone in a single place. */
#include "handle/handle.h"

#include <stdlib.h>

#include "common/failure.h"
#include "handle/same_call.h"
#include "pencilfft.h"

/* Memory and communicators; after a failure that MPI did not cause, neither. */
static int begin(const struct pf_kind *kind, bool given, MPI_Comm comm, void **made)
{
    struct pf_communicators *communicators;
    int status = pf_communicators_join(comm, &communicators);
    if (status)
        return status;
    struct pf_handle *handle = given ? calloc(1, kind->bytes) : NULL;
    if (!given)
        status = pf_fail(PENCILFFT_BAD_CALL, "%s: null descriptor or plan", kind->create);
    else if (!handle)
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for a plan");
    if ((status = pf_agree(status, communicators->all))) {
        free(handle);
        if (status != PENCILFFT_MPI_ERROR)
            pf_communicators_leave(communicators);
        return status;
    }
    handle->communicators = communicators;
    handle->all = communicators->all;
    *made = handle;
    PF_MPI(MPI_Comm_rank(handle->all, &handle->rank));
    PF_MPI(MPI_Comm_size(handle->all, &handle->ranks));
    return status;
}

int pf_handle_create(const struct pf_kind *kind, bool given, const void *desc, MPI_Comm comm, void **made)
{
    *made = NULL;
    int status = pf_usable(comm, kind->create);
    if (!status)
        status = begin(kind, given, comm, made);
    struct pf_handle *handle = *made;
    if (!status)
        status = kind->make(handle, desc);
    if (!status)
        status = pf_calls_check(handle->all, handle->rank, &handle->checks_calls);
    if (status && status != PENCILFFT_MPI_ERROR) {
        pf_handle_destroy(kind, handle);
        *made = NULL;
    }
    return status;
}

int pf_handle_destroy(const struct pf_kind *kind, void *plan)
{
    struct pf_handle *handle = plan;
    int status = handle ? pf_usable(handle->all, kind->destroy) : PENCILFFT_OK;
    if (!handle || status)
        return status;
    if (handle->in_flight)
        status = pf_fail(PENCILFFT_BAD_CALL, "%s: the plan is in flight; call pencilfft_wait() first", kind->destroy);
    status = pf_same_call_in(handle->all, handle->rank, handle->checks_calls, status, kind->destroy);
    if (status)
        return status;
    status = kind->release(handle);
    if (!status)
        status = pf_communicators_leave(handle->communicators);
    free(handle);
    return status;
}
