/* Which buffers lie between the passes of a transform.
 * Idea:  a pass writes straight into the messages that leave and reads straight from those that arrived; what a rank
 *        keeps it writes to where it will be read, and no message to itself is sent. A buffer is free again when the
 *        pass after has read it, so two work buffers suffice for one exchange, and with two exchanges the output serves as
 *        third. An exchange that is tied to its buffers, or still sends while the pass after it runs, sends from a work
 *        buffer of the plan; one that has memory of its own is written to and read from there.
 *        in and out may be the same: in is read before out is written, also where passes overlap, for an exchange sends
 *        all slices before it gives back the first. */
#include "plan/make.h"

/* Runs on the buffers it was connected with, and on no others. */
static bool is_tied_to_buffers(const struct pf_exchange *exchange)
{
    return exchange->connect != NULL && exchange->takes == PF_MESSAGES;
}

/* Still sends from the plan's buffers while the pass after it runs. */
static bool sends_on(const struct pf_exchange *exchange)
{
    return exchange->overlaps && !exchange->memory;
}

/* The first work buffer that is none of these. */
static int other_work(int a, int b, int c)
{
    int work = PF_WORK;
    while (work == a || work == b || work == c)
        work++;
    return work;
}

/* What arrived before is read while this is written, and what left before may still be sent. */
static struct pf_joint joint_behind(const struct pencilfft_plan_s *plan, int e, const struct pf_joint *before)
{
    const struct pf_exchange *exchange = e >= 0 ? plan->chosen[e] : NULL;
    bool still = before && before->exchange >= 0 && sends_on(plan->chosen[before->exchange]);
    int read = before ? before->to : PF_IN, sent = still ? before->from : PF_IN;
    int work = other_work(read, sent, PF_IN);
    if (!exchange)
        return (struct pf_joint){PF_NO_EXCHANGE, work, work};
    if (exchange->memory)
        return (struct pf_joint){e, PF_MEMORY + e, PF_MEMORY + e};
    int from = !before || is_tied_to_buffers(exchange) || sends_on(exchange) ? work : PF_OUT;
    return (struct pf_joint){e, from, other_work(read, sent, from)};
}

void pf_joints_make(pencilfft_plan plan, int backward)
{
    struct pf_sequence *sequence = &plan->sequence[backward];
    sequence->n = plan->passes;
    for (int i = 0; i < sequence->n - 1; i++) {
        int forward = backward ? sequence->n - 2 - i : i;
        sequence->joint[i] = joint_behind(plan, plan->form[forward].exchange, i > 0 ? &sequence->joint[i - 1] : NULL);
    }
}

struct pf_joint pf_joint_alone(const struct pencilfft_plan_s *plan, int backward, int e)
{
    const struct pf_sequence *sequence = &plan->sequence[backward];
    struct pf_joint joint = {e, PF_WORK, PF_WORK + 1};
    for (int i = 0; i < sequence->n - 1; i++)
        if (sequence->joint[i].exchange == e)
            joint = sequence->joint[i];
    if (joint.from == PF_OUT)
        joint.from = other_work(joint.to, PF_IN, PF_IN);
    return joint;
}

static bool needs(struct pf_joint joint, int buffer)
{
    return joint.from == buffer || joint.to == buffer;
}

bool pf_joints_need(const struct pencilfft_plan_s *plan, int buffer)
{
    bool needed = false;
    for (int backward = 0; backward < PF_DIRECTIONS; backward++) {
        for (int i = 0; i < plan->sequence[backward].n - 1; i++)
            needed |= needs(plan->sequence[backward].joint[i], buffer);
        for (int e = 0; e < plan->exchanges && pf_has_direction(plan, backward); e++)
            needed |= needs(pf_joint_alone(plan, backward, e), buffer);
    }
    return needed;
}
