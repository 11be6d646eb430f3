/* Running a plan for distributed lines: step by step, between two buffers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "line_plans/line.h"
#include "speed/clock.h"

static void lap(pencilfft_line_plan plan, int phase)
{
    double now = pf_now();
    plan->seconds[phase] += now - plan->last;
    plan->last = now;
}

enum part { PACK, EXCHANGE, UNPACK };

static void lap_of(pencilfft_line_plan plan, const struct pf_line_work *w, enum part part)
{
    lap(plan, 1 + 3 * w->exchange + (int)part);
}

/* No phase includes this wait. */
static int wait_for_all(pencilfft_line_plan plan)
{
    int status = plan->sync->wait && plan->ranks > 1 ? plan->sync->wait(plan->all) : PENCILFFT_OK;
    plan->last = pf_now();
    return status;
}

static int move(pencilfft_line_plan plan, const struct pf_line_work *w, int backward, const void *from, void *to)
{
    pf_line_move_pack(&w->move, backward, from, plan->sent);
    lap_of(plan, w, PACK);
    int status = wait_for_all(plan);
    if (!status)
        status = pf_line_move_exchange(&w->move, backward, plan->all, plan->sent, plan->received);
    lap_of(plan, w, EXCHANGE);
    if (!status)
        pf_line_move_unpack(&w->move, backward, plan->received, to);
    lap_of(plan, w, UNPACK);
    return status;
}

static void transform(const struct pencilfft_line_plan_s *plan, const struct pf_line_work *w, int64_t points, int backward,
                      const void *from, void *to)
{
    const struct pf_lines *lines = &w->fft[backward];
    if (!lines->plans)
        return;
    pf_lines_run(lines, &(struct pf_lines_block){.in = (void *)from,
                                                 .out = to,
                                                 .in_stride = 1,
                                                 .out_stride = 1,
                                                 .count = {points * plan->lines / lines->n, 1},
                                                 .in_step = {lines->n, 0},
                                                 .out_step = {lines->n, 0}});
}

static void scale(const struct pencilfft_line_plan_s *plan, const struct pf_line_work *w, int64_t points, bool conjugate,
                  const void *from, void *to)
{
    for (int64_t line = 0; line < plan->lines; line++) {
        size_t at = (size_t)(line * points) * plan->numbers->bytes;
        plan->numbers->scale((const char *)from + at, w->weights, conjugate, points, (char *)to + at);
    }
}

/* The factors for the block of each member, or for each member: its butterfly, and the twiddle factor of the rank whose
 * digit it makes. */
static void find_roots(const struct pencilfft_line_plan_s *plan, const struct pf_line_step *s, int backward,
                       double complex *root)
{
    int own = plan->rank / s->apart % s->radix, within = plan->rank % s->apart;
    for (int member = 0; member < s->radix; member++) {
        int made = (bool)backward != s->scatter ? member : own;
        double complex butterfly = pf_root((int64_t)member * own % s->radix, s->radix);
        double complex twiddle = pf_root((int64_t)within * made, (int64_t)s->apart * s->radix);
        root[member] = backward ? conj(butterfly * twiddle) : butterfly * twiddle;
    }
}

static int meet(pencilfft_line_plan plan, const struct pf_line_step *s, const struct pf_line_work *w, int backward,
                const void *from, void *to)
{
    int64_t n = w->meet.mine;
    int status = wait_for_all(plan);
    if (!status)
        status = pf_line_meet_exchange(&w->meet, plan->all, plan->numbers->bytes, from, plan->received);
    lap_of(plan, w, EXCHANGE);
    find_roots(plan, s, backward, w->root);
    for (int member = 0, peer = 0; member < s->radix && !status; member++) {
        const void *block = from;
        if (member != w->meet.own)
            block = (const char *)plan->received + (size_t)w->meet.start[peer++] * plan->numbers->bytes;
        plan->numbers->add(block, w->root[member], member == 0, n, to);
    }
    lap(plan, 0);
    return status;
}

/* Adds the blocks that all other ranks sent for this rank. */
static void add_received(const struct pencilfft_line_plan_s *plan, const struct pf_line_work *w, const void *received,
                         void *to)
{
    for (int i = 0; i < w->meet.peers; i++)
        plan->numbers->add((const char *)received + (size_t)(i * w->meet.mine) * plan->numbers->bytes, 1, false,
                           w->meet.mine, to);
}

