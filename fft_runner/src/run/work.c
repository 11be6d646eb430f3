/* Work memory of the caller.
 * Idea:  a plan is made with work buffers of its own, because trials and FFTW's planner run in them; then they are released,
 *        and the same buffers are places in the memory of the caller, whole cache lines apart. FFTW's plans depend only on
 *        the alignment.
 * Cost:  the memory of the work buffers, given once for any number of plans that do not run at the same time. */
#include "ends/ends.h"
#include "layout/layout.h"
#include "run/run.h"

enum { ALIGNMENT = 16, LINE = 64 }; /* of the caller's memory, and of the buffers in it */

/* Lays the buffers into memory, or only counts their bytes. Remaps make transforms run in place. */
static int64_t lay(pencilfft_plan plan, bool in_place, char *memory)
{
    bool remapped = plan->layout.end[0].remapped || plan->layout.end[1].remapped;
    char *start = memory ? memory + (LINE - (uintptr_t)memory % LINE) % LINE : NULL;
    int64_t bytes = pf_works_lay(plan, in_place || remapped, start);
    for (int end = 0; end < PF_ENDS; end++)
        if (plan->layout.end[end].remap)
            bytes += pf_remap_lay(plan->layout.end[end].remap, start ? start + bytes : NULL);
    return bytes ? bytes + LINE - ALIGNMENT : 0;
}

void pf_work_leave(pencilfft_plan plan)
{
    pf_buffers_release(plan);
    for (int end = 0; end < PF_ENDS; end++)
        if (plan->layout.end[end].remap)
            pf_remap_leave_buffers(plan->layout.end[end].remap);
    plan->memory.work_is_left = true;
}

int pf_work_get(pencilfft_plan plan, bool in_place)
{
    if (!plan->memory.work_is_left)
        return in_place ? pf_works_make(plan, true) : PENCILFFT_OK;
    int64_t bytes = lay(plan, in_place, NULL);
    if (plan->memory.given_bytes >= bytes)
        return PENCILFFT_OK;
    return pf_fail(
        PENCILFFT_BAD_CALL,
        "the plan has %lld bytes of work memory, and a run %s needs %lld; call pencilfft_set_work() with memory of "
        "pencilfft_work_bytes()",
        (long long)plan->memory.given_bytes, in_place ? "in place" : "with two arrays", (long long)bytes);
}

int pencilfft_work_bytes(pencilfft_plan plan, int in_place, int64_t *bytes)
{
    if (!plan || !bytes || (in_place != 0 && in_place != 1))
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_work_bytes: null plan or result, or in_place is neither 0 nor 1");
    *bytes = plan->request.caller_work ? lay(plan, in_place, NULL) : 0;
    return PENCILFFT_OK;
}

int pencilfft_set_work(pencilfft_plan plan, void *work, int64_t bytes)
{
    if (!plan || plan->in_flight)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_set_work: null plan, or the plan is in flight");
    if (!plan->request.caller_work)
        return pf_fail(PENCILFFT_BAD_CALL,
                       "pencilfft_set_work: the plan has its own work memory; set caller_work in its descriptor");
    int64_t least = lay(plan, false, NULL), most = lay(plan, true, NULL);
    if (bytes < least || (!work && bytes > 0))
        return pf_fail(PENCILFFT_BAD_CALL,
                       "pencilfft_set_work: %lld bytes of work memory%s; the plan needs %lld, and %lld to run in place",
                       (long long)bytes, work ? "" : " at a null pointer", (long long)least, (long long)most);
    if ((uintptr_t)work % ALIGNMENT)
        return pf_fail(PENCILFFT_BAD_CALL,
                       "pencilfft_set_work: the work memory is not aligned to %d bytes; align it, e.g. by aligned_alloc()",
                       ALIGNMENT);
    lay(plan, bytes >= most, work);
    plan->memory.given_bytes = bytes;
    return PENCILFFT_OK;
}
