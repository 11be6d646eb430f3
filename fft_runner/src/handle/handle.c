/* How every plan begins and ends. After each step of `make` all ranks agree whether to go on (failure.c), so that no rank
 * waits in a collective call for a rank that has given up. A failure is undone in a single place. */
#include "handle/handle.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

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

/* Bytes of the descriptors of programs, and room for the library's own. */
enum { LEAST_DESC_BYTES = 48, MOST_DESC_BYTES = 4096, OWN_DESC_BYTES = 512 };

/* A program's descriptor in the form of the library, with the defaults of members that the program does not know. */
static int take_desc(const struct pf_kind *kind, const void *given, void *own)
{
    size_t bytes = *(const size_t *)given, own_bytes = kind->desc_bytes;
    if (bytes < LEAST_DESC_BYTES || bytes > MOST_DESC_BYTES || bytes % sizeof(int64_t))
        return pf_fail(PENCILFFT_BAD_CALL, "%s: the descriptor was not initialised; call %s() first", kind->create,
                       kind->init);
    for (size_t i = own_bytes; i < bytes; i++)
        if (((const char *)given)[i])
            return pf_fail(
                PENCILFFT_NOT_POSSIBLE,
                "the descriptor has members that this library, version %s, does not know; the program was compiled "
                "with a newer pencilfft.h",
                PENCILFFT_VERSION);
    memcpy(own, kind->defaults, own_bytes);
    memcpy(own, given, bytes < own_bytes ? bytes : own_bytes);
    memcpy(own, &own_bytes, sizeof own_bytes);
    return PENCILFFT_OK;
}

void pf_desc_give(const void *own, size_t own_bytes, void *desc, size_t bytes)
{
    if (!desc || bytes < sizeof bytes)
        return; /* creating a plan reports the error */
    memset(desc, 0, bytes);
    memcpy(desc, own, bytes < own_bytes ? bytes : own_bytes);
    memcpy(desc, &bytes, sizeof bytes);
}

int pf_handle_create(const struct pf_kind *kind, bool given, const void *desc, MPI_Comm comm, void **made)
{
    *made = NULL;
    int status = pf_usable(comm, kind->create);
    if (!status)
        status = begin(kind, given, comm, made);
    struct pf_handle *handle = *made;
    union {
        max_align_t aligned;
        char bytes[OWN_DESC_BYTES];
    } own;
    if (!status)
        status = pf_agree(take_desc(kind, desc, &own), handle->all);
    if (!status)
        status = kind->make(handle, &own);
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