static int meet_by_products(pencilfft_line_plan plan, const struct pf_line_step *s, const struct pf_line_work *w,
                            int backward, const void *from, void *to)
{
    find_roots(plan, s, backward, w->root);
    for (int member = 0, peer = 0; member < s->radix; member++) {
        bool own = member == w->meet.own;
        void *product = own ? to : (char *)plan->sent + (size_t)w->meet.start[peer] * plan->numbers->bytes;
        plan->numbers->add(from, w->root[member], true, w->meet.mine, product);
        peer += !own;
    }
    lap(plan, 0);
    int status = wait_for_all(plan);
    if (!status)
        status = pf_line_meet_scatter(&w->meet, plan->all, plan->numbers->bytes, plan->sent, plan->received);
    lap_of(plan, w, EXCHANGE);
    if (!status)
        add_received(plan, w, plan->received, to);
    lap(plan, 0);
    return status;
}

/* Points of each line from a rank's block: `points` points behind `first`. */
static void spread(const struct pencilfft_line_plan_s *plan, const void *block, int64_t first, int64_t points, void *whole)
{
    size_t bytes = plan->numbers->bytes;
    for (int64_t line = 0; line < plan->lines; line++)
        memcpy((char *)whole + (size_t)(line * plan->steps.n + first) * bytes,
               (const char *)block + (size_t)(line * points) * bytes, (size_t)points * bytes);
}

/* A rank's points of every line, line by line. */
static void collect(const struct pencilfft_line_plan_s *plan, const void *whole, int64_t first, int64_t points, void *block)
{
    size_t bytes = plan->numbers->bytes;
    for (int64_t line = 0; line < plan->lines; line++)
        memcpy((char *)block + (size_t)(line * points) * bytes,
               (const char *)whole + (size_t)(line * plan->steps.n + first) * bytes, (size_t)points * bytes);
}

static int gather_and_transform(pencilfft_line_plan plan, const struct pf_line_step *s, const struct pf_line_work *w,
                                int backward, const void *from, void *to)
{
    size_t bytes = plan->numbers->bytes;
    int64_t first = pf_line_label(&s->from, plan->rank, 0), points = pf_line_points(&s->from, plan->rank);
    int status = wait_for_all(plan);
    if (!status)
        status = pf_line_meet_exchange(&w->meet, plan->all, bytes, from, plan->received);
    lap_of(plan, w, EXCHANGE);
    if (status)
        return status;
    for (int rank = 0, peer = 0; rank < plan->ranks; rank++) {
        bool own = rank == w->meet.own;
        const char *block = own ? from : (const char *)plan->received + (size_t)w->meet.start[peer] * bytes;
        spread(plan, block, pf_line_label(&s->from, rank, 0), pf_line_points(&s->from, rank), plan->sent);
        peer += !own;
    }
    lap_of(plan, w, UNPACK);
    transform(plan, w, s->length, backward, plan->sent, plan->received);
    collect(plan, plan->received, first, points, to);
    lap(plan, 0);
    return status;
}

/* The line with zeros in place of other ranks' points. */
static int transform_and_scatter(pencilfft_line_plan plan, const struct pf_line_step *s, const struct pf_line_work *w,
                                 int backward, const void *from, void *to)
{
    size_t bytes = plan->numbers->bytes;
    memset(plan->received, 0, (size_t)(s->length * plan->lines) * bytes);
    spread(plan, from, pf_line_label(&s->from, plan->rank, 0), pf_line_points(&s->from, plan->rank), plan->received);
    lap_of(plan, w, PACK);
    transform(plan, w, s->length, backward, plan->received, plan->sent);
    lap(plan, 0);
    for (int rank = 0, peer = 0; rank < plan->ranks; rank++) {
        bool own = rank == w->meet.own;
        void *block = own ? to : (char *)plan->received + (size_t)w->meet.start[peer] * bytes;
        collect(plan, plan->sent, pf_line_label(&s->from, rank, 0), pf_line_points(&s->from, rank), block);
        peer += !own;
    }
    lap_of(plan, w, PACK);
    int status = wait_for_all(plan);
    if (!status)
        status = pf_line_meet_scatter(&w->meet, plan->all, bytes, plan->received, plan->sent);
    lap_of(plan, w, EXCHANGE);
    if (!status)
        add_received(plan, w, plan->sent, to);
    lap_of(plan, w, UNPACK);
    return status;
}

