/* The buffers between the passes of a transform.
 * Idea:  a pass writes straight into the leaving messages and reads straight from the arrived messages. If exchanges run
 *        alone, two buffers take turns, and the caller's output is one of them, so that a plan has one work buffer:
 *            last in place   in -> work = out -> work = out -> out     the last exchange leaves the array as stored, and
 *                                                                      the last pass reads and writes the same places
 *            first in place  in -> out = work -> out = work -> out     if messages are sent as the first array is stored
 *        in and out may be the same, for in the first case in is read before out is written, and in the second the first
 *        pass writes the elements it has read. If neither order fits, a run with a single array needs a second work buffer
 *        in place of the output (PF_SPARE).
 *        If the input may be destroyed, it becomes that work buffer after the first pass: in -> out = in -> out = in -> out.
 *        Then only a run with a single array needs other buffers, made at the first such run.
 *        A rank alone needs no work buffer if its last array is stored like a work buffer: in -> out -> out. If first and
 *        last array are stored in different ways, a run with a single array needs such a buffer, made at the first such run.
 *        A rank's own data are written to the place of the reader, unless the pass reads that buffer: then the data lie
 *        among the sent data, and are copied before the exchange (PF_KEPT: only if the first pass reads the buffer).
 *        An exchange that is tied to its buffers has two of the plan's; an exchange with its own memory is written and read
 *        there. If exchanges run beside passes and each other, each lane has a slot in two work buffers (lanes.c). A rank's
 *        own data are then copied when the exchange starts, because the pass before may still read their destination.
 *        The caller's output may be only as long as its elements. Messages that are longer lie in PF_ROOM, which is the
 *        output if that is a buffer of the plan, else a buffer made at the first such run. */
#include "layout/inside.h"

/* The algorithm of the exchange behind pass i; NULL if there is no exchange. */
static const struct pf_exchange *exchange_behind(const struct pencilfft_plan_s *plan, int backward, int i)
{
    const struct pf_route *route = &plan->layout.route[0];
    int at = route->form[backward ? route->passes - 2 - i : i].exchange;
    return at < 0 ? NULL : plan->chosen.exchange[route->exchange[at]];
}

/* ---- two work buffers ----------------------------------------------------------------------------------------------- */

/* The first work buffer that is neither a nor b. */
static int other_work(int a, int b)
{
    int work = PF_WORK;
    while (work == a || work == b)
        work++;
    return work;
}

static struct pf_joint joint_without(int buffer)
{
    return (struct pf_joint){.exchange = PF_NO_EXCHANGE, .from = buffer, .to = buffer};
}

/* The pass reads the data that arrived before while writing this joint. */
static struct pf_joint joint_behind(const struct pf_exchange *exchange, int e, const struct pf_joint *before)
{
    int read = before ? before->to : PF_IN, work = other_work(read, PF_IN);
    if (!exchange)
        return joint_without(work);
    if (exchange->memory)
        return (struct pf_joint){.exchange = e, .from = PF_MEMORY + e, .to = PF_MEMORY + e};
    int from = !before || exchange->tied ? work : PF_OUT;
    return (struct pf_joint){.exchange = e, .from = from, .to = other_work(read, from)};
}

/* Slots of two work buffers; both directions have their own buffers if they may run at once. */
static struct pf_joint joint_of_slots(const struct pencilfft_plan_s *plan, int backward, int at)
{
    int work = PF_WORK + (pf_runs_pairs(plan) ? 2 * backward : 0);
    return (struct pf_joint){.exchange = at, .from = work, .to = work + 1};
}

/* ---- a single work buffer ------------------------------------------------------------------------------------------- */

static bool may_take_turns(const struct pencilfft_plan_s *plan, int backward)
{
    bool may = !plan->chosen.beside && plan->layout.lanes == 1;
    for (int i = 0; i < plan->layout.route[0].passes - 1; i++) {
        const struct pf_exchange *exchange = exchange_behind(plan, backward, i);
        may &= exchange && (exchange->memory || !exchange->tied);
    }
    return may;
}

/* Whether these pieces are stored like the array. */
static bool lie_as(const struct pf_parts *parts, const pencilfft_box *array)
{
    for (int i = 0; i < parts->list.p; i++) {
        const pencilfft_box *part = &parts->part[i];
        bool same = parts->list.start[i] == pf_box_start(array, part);
        for (int axis = 0; axis < 3; axis++)
            same &= part->extent[axis] < 2 || part->stride[axis] == array->stride[axis];
        if (pf_box_elements(part) && !same)
            return false;
    }
    return true;
}

/* Whether the first exchange of a transform sends messages stored like the input array, or the last exchange receives
 * messages stored like the output array. An exchange with its own memory always fits. */
