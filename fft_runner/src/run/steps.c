/* A transform as a list of steps.
 * Idea:  the schedule lists moves: a pass, the start of an exchange, its finish, each for a lane. exchange.h gives the steps
 *        of an exchange: begin before its first message is written, start when all are, finish before a message is read, end
 *        when all are read. Beside other work, begin comes right before start, because another message may still be read at
 *        the place of its messages; for the same reason a rank's own data are copied there only at this time. An exchange
 *        alone is the same with packing and unpacking in place of the passes, lane by lane.
 * Cost:  a list of some ten steps a lane, made once. */
#include "layout/layout.h"
#include "passes/passes.h"
#include "run/inside.h"

#include <stdlib.h>

/* A list that grows; without memory it only counts. */
struct maker {
    pencilfft_plan plan;
    int backward;
    bool alone;
    struct pf_steps *steps;
    bool synced[PF_DIRECTIONS][PF_MAX_EXCHANGES]; /* ranks have waited for each other before this exchange */
};

/* ---- parts of moves ------------------------------------------------------------------------------------------------- */

static void add(struct maker *m, struct pf_step step)
{
    step.backward = m->backward;
    if (m->steps->step)
        m->steps->step[m->steps->n] = step;
    m->steps->n++;
}

static const struct pf_joint *joint_of(const struct maker *m, int lane, int i)
{
    return &m->plan->program.sequence[m->backward].joint[m->plan->layout.lane[lane].route][i];
}

/* An exchange of boxes alone works on the caller's arrays, unless there is other work beside, numbers are sent in
 * another precision, or fields are interleaved. */
static void add_exchange(struct maker *m, enum pf_step_kind kind, int l, const struct pf_joint *joint)
{
    struct pf_lane *lane = &m->plan->layout.lane[l];
    struct pf_transfer *t = &lane->transfer[m->backward][joint->exchange];
    const struct pf_exchange *exchange = t->exchange;
    bool whole = m->alone && t->sent.whole && !m->plan->chosen.beside && !pf_rounds(m->plan) &&
                 !m->plan->request.interleaved;
    bool copied = m->plan->chosen.beside || joint->kept != PF_KEPT_THERE;
    bool own = copied && !exchange->moves_self;
    if ((kind == PF_SYNC && !m->plan->request.sync->wait) || (kind == PF_BEGIN && !exchange->begin) ||
        (kind == PF_OWN && !own) || (kind == PF_FINISH && !exchange->finish) || (kind == PF_END && !exchange->end) ||
        ((kind == PF_PACK || kind == PF_UNPACK) && whole))
        return;
    add(m, (struct pf_step){.kind = kind,
                            .lane = l,
                            .transfer = t,
                            .from = whole ? PF_IN : joint->from,
                            .to = whole ? PF_OUT : joint->to,
                            .slot = lane->slot,
                            .kept = joint->kept});
}

/* Once for all lanes, before the first lane starts; if exchanges run beside each other, once before all exchanges. */
static void add_sync(struct maker *m, int l, const struct pf_joint *joint)
{
    int e = m->plan->chosen.beside ? 0 : m->plan->layout.route[m->plan->layout.lane[l].route].exchange[joint->exchange];
    bool *synced = &m->synced[m->backward && !m->plan->chosen.beside][e];
    if (!*synced)
        add_exchange(m, PF_SYNC, l, joint);
    *synced = true;
}

/* ---- moves of a schedule -------------------------------------------------------------------------------------------- */

/* Before the pass that writes an exchange's messages, and after the pass that reads the messages, for all lanes. */
static void add_around(struct maker *m, enum pf_step_kind kind, int i)
{
    for (int l = 0; l < m->plan->layout.lanes && !m->plan->chosen.beside; l++)
        if (i >= 0 && i < m->plan->program.sequence[m->backward].n - 1 && joint_of(m, l, i)->exchange >= 0)
            add_exchange(m, kind, l, joint_of(m, l, i));
}

static void add_pass(struct maker *m, int i, int lane)
{
    struct pf_sequence *sequence = &m->plan->program.sequence[m->backward];
    struct pf_pass *pass = &sequence->pass[lane == PF_ALL_LANES ? 0 : m->plan->layout.lane[lane].route][i];
    struct pf_range range = lane == PF_ALL_LANES ? pf_pass_all(pass)
                                                 : pf_lane_range(m->plan, &m->plan->layout.lane[lane], pass);
    add_around(m, PF_BEGIN, i);
    add(m, (struct pf_step){.kind = PF_PASS, .lane = lane, .pass = pass, .range = range});
    add_around(m, PF_END, i - 1);
}