static int run_step(pencilfft_line_plan plan, int step, int backward, const void *from, void *to)
{
    const struct pf_line_step *s = &plan->steps.step[step];
    const struct pf_line_work *w = &plan->work[step];
    switch (s->kind) {
    case PF_LINE_MOVE: return move(plan, w, backward, from, to);
    case PF_LINE_MEET: return (s->scatter ? meet_by_products : meet)(plan, s, w, backward, from, to);
    case PF_LINE_WHOLE: return (s->scatter ? transform_and_scatter : gather_and_transform)(plan, s, w, backward, from, to);
    case PF_LINE_FFT: transform(plan, w, pf_line_held(plan, step, 0), backward != s->backward, from, to); break;
    default: scale(plan, w, pf_line_held(plan, step, 0), backward != s->backward, from, to);
    }
    lap(plan, 0);
    return PENCILFFT_OK;
}

int pf_line_run(pencilfft_line_plan plan, int backward, int first, int count, const void *in, void *out)
{
    const void *from = in;
    int status = PENCILFFT_OK, next = in == plan->buffer[0], last = backward ? first : first + count - 1;
    int64_t points = count ? pf_line_held(plan, last, !backward) : pf_line_points(&plan->steps.from, plan->rank);
    for (int i = 0; i < count && !status; i++) {
        int step = backward ? first + count - 1 - i : first + i;
        void *to = i == count - 1 && from != out ? out : plan->buffer[next];
        status = run_step(plan, step, backward, from, to);
        next = to == plan->buffer[0];
        from = to;
    }
    if (from != out && !status)
        memcpy(out, from, (size_t)(points * plan->lines) * plan->numbers->bytes);
    return status;
}

int pf_line_check_call(const char *function, const struct pf_handle *plan, pencilfft_direction direction, const void *in,
                       const void *out, int64_t (*bytes_on)(const void *plan, int after, int rank))
{
    enum { ALIGNED = 16 };
    if (!plan)
        return pf_fail(PENCILFFT_BAD_CALL, "%s: null plan or buffer", function);
    int status = pf_usable(plan->all, function), backward = direction == PENCILFFT_BACKWARD;
    if (status)
        return status;
    uintptr_t from = (uintptr_t)in, to = (uintptr_t)out;
    const struct pf_wanted array[2] = {{function, "in", in, bytes_on, plan, backward, backward, NULL},
                                       {function, "out", out, bytes_on, plan, !backward, !backward, NULL}};
    if (!in || !out)
        status = pf_fail(PENCILFFT_BAD_CALL, "%s: null plan or buffer", function);
    else if (direction != PENCILFFT_FORWARD && direction != PENCILFFT_BACKWARD)
        status = pf_fail(PENCILFFT_BAD_CALL, "%s: direction %d; it is PENCILFFT_FORWARD or PENCILFFT_BACKWARD", function,
                         (int)direction);
    else if (from % ALIGNED || to % ALIGNED)
        status = pf_fail(PENCILFFT_BAD_CALL, "%s: a buffer is not aligned to 16 bytes", function);
    else if (from != to && from < to + (uintptr_t)bytes_on(plan, !backward, plan->rank) &&
             to < from + (uintptr_t)bytes_on(plan, backward, plan->rank))
        status = pf_fail(PENCILFFT_BAD_CALL, "%s: in and out overlap; give the same buffer or two", function);
    for (int i = 0; i < 2 && !status; i++)
        status = pf_given_check(&array[i], plan->all, plan->rank, plan->ranks);
    return pf_same_directed_call(plan->all, plan->rank, plan->checks_calls, status, function, (int)direction, 0, in == out);
}

/* Of the points before (0) or after (1) a forward transform. */
static int64_t length_on(const void *of, int after, int rank)
{
    const struct pencilfft_line_plan_s *plan = of;
    return plan->lines * pf_line_points(after ? &plan->steps.to : &plan->steps.from, rank) * (int64_t)plan->numbers->bytes;
}

int pencilfft_line_execute(pencilfft_line_plan plan, pencilfft_direction direction, const void *in, void *out)
{
    int status = pf_line_check_call("pencilfft_line_execute", plan ? &plan->handle : NULL, direction, in, out, length_on);
    if (status)
        return status;
    plan->last = pf_now();
    memset(plan->seconds, 0, sizeof plan->seconds);
    status = pf_line_run(plan, direction == PENCILFFT_BACKWARD, 0, plan->steps.count, in, out);
    lap(plan, 0);
    for (int phase = 0; phase < plan->phases - 1; phase++)
        plan->seconds[plan->phases - 1] += plan->seconds[phase];
    return status;
}
