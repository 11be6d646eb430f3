/* Which buffers lie between the passes of a transform.
 * Idea:  a pass writes straight into the messages that leave and reads straight from those that arrived; what a rank
 *        keeps it writes to where it will be read, and no message to itself is sent. A buffer is free again when the
 *        pass after has read it, so two work buffers suffice for one exchange, and with two exchanges the output serves as
 *        third. An exchange that is tied to its buffers sends from a work buffer of the plan; one that has memory of its own
 *        is written to and read from there. in and out may be the same: in is read before out is written.
 *        Where exchanges run beside passes and each other, each lane has a slot in two work buffers (lanes.c). What a rank
 *        keeps lies among what is sent then, and is copied when the exchange starts, because the pass before may still read
 *        where it goes. */
#include "plan/make.h"

/* Runs on the buffers it was connected with, and on no others. */
static bool is_tied_to_buffers(const struct pf_exchange *exchange)
{
    return exchange->connect != NULL && exchange->takes == PF_MESSAGES;
}

/* The first work buffer that is none of these. */
static int other_work(int a, int b)
{
    int work = PF_WORK;
    while (work == a || work == b)
        work++;
    return work;
}

/* What arrived before is read while this is written. */
static struct pf_joint joint_behind(const struct pencilfft_plan_s *plan, int e, const struct pf_joint *before)
{
    const struct pf_exchange *exchange = e >= 0 ? plan->chosen[e] : NULL;
    int read = before ? before->to : PF_IN, work = other_work(read, PF_IN);
    if (!exchange)
        return (struct pf_joint){PF_NO_EXCHANGE, work, work};
    if (exchange->memory)
        return (struct pf_joint){e, PF_MEMORY + e, PF_MEMORY + e};
    int from = !before || is_tied_to_buffers(exchange) ? work : PF_OUT;
    return (struct pf_joint){e, from, other_work(read, from)};
}

/* Slots of two work buffers, those of both directions apart where they may run at once. */
static struct pf_joint joint_of_slots(const struct pencilfft_plan_s *plan, int backward, int at)
{
    int work = PF_WORK + (pf_runs_pairs(plan) ? 2 * backward : 0);
    return (struct pf_joint){at, work, work + 1};
}

void pf_joints_make(pencilfft_plan plan, int backward)
{
    struct pf_sequence *sequence = &plan->sequence[backward];
    sequence->n = plan->route[0].passes;
    for (int r = 0; r < plan->routes; r++)
        for (int i = 0; i < sequence->n - 1; i++) {
            int at = plan->route[r].form[backward ? sequence->n - 2 - i : i].exchange;
            sequence->joint[r][i] = plan->beside ? joint_of_slots(plan, backward, at)
                                                 : joint_behind(plan, at, i > 0 ? &sequence->joint[r][i - 1] : NULL);
        }
}

struct pf_joint pf_joint_alone(const struct pencilfft_plan_s *plan, int backward, int route, int at)
{
    const struct pf_sequence *sequence = &plan->sequence[backward];
    struct pf_joint joint = {at, PF_WORK, PF_WORK + 1};
    if (plan->beside)
        return joint_of_slots(plan, backward, at);
    for (int i = 0; i < sequence->n - 1; i++)
        if (sequence->joint[route][i].exchange == at)
            joint = sequence->joint[route][i];
    if (joint.from == PF_OUT)
        joint.from = other_work(joint.to, PF_IN);
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
            needed |= needs(plan->sequence[backward].joint[0][i], buffer);
        for (int at = 0; at < plan->exchanges && pf_has_direction(plan, backward); at++)
            needed |= needs(pf_joint_alone(plan, backward, 0, at), buffer);
    }
    return needed;
}
