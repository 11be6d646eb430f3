/* Buffers of a plan: buffers for the caller, work buffers, and the address of each buffer of a transform.
 * Idea:  strides of a transform touch a page with every element, and a processor knows the addresses of few pages. So large
 *        buffers begin at a large page, and Linux is asked for such pages (if it leaves large pages to requests). */
#include "layout/inside.h"

#include <stdlib.h>
#include <string.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "speed/tuning.h"

/* Bytes between starts of buffers that FFTW and the caches both like. */
enum { ALIGNMENT = 64 };

/* Elements between starts of outputs; of 4 bytes or more, they are whole cache lines. */
enum { OUT_UNIT = 16 };

#if defined(MADV_HUGEPAGE)
enum { PAGE = 1 << 21 }; /* of x86-64, and most of Arm */

/* Request large pages for these bytes; nothing depends on the answer. */
static void ask_for_pages(char *data, size_t bytes)
{
    if (bytes >= PAGE)
        madvise(data, bytes / PAGE * PAGE, MADV_HUGEPAGE);
}
#else
enum { PAGE = ALIGNMENT };

static void ask_for_pages(char *data, size_t bytes)
{
    (void)data, (void)bytes;
}
#endif

int pf_buffer_make(const struct pencilfft_plan_s *plan, int64_t elements, struct pf_buffer *buffer)
{
    size_t bytes = (size_t)elements * plan->layout.element_bytes;
    size_t unit = bytes >= PAGE ? PAGE : ALIGNMENT;
    buffer->raw = malloc(bytes + unit);
    if (!buffer->raw)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for a buffer of %zu bytes", bytes);
    buffer->data = (char *)buffer->raw + (unit - (uintptr_t)buffer->raw % unit);
    ask_for_pages(buffer->data, bytes);
    return PENCILFFT_OK;
}

int pf_outs_make(const struct pencilfft_plan_s *plan, int64_t elements, int most, int64_t bytes, struct pf_outs *outs)
{
    int64_t step = (pf_larger(1, elements) + OUT_UNIT - 1) / OUT_UNIT * OUT_UNIT;
    int64_t room = bytes / (step * (int64_t)plan->layout.element_bytes);
    int n = (int)pf_larger(1, pf_smaller(most, room));
    *outs = (struct pf_outs){.n = n, .step = (size_t)step * plan->layout.element_bytes};
    int status = pf_buffer_make(plan, n * step, &outs->buffer);
    if (!status)
        memset(outs->buffer.data, 0, (size_t)n * outs->step);
    return status;
}

void *pf_outs_next(struct pf_outs *outs)
{
    return (char *)outs->buffer.data + (size_t)(outs->next++ % outs->n) * outs->step;
}

void pf_buffers_release(pencilfft_plan plan)
{
    pf_given_forget(plan);
    while (plan->memory.buffers) {
        struct pf_buffer *next = plan->memory.buffers->next;
        free(plan->memory.buffers->raw);
        free(plan->memory.buffers);
        plan->memory.buffers = next;
    }
    memset(plan->memory.work, 0, sizeof plan->memory.work);
    memset(plan->memory.extra, 0, sizeof plan->memory.extra);
}

/* The place for a rank's own data of the first exchange: the place of the receiver or, while that is also read, among the
 * sent data. A pass counts from the start of the received data. */
static char *kept(const struct pencilfft_plan_s *plan, int backward, char *const buffer[PF_BUFFERS])
{
    const struct pf_sequence *sequence = &plan->program.sequence[backward];
    const struct pf_joint *joint = &sequence->joint[0][0];
    if (sequence->n < 2 || joint->kept != PF_KEPT_BY_ARRAYS)
        return NULL;
    const struct pf_transfer *t = &plan->layout.lane[0].transfer[backward][joint->exchange];
    int me = t->transpose.me;
    if (buffer[joint->to] != buffer[PF_IN] || t->exchange->moves_self)
        return buffer[joint->to];
    char *from = buffer[joint->from]; /* unknown while persistent requests are made */
    return from ? from + (t->sent.list.start[me] - t->received.list.start[me]) * (int64_t)plan->layout.sent_bytes : NULL;
}

void pf_buffers_list(const struct pencilfft_plan_s *plan, int backward, const struct pf_arrays *arrays,
                     char *buffer[PF_BUFFERS])
{
    bool same = arrays->in == arrays->out;
    memset(buffer, 0, PF_BUFFERS * sizeof *buffer);
    buffer[PF_IN] = (char *)arrays->in;
    buffer[PF_OUT] = arrays->out;
    buffer[PF_ROOM] = arrays->room;
    for (int i = 0; i < PF_WORKS; i++)
        buffer[PF_WORK + i] = plan->memory.work[i];
    if (plan->program.sequence[backward].input_is_work && !same)
        buffer[PF_WORK] = arrays->work;
    for (int e = 0; e < plan->layout.exchanges; e++) {
        const struct pf_transfer *t = &plan->layout.lane[0].transfer[backward][e]; /* an exchange with memory has one lane */
        if (t->state && t->exchange->memory)
            buffer[PF_MEMORY + e] = t->exchange->memory(t->state);
    }
    buffer[PF_SPARE] = same ? buffer[PF_WORK + 1] : buffer[PF_ROOM];
    buffer[PF_KEPT] = kept(plan, backward, buffer);
}

int pf_buffer_add(pencilfft_plan plan, int64_t elements, void **data)
{
    struct pf_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer)
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for a buffer");
    int status = pf_buffer_make(plan, elements, buffer);
    if (status) {
        free(buffer);
        return status;
    }
    buffer->next = plan->memory.buffers;
    plan->memory.buffers = buffer;
    *data = buffer->data;
    return PENCILFFT_OK;
}

static int make_work(pencilfft_plan plan, int i)
{
    bool lent = plan->memory.lent_work[i] && plan->memory.lent_work_elements >= plan->memory.work_elements;
    if (!lent)
        return pf_buffer_add(plan, plan->memory.work_elements, &plan->memory.work[i]);
    plan->memory.work[i] = plan->memory.lent_work[i];
    return PENCILFFT_OK;
}

int64_t pf_works_lay(pencilfft_plan plan, bool in_place, char *memory)
{
    int64_t step = (plan->memory.work_elements * (int64_t)plan->layout.element_bytes + ALIGNMENT - 1) / ALIGNMENT *
                   ALIGNMENT,
            bytes = 0;
    for (int late = 0; late <= (in_place ? 1 : 0); late++)
        for (int i = 0; i < PF_WORKS; i++) {
            bool early = pf_joints_need(plan, PF_WORK + i, false);
            if (late ? early || !pf_joints_need(plan, PF_WORK + i, true) : !early)
                continue;
            if (memory)
                plan->memory.work[i] = memory + bytes;
            bytes += step;
        }
    return bytes;
}

int pf_works_make(pencilfft_plan plan, bool in_place)
{
    int status = PENCILFFT_OK;
    for (int i = 0; i < PF_WORKS && !status; i++)
        if (!plan->memory.work[i] && pf_joints_need(plan, PF_WORK + i, in_place))
            status = make_work(plan, i);
    return status;
}

int pf_extra_make(pencilfft_plan plan, int extra)
{
    return plan->memory.extra[extra] ? PENCILFFT_OK
                                     : pf_buffer_add(plan, plan->memory.alloc_elements, &plan->memory.extra[extra]);
}
