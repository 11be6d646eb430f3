/* A transform as a list of steps.
 * Idea:  passes, and between them what exchange.h says of an exchange: begin before its first message is written, start when
 *        all are, finish before one is read, end when all are read. An exchange alone is the same with packing and unpacking
 *        in place of the passes.
 * Cost:  a list of some ten steps, made once. */
#include "plan/make.h"

#include <stdlib.h>

#include "common/failure.h"

enum { Z = 2 };

/* A list that grows; without memory it counts alone. */
struct maker {
    const struct pencilfft_plan_s *plan;
    int backward;
    const struct pf_pass *pass; /* NULL: packing and unpacking */
    struct pf_steps *steps;
};

static const struct pf_transfer *transfer_of(const struct maker *m, const struct pf_joint *joint)
{
    return joint && joint->exchange >= 0 ? &m->plan->transfer[m->backward][joint->exchange] : NULL;
}

static void add(struct maker *m, struct pf_step step)
{
    if (m->steps->step)
        m->steps->step[m->steps->n] = step;
    m->steps->n++;
}

/* With PF_BOXES an exchange alone works on the caller's arrays. */
static void add_exchange(struct maker *m, enum pf_step_kind kind, const struct pf_joint *joint)
{
    const struct pf_exchange *exchange = transfer_of(m, joint)->exchange;
    bool whole = !m->pass && exchange->takes == PF_BOXES;
    if ((kind == PF_SYNC && !m->plan->sync->wait) || (kind == PF_BEGIN && !exchange->begin) ||
        (kind == PF_FINISH && !exchange->finish) || (kind == PF_END && !exchange->end))
        return;
    add(m, (struct pf_step){.kind = kind,
                            .exchange = joint->exchange,
                            .from = whole ? PF_IN : joint->from,
                            .to = whole ? PF_OUT : joint->to});
}

static void add_work(struct maker *m, int i, const struct pf_joint *joint)
{
    if (m->pass)
        add(m, (struct pf_step){.kind = PF_PASS, .pass = i, .range = pf_pass_range(&m->pass[i], Z, 1, 0, true)});
    else if (transfer_of(m, joint)->exchange->takes == PF_MESSAGES)
        add_exchange(m, i == 0 ? PF_PACK : PF_UNPACK, joint);
}

/* Work i, with what the exchanges before and behind it do. */
static void add_stage(struct maker *m, int i, const struct pf_joint *before, const struct pf_joint *behind)
{
    if (before)
        add_exchange(m, PF_FINISH, before);
    if (behind)
        add_exchange(m, PF_BEGIN, behind);
    add_work(m, i, before ? before : behind);
    if (before)
        add_exchange(m, PF_END, before);
    if (behind) {
        add_exchange(m, PF_SYNC, behind);
        add_exchange(m, PF_START, behind);
    }
}

static void list_steps(struct maker *m, const struct pf_joint *joint, int n)
{
    m->steps->n = 0;
    for (int i = 0; i < n; i++) {
        const struct pf_joint *before = i > 0 ? &joint[i - 1] : NULL, *behind = i < n - 1 ? &joint[i] : NULL;
        add_stage(m, i, transfer_of(m, before) ? before : NULL, transfer_of(m, behind) ? behind : NULL);
    }
}

/* Counts, allocates, lists. */
static int make_steps(struct maker *m, const struct pf_joint *joint, int n)
{
    list_steps(m, joint, n);
    if (!(m->steps->step = calloc((size_t)m->steps->n, sizeof *m->steps->step)))
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the steps of a transform");
    list_steps(m, joint, n);
    return PENCILFFT_OK;
}

int pf_steps_make(pencilfft_plan plan, int backward)
{
    struct pf_sequence *sequence = &plan->sequence[backward];
    struct maker whole = {plan, backward, sequence->pass, &sequence->transform};
    int status = make_steps(&whole, sequence->joint, sequence->n);
    for (int e = 0; e < plan->exchanges && !status; e++) {
        struct maker alone = {plan, backward, NULL, &sequence->alone[e]};
        struct pf_joint joint = pf_joint_alone(plan, backward, e);
        status = make_steps(&alone, &joint, 2);
    }
    return status;
}

void pf_steps_release(struct pf_steps *steps)
{
    free(steps->step);
    *steps = (struct pf_steps){.n = 0};
}
