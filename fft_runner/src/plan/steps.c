/* A transform as a list of steps.
 * Idea:  passes, and between them what exchange.h says of an exchange: begin before its first message is written, start when
 *        a slice is written, finish before a slice is read, end when all are read. The first pass makes the slices of an
 *        exchange that overlaps one after the other, and the pass behind such an exchange uses them likewise; all other
 *        passes are run whole. An exchange alone is the same with packing and unpacking in place of the passes.
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
static void add_exchange(struct maker *m, enum pf_step_kind kind, const struct pf_joint *joint, int slice)
{
    const struct pf_exchange *exchange = transfer_of(m, joint)->exchange;
    bool whole = !m->pass && exchange->takes == PF_BOXES;
    if ((kind == PF_SYNC && !m->plan->sync->wait) || (kind == PF_BEGIN && !exchange->begin) ||
        (kind == PF_FINISH && !exchange->finish) || (kind == PF_END && !exchange->end))
        return;
    add(m, (struct pf_step){.kind = kind,
                            .exchange = joint->exchange,
                            .slice = slice,
                            .from = whole ? PF_IN : joint->from,
                            .to = whole ? PF_OUT : joint->to});
}

static int slices_of(const struct pf_transfer *t)
{
    return t->exchange->takes == PF_BOXES ? 1 : t->sent.list.slices;
}

static void add_all(struct maker *m, enum pf_step_kind kind, const struct pf_joint *joint)
{
    for (int slice = 0; slice < slices_of(transfer_of(m, joint)); slice++)
        add_exchange(m, kind, joint, slice);
}

/* The slice of pass i that an exchange needs or gives; without one, all of it. */
static void add_pass(struct maker *m, int i, const struct pf_joint *joint, int slice, bool last_does_all)
{
    const struct pf_transfer *t = transfer_of(m, joint);
    struct pf_step step = {.kind = PF_PASS, .pass = i, .slice = slice};
    step.range = t ? pf_pass_range(&m->pass[i], t->transpose.slice_axis, slices_of(t), slice, last_does_all)
                   : pf_pass_range(&m->pass[i], Z, 1, 0, true);
    add(m, step);
}

static void add_work(struct maker *m, int i, const struct pf_joint *by, const struct pf_joint *joint, int slice)
{
    if (m->pass)
        add_pass(m, i, by, slice, i > 0);
    else if (transfer_of(m, joint)->exchange->takes == PF_BOXES)
        return;
    else if (by)
        add_exchange(m, i == 0 ? PF_PACK : PF_UNPACK, joint, slice);
    else
        add_all(m, i == 0 ? PF_PACK : PF_UNPACK, joint);
}

static bool overlaps(const struct maker *m, const struct pf_joint *joint)
{
    return transfer_of(m, joint) && transfer_of(m, joint)->exchange->overlaps;
}

/* Work i, whole or by the slices of the exchange behind or before it, with what that exchange does meanwhile. */
static void add_stage(struct maker *m, int i, const struct pf_joint *before, const struct pf_joint *behind)
{
    bool makes = i == 0 && overlaps(m, behind), uses = overlaps(m, before);
    if (makes) {
        add_exchange(m, PF_SYNC, behind, 0);
        add_exchange(m, PF_BEGIN, behind, 0);
        for (int slice = 0; slice < slices_of(transfer_of(m, behind)); slice++) {
            add_work(m, i, behind, behind, slice);
            add_exchange(m, PF_START, behind, slice);
        }
    } else if (uses) {
        for (int slice = 0; slice < slices_of(transfer_of(m, before)); slice++) {
            add_exchange(m, PF_FINISH, before, slice);
            if (behind && slice == 0)
                add_exchange(m, PF_BEGIN, behind, 0);
            add_work(m, i, before, before, slice);
        }
    } else {
        if (before)
            add_all(m, PF_FINISH, before);
        if (behind)
            add_exchange(m, PF_BEGIN, behind, 0);
        add_work(m, i, NULL, before ? before : behind, 0);
    }
    if (before)
        add_exchange(m, PF_END, before, 0);
    if (behind && !makes) {
        add_exchange(m, PF_SYNC, behind, 0);
        add_all(m, PF_START, behind);
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
