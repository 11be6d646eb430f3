/* The parts of the record that explain the times: exchanges and their traffic, hosts, warnings, times of every rank. */
#include <math.h>
#include <string.h>

#include "json_values.h"
#include "report.h"

json_t *record_times(const struct samples *s, int phase)
{
    size_t at = (size_t)phase * (size_t)s->reps;
    return json_pack("{s:o, s:o, s:o, s:o}", "max_s", reals(s->max + at, s->reps), "mean_s", reals(s->mean + at, s->reps),
                     "min_s", reals(s->min + at, s->reps), "deviation_s", reals(s->deviation + at, s->reps));
}

json_t *record_ranks(const struct samples *s, int phase)
{
    json_t *array = json_array();
    for (int rank = 0; rank < s->ranks; rank++) {
        size_t row = (size_t)rank * (size_t)s->phases + (size_t)phase;
        json_array_append_new(array, reals(s->all + row * (size_t)s->reps, s->reps));
    }
    return array;
}

/* The times that "auto" measured; null for an algorithm that refused. */
static json_t *tried(pencilfft_plan plan, int e)
{
    json_t *object = json_object();
    for (int i = 0; pencilfft_exchange_name(i); i++) {
        double seconds = 0;
        if (pencilfft_auto_seconds(plan, e, i, &seconds) == PENCILFFT_OK && seconds != 0)
            json_object_set_new(object, pencilfft_exchange_name(i), number_or_null(seconds));
    }
    return object;
}

static json_t *one_stage(const struct report *r, int e)
{
    const struct traffic *t = r->traffic;
    int number = t->number[e];
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "name", pencilfft_exchange_stage(r->plan, number), "exchange",
                     text_or_null(pencilfft_exchange_chosen(r->plan, number)), "means",
                     text_or_null(pencilfft_exchange_means(r->plan, number)), "tried_s", tried(r->plan, number), "bytes",
                     long_integers(t->bytes[e], t->ranks), "messages", long_integers(t->messages[e], t->ranks));
}

static json_t *one_host(const struct process *p, int tasks)
{
    const struct topology *t = &p->topology;
    return json_pack("{s:o, s:i, s:o, s:i, s:i, s:i, s:i, s:I}", "host", text(p->seat.host), "tasks", tasks, "processor",
                     text_or_null(t->processor), "sockets", t->sockets, "cores", t->cores, "processors", t->processors,
                     "numa_nodes", t->numa_nodes, "memory_bytes", (json_int_t)t->memory_bytes);
}

json_t *record_hosts(const struct processes *processes)
{
    json_t *array = json_array(), *seen = json_object();
    for (int i = 0; i < processes->seating.ranks; i++) {
        const struct process *p = &processes->table[i];
        json_t *index = json_object_get(seen, p->seat.host);
        if (!p->topology.processors)
            continue;
        if (index) {
            json_t *host = json_array_get(array, (size_t)json_integer_value(index));
            json_object_set_new(host, "tasks", json_integer(json_integer_value(json_object_get(host, "tasks")) + 1));
        } else {
            json_object_set_new(seen, p->seat.host, json_integer((json_int_t)json_array_size(array)));
            json_array_append_new(array, one_host(p, 1));
        }
    }
    json_decref(seen);
    return array;
}

json_t *record_warned(const struct warnings *w)
{
    json_t *array = json_array();
    for (int i = 0; i < w->n; i++)
        json_array_append_new(array, text(w->text[i]));
    return array;
}

static json_t *wisdom(const struct report *r)
{
    if (!r->options->wisdom)
        return json_null();
    return json_pack("{s:o, s:b}", "file", text(r->options->wisdom), "found", r->wisdom_found);
}

static json_t *stages(const struct report *r)
{
    json_t *array = json_array();
    for (int e = 0; e < r->traffic->exchanges; e++)
        json_array_append_new(array, one_stage(r, e));
    return array;
}

/* The grids that "auto" tried. */
static json_t *grids_tried(const struct report *r)
{
    json_t *array = json_array();
    pencilfft_grid_trial t;
    for (int i = 0; pencilfft_grid_trial_of(r->plan, i, &t) == PENCILFFT_OK; i++)
        json_array_append_new(array, json_pack("{s:o, s:i, s:f, s:f, s:f}", "grid", integers((int[]){t.R, t.C}, 2), "runs",
                                               t.runs, "least_s", t.least, "median_s", t.median, "spread_s", t.spread));
    return array;
}

json_t *record_details(const struct report *r)
{
    return json_pack("{s:o, s:f, s:o, s:o, s:o, s:o}", "stages", stages(r), "auto_budget_s", r->options->fft.auto_budget_s,
                     "grids_tried", grids_tried(r), "hosts", record_hosts(r->processes), "warnings",
                     record_warned(r->warnings), "wisdom", wisdom(r));
}