static bool is_in_place(const struct pencilfft_plan_s *plan, int backward, bool last)
{
    int i = last ? plan->layout.route[0].passes - 2 : 0;
    int at = plan->layout.route[0].form[backward ? plan->layout.route[0].passes - 2 - i : i].exchange;
    const struct pf_transfer *t = &plan->layout.lane[0].transfer[backward][at];
    bool input = last == backward; /* of a forward transform */
    int array = input ? PENCILFFT_INPUT : plan->layout.exchanges;
    if (t->exchange->memory)
        return true;
    if (plan->request.fields > 1 || pf_parts_of(plan, array) > 1 || pf_is_padded(plan) || pf_rounds(plan) ||
        (input && plan->layout.input_bytes != plan->layout.element_bytes))
        return false;
    pencilfft_box box = pf_part_of(plan, array, plan->rank, 0).box;
    return lie_as(last ? &t->received : &t->sent, &box);
}

static void take_turns(pencilfft_plan plan, int backward, struct pf_sequence *sequence)
{
    bool lent = plan->request.destroys_input;
    bool last = !lent && is_in_place(plan, backward, true), first = is_in_place(plan, backward, false);
    int sent = last ? PF_WORK : first ? PF_OUT : PF_SPARE, received = last ? PF_OUT : PF_WORK;
    for (int i = 0; i < sequence->n - 1; i++) {
        struct pf_joint *joint = &sequence->joint[0][i];
        int at = plan->layout.route[0].form[backward ? sequence->n - 2 - i : i].exchange;
        if (exchange_behind(plan, backward, i)->memory) {
            *joint = (struct pf_joint){.exchange = at, .from = PF_MEMORY + at, .to = PF_MEMORY + at};
            continue;
        }
        *joint = (struct pf_joint){.exchange = at, .from = sent, .to = received};
        if (i > 0 && sequence->joint[0][i - 1].to == received)
            joint->kept = PF_KEPT_AMONG_SENT;
        else if (i == 0 && (received == PF_OUT || lent))
            joint->kept = PF_KEPT_BY_ARRAYS;
    }
    sequence->input_is_work = lent;
}

/* ---- no work buffer ------------------------------------------------------------------------------------------------- */

/* Whether a rank alone stores this array like a work buffer between passes. */
static bool is_dense(const struct pencilfft_plan_s *plan, int array)
{
    if (plan->ranks > 1 || plan->chosen.beside || plan->request.fields > 1 || plan->layout.parts > 1 || pf_is_padded(plan))
        return false;
    pencilfft_box box = pf_part_of(plan, array, 0, 0).box;
    return box.stride[2] == 1 && box.stride[1] == box.extent[2] && box.stride[0] == box.extent[1] * box.extent[2];
}

/* A rank alone whose arrays are stored alike: each pass may write its input, the first only if it must. */
static bool may_stay(const struct pencilfft_plan_s *plan)
{
    for (int e = 0; e < plan->layout.exchanges; e++) /* alone */
        if (plan->chosen.exchange[e]->tied)
            return false;
    return plan->layout.input_bytes == plan->layout.element_bytes && is_dense(plan, PENCILFFT_INPUT) &&
           is_dense(plan, plan->layout.exchanges);
}

/* The same if the input is stored differently, with two arrays: the first pass writes to the output. */
static bool may_stay_in_output(const struct pencilfft_plan_s *plan, int backward)
{
    return backward ? plan->layout.input_bytes == plan->layout.element_bytes && is_dense(plan, PENCILFFT_INPUT)
                    : is_dense(plan, plan->layout.exchanges);
}

/* Between two passes of a rank alone. */
static struct pf_joint joint_of_rank_alone(const struct pencilfft_plan_s *plan, int backward, const struct pf_joint *before)
{
    bool stays = may_stay(plan), in_output = may_stay_in_output(plan, backward);
    return stays ? joint_without(PF_OUT) : in_output ? joint_without(PF_SPARE) : joint_behind(NULL, PF_NO_EXCHANGE, before);
}

/* ---- all joints ----------------------------------------------------------------------------------------------------- */

static void join(const struct pencilfft_plan_s *plan, int backward, struct pf_sequence *sequence)
{
    for (int r = 0; r < plan->layout.routes; r++)
        for (int i = 0; i < sequence->n - 1; i++) {
            int at = plan->layout.route[r].form[backward ? sequence->n - 2 - i : i].exchange;
            const struct pf_joint *before = i > 0 ? &sequence->joint[r][i - 1] : NULL;
            sequence->joint[r][i] = plan->chosen.beside ? joint_of_slots(plan, backward, at)
                                    : at >= 0           ? joint_behind(plan->chosen.exchange[at], at, before)
                                                        : joint_of_rank_alone(plan, backward, before);
        }
}

