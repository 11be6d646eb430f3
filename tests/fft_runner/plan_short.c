/* Every call that takes two arrays: transforms, in place too, pairs, exchanges alone. Memory of malloc() without a byte to
 * spare, between borders, shows a byte too many with and without a sanitizer. */
#include "plan_check.h"

#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "values.h"
#include "verify.h"

enum { BORDER = 4096, MARK = 0xA5 };

struct array {
    size_t bytes;
    char *memory, *start; /* NULL: a buffer of the plan */
};

static struct side side_named(pencilfft_plan plan, int number)
{
    struct side side;
    or_abort(side_of(&(struct problem){.plan = plan}, number, &side));
    return side;
}

static size_t bytes_of(pencilfft_plan plan, int number)
{
    struct side side = side_named(plan, number);
    return (size_t)side_elements(&side) * side.format.element_bytes;
}

/* Between two borders; from a multiple of 16 bytes on, like malloc(). */
static struct array tight(size_t bytes)
{
    struct array a = {.bytes = bytes, .memory = malloc(bytes + (size_t)2 * BORDER)};
    if (!a.memory)
        abort();
    memset(a.memory, MARK, bytes + (size_t)2 * BORDER);
    a.start = a.memory + BORDER;
    return a;
}

static bool is_torn(const struct array *a)
{
    for (int i = 0; i < BORDER; i++)
        if ((unsigned char)a->memory[i] != MARK || (unsigned char)a->start[a->bytes + (size_t)i] != MARK)
            return true;
    return false;
}

static void fill(pencilfft_plan plan, int number, void *to)
{
    struct side side = side_named(plan, number);
    for (int i = 0; i < side.parts; i++)
        values_fill(&side.part[i], &side.format, value_random, to);
}

/* A call with arrays from[0] to to[0], and from[1] to to[1] for a pair. */
struct call {
    pencilfft_plan plan;
    int exchange, directions; /* an exchange alone, or NONE */
    int from[2], to[2], n;
    bool in_place;
};
enum { NONE = -100 };

static int run(const struct call *c, void *const in[2], void *const out[2])
{
    for (int i = 0; i < c->n; i++)
        fill(c->plan, c->from[i], in[i]);
    if (c->n > 1)
        return pencilfft_execute_pair(c->plan, in[0], out[0], in[1], out[1]);
    return c->exchange == NONE
               ? pencilfft_execute(c->plan, (pencilfft_direction)c->directions, in[0], out[0])
               : pencilfft_transpose(c->plan, c->exchange, (pencilfft_direction)c->directions, in[0], out[0]);
}

static const char *wrong_in(const struct call *c)
{
    struct array in[2], out[2];
    void *tight_in[2] = {NULL}, *tight_out[2] = {NULL}, *full_in[2] = {NULL}, *full_out[2] = {NULL};
    const char *wrong = NULL;
    for (int i = 0; i < c->n; i++) {
        size_t first = bytes_of(c->plan, c->from[i]), last = bytes_of(c->plan, c->to[i]);
        in[i] = tight(c->in_place && last > first ? last : first);
        out[i] = tight(last);
        tight_in[i] = in[i].start;
        tight_out[i] = c->in_place ? in[i].start : out[i].start;
        or_abort(pencilfft_alloc(c->plan, &full_in[i]) || pencilfft_alloc(c->plan, &full_out[i]));
        full_out[i] = c->in_place ? full_in[i] : full_out[i];
    }
    or_abort(run(c, full_in, full_out) || run(c, tight_in, tight_out));
    for (int i = 0; i < c->n; i++) {
        if (is_torn(&in[i]) || is_torn(&out[i]))
            wrong = "memory outside an array was written";
        else if (memcmp(tight_out[i], full_out[i], bytes_of(c->plan, c->to[i])) != 0)
            wrong = "an array that ends with its last element has another result";
        free(in[i].memory);
        free(out[i].memory);
    }
    return wrong;
}

const char *plan_short_wrong(pencilfft_plan plan, int directions)
{
    const char *wrong = NULL;
    int parts, exchanges;
    struct call c = {.plan = plan, .n = 1};
    or_abort(pencilfft_parts(plan, PENCILFFT_INNER_OUTPUT, &parts) || pencilfft_exchanges(plan, &exchanges));
    for (int backward = 0; backward < 2; backward++) {
        c.directions = backward ? PENCILFFT_BACKWARD : PENCILFFT_FORWARD;
        if (!(directions & c.directions))
            continue;
        c.exchange = NONE;
        c.from[0] = backward ? PENCILFFT_OUTPUT : PENCILFFT_INPUT;
        c.to[0] = backward ? PENCILFFT_INPUT : PENCILFFT_OUTPUT;
        for (int in_place = 0; in_place < 2 && !wrong; in_place++) {
            c.in_place = in_place;
            wrong = wrong_in(&c);
        }
        c.in_place = false;
        for (c.exchange = PENCILFFT_REMAP_IN; c.exchange < exchanges && !wrong; c.exchange++) {
            if (!pencilfft_exchange_stage(plan, c.exchange) || (c.exchange >= 0 && parts > 1))
                continue;
            const int around[2] = {c.exchange == PENCILFFT_REMAP_IN    ? PENCILFFT_INPUT
                                   : c.exchange == PENCILFFT_REMAP_OUT ? PENCILFFT_INNER_OUTPUT
                                                                       : c.exchange,
                                   c.exchange == PENCILFFT_REMAP_IN    ? PENCILFFT_INNER_INPUT
                                   : c.exchange == PENCILFFT_REMAP_OUT ? PENCILFFT_OUTPUT
                                                                       : PENCILFFT_BEFORE + c.exchange + 1};
            c.from[0] = around[backward];
            c.to[0] = around[!backward];
            wrong = wrong_in(&c);
        }
    }
    if (directions != (PENCILFFT_FORWARD | PENCILFFT_BACKWARD))
        return wrong;
    c = (struct call){.plan = plan,
                      .n = 2,
                      .from = {PENCILFFT_INPUT, PENCILFFT_OUTPUT},
                      .to = {PENCILFFT_OUTPUT, PENCILFFT_INPUT}};
    for (int in_place = 0; in_place < 2 && !wrong; in_place++) {
        c.in_place = in_place;
        wrong = wrong_in(&c);
    }
    return wrong;
}