static void add_move(void *list, enum pf_move move, int at, int lane)
{
    struct maker *m = list;
    if (move == PF_DO_PASS) {
        add_pass(m, at, lane);
        return;
    }
    const struct pf_joint *joint = joint_of(m, lane, at);
    if (joint->exchange < 0)
        return;
    if (move == PF_DO_START) {
        add_sync(m, lane, joint);
        if (m->plan->chosen.beside)
            add_exchange(m, PF_BEGIN, lane, joint);
        add_exchange(m, PF_OWN, lane, joint);
        add_exchange(m, PF_START, lane, joint);
        return;
    }
    add_exchange(m, PF_FINISH, lane, joint);
    if (m->plan->chosen.beside)
        add_exchange(m, PF_END, lane, joint);
}

/* In place, a field of the result may be written after the fields under it have been read; chunks along x or z have other
 * places in the result than in the input. */
static bool is_early(const struct pencilfft_plan_s *plan, int backward)
{
    const int64_t bytes[2] = {pf_box_elements(&plan->layout.input) * (int64_t)plan->layout.input_bytes,
                              pf_box_elements(&plan->layout.route[0].mine[1][plan->layout.exchanges]) *
                                  (int64_t)plan->layout.element_bytes};
    bool fields = plan->chosen.choice.axis == PF_CUT_FIELD && !plan->request.interleaved;
    return !pf_pass_runs_by_lanes(plan, backward, 0) || (fields && bytes[!backward] <= bytes[backward]);
}

static struct pf_order order_of(struct maker *m)
{
    struct pencilfft_plan_s *plan = m->plan;
    struct pf_order order = {.lanes = plan->layout.lanes,
                             .exchanges = plan->program.sequence[m->backward].n - 1,
                             .early = is_early(plan, m->backward),
                             .add = add_move,
                             .list = m};
    for (int i = 0; i <= order.exchanges; i++)
        order.by_lane[i] = pf_pass_runs_by_lanes(plan, m->backward, i);
    return order;
}

static void list_transform(struct maker *m, int e)
{
    struct pf_order order = order_of(m);
    const struct pf_schedule *schedule = m->plan->chosen.beside ? m->plan->chosen.choice.schedule : &pf_schedule_sequence;
    (void)e;
    schedule->order(&order);
}

/* The maker lists the forward moves, and a second maker continues with the backward moves. */
static void list_pair(struct maker *m, int e)
{
    struct maker backward = *m;
    struct pf_order one = order_of(m), other;
    (void)e;
    backward.backward = 1;
    backward.synced[0][0] = true; /* before the forward transform, which starts first */
    other = order_of(&backward);
    pf_order_pair(&one, &other);
}

static void list_alone(struct maker *m, int e)
{
    for (int l = 0; l < m->plan->layout.lanes; l++) {
        const struct pf_route *route = &m->plan->layout.route[m->plan->layout.lane[l].route];
        int at = 0;
        while (route->exchange[at] != e)
            at++;
        struct pf_joint joint = pf_joint_alone(m->plan, m->backward, m->plan->layout.lane[l].route, at);
        add_exchange(m, PF_BEGIN, l, &joint);
        add_exchange(m, PF_PACK, l, &joint);
        add_sync(m, l, &joint);
        add_exchange(m, PF_OWN, l, &joint);
        add_exchange(m, PF_START, l, &joint);
        add_exchange(m, PF_FINISH, l, &joint);
        add_exchange(m, PF_UNPACK, l, &joint);
        add_exchange(m, PF_END, l, &joint);
    }
}

/* Counts, allocates, lists. */
static int make_steps(struct maker *m, void (*list)(struct maker *m, int e), int e)
{
    struct maker counting = *m;
    m->steps->n = 0;
    list(&counting, e);
    if (!(m->steps->step = calloc((size_t)m->steps->n, sizeof *m->steps->step)))
        return pf_fail(PENCILFFT_NO_MEMORY, "no memory for the steps of a transform");
    m->steps->n = 0;
    list(m, e);
    return PENCILFFT_OK;
}

int pf_steps_make(pencilfft_plan plan, int backward)
{
    struct pf_sequence *sequence = &plan->program.sequence[backward];
    struct maker whole = {.plan = plan, .backward = backward, .steps = &sequence->transform};
    int status = make_steps(&whole, list_transform, 0);
    for (int e = 0; e < plan->layout.exchanges && !status && plan->layout.routes == 1; e++) {
        struct maker alone = {.plan = plan, .backward = backward, .alone = true, .steps = &sequence->alone[e]};
        status = make_steps(&alone, list_alone, e);
    }
    return status;
}

int pf_steps_pair(pencilfft_plan plan)
{
    struct maker m = {.plan = plan, .steps = &plan->program.pair};
    return pf_runs_pairs(plan) ? make_steps(&m, list_pair, 0) : PENCILFFT_OK;
}

void pf_steps_release(struct pf_steps *steps)
{
    free(steps->step);
    *steps = (struct pf_steps){.n = 0};
}