/* Bytes of the messages of an exchange that runs alone, so in one lane. */
static int64_t message_bytes(const struct pencilfft_plan_s *plan, int backward, int at, bool sent)
{
    const struct pf_transfer *t = &plan->layout.lane[0].transfer[backward][at];
    return (sent ? t->sent : t->received).list.total * (int64_t)plan->layout.sent_bytes;
}

/* Messages that are longer than the output go where there is room. */
static void make_room(const struct pencilfft_plan_s *plan, int backward, struct pf_sequence *sequence)
{
    const int array[2] = {PENCILFFT_INPUT, plan->layout.exchanges};
    int64_t in = pf_array_bytes(plan, array[backward], plan->rank), out = pf_array_bytes(plan, array[!backward], plan->rank);
    sequence->room_bytes = sequence->work_bytes = 0;
    for (int i = 0; i < sequence->n - 1 && !plan->chosen.beside; i++)
        for (int sent = 0; sent < 2; sent++) {
            struct pf_joint *joint = &sequence->joint[0][i];
            int *buffer = sent ? &joint->from : &joint->to;
            int64_t bytes = joint->exchange == PF_NO_EXCHANGE ? 0 : message_bytes(plan, backward, joint->exchange, sent);
            if ((*buffer == PF_OUT || *buffer == PF_SPARE) && bytes > out)
                sequence->room_bytes = pf_larger(sequence->room_bytes, bytes);
            if (*buffer == PF_OUT && bytes > out)
                *buffer = PF_ROOM;
            if (*buffer == PF_WORK && sequence->input_is_work && bytes > in)
                sequence->work_bytes = pf_larger(sequence->work_bytes, bytes);
        }
}

void pf_joints_make(pencilfft_plan plan, int backward)
{
    struct pf_sequence *sequence = &plan->program.sequence[backward];
    sequence->n = plan->layout.route[0].passes;
    sequence->input_is_work = may_stay(plan); /* of exchanges alone, which may overwrite the input */
    if (may_take_turns(plan, backward))
        take_turns(plan, backward, sequence);
    else
        join(plan, backward, sequence);
    make_room(plan, backward, sequence);
}

void pf_joint_alone_bytes(const struct pencilfft_plan_s *plan, int backward, int at, int64_t *room, int64_t *work)
{
    struct pf_joint joint = pf_joint_alone(plan, backward, 0, at);
    *room = joint.from == PF_ROOM ? message_bytes(plan, backward, at, true) : 0;
    *work = joint.to == PF_WORK && plan->program.sequence[backward].input_is_work ? message_bytes(plan, backward, at, false)
                                                                                  : 0;
}

struct pf_joint pf_joint_alone(const struct pencilfft_plan_s *plan, int backward, int route, int at)
{
    int e = plan->layout.route[route].exchange[at];
    const struct pf_exchange *exchange = plan->chosen.exchange[e];
    if (plan->chosen.beside)
        return joint_of_slots(plan, backward, at);
    if (exchange->memory && plan->layout.p[e] > 1)
        return (struct pf_joint){.exchange = at, .from = PF_MEMORY + at, .to = PF_MEMORY + at};
    const struct pf_sequence *sequence = &plan->program.sequence[backward];
    if (!exchange->tied)
        return (struct pf_joint){.exchange = at,
                                 .from = PF_ROOM,
                                 .to = PF_WORK, /* which may hold the packed data */
                                 .kept = sequence->input_is_work ? PF_KEPT_AMONG_SENT : PF_KEPT_THERE};
    for (int i = 0; i < sequence->n - 1; i++)
        if (sequence->joint[route][i].exchange == at)
            return sequence->joint[route][i];
    return (struct pf_joint){.exchange = at, .from = PF_WORK, .to = PF_WORK + 1};
}

/* `spare`: include runs with a single array. */
static bool needs(struct pf_joint joint, int buffer, bool lent, bool spare)
{
    if (lent && buffer == PF_WORK)
        return false;
    return joint.from == buffer || joint.to == buffer || (spare && joint.from == PF_SPARE && buffer == PF_WORK + 1);
}

bool pf_joints_need(const struct pencilfft_plan_s *plan, int buffer, bool in_place)
{
    bool needed = false;
    for (int backward = 0; backward < PF_DIRECTIONS; backward++) {
        const struct pf_sequence *sequence = &plan->program.sequence[backward];
        bool lent = sequence->input_is_work && !in_place;
        bool spare = in_place || (plan->ranks > 1 && !lent); /* early, if others would wait for a rank without memory */
        for (int i = 0; i < sequence->n - 1; i++)
            needed |= needs(sequence->joint[0][i], buffer, lent, spare);
        for (int at = 0; at < plan->layout.exchanges && pf_has_direction(plan, backward); at++)
            needed |= needs(pf_joint_alone(plan, backward, 0, at), buffer, sequence->input_is_work, false);
    }
    return needed;
}
