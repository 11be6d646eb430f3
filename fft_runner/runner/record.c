/* The run record: one JSON object on one line (run_record.schema.json), written by Jansson and appended in one write, so
 * that runs that end together do not mix their lines. */
#include <fftw3.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json_values.h"
#include "report.h"
#include "runner.h"

/* ---- small values ------------------------------------------------------------------------------------------- */

json_t *record_time(void)
{
    char stamp[32] = "";
    time_t seconds = time(NULL);
    struct tm utc;
    if (gmtime_r(&seconds, &utc))
        strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return json_string(stamp);
}

void fftw_version_text(char version[VERSION_SIZE])
{
    const char *full = fftw_version; /* fftw-3.3.10-sse2-avx... */
    full += strncmp(full, "fftw-", 5) ? 0 : 5;
    snprintf(version, VERSION_SIZE, "%.*s", (int)strcspn(full, "-"), full);
}

void mpi_library_text(char *version, size_t size)
{
    char full[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    CHECK_MPI(MPI_Get_library_version(full, &length));
    snprintf(version, size, "%.*s", (int)strcspn(full, "\n"), full);
    for (char *at = version; *at; at++)
        if (*at == '\t')
            *at = ' ';
}

/* ---- parts of the record ------------------------------------------------------------------------------------ */

json_t *record_command(const struct report *r)
{
    json_t *array = json_array();
    for (int i = 0; i < r->argc; i++)
        json_array_append_new(array, text(r->argv[i]));
    return array;
}

json_t *record_times(const struct samples *s, int phase)
{
    size_t at = (size_t)phase * (size_t)s->reps;
    return json_pack("{s:o, s:o, s:o, s:o}", "max_s", reals(s->max + at, s->reps), "mean_s", reals(s->mean + at, s->reps),
                     "min_s", reals(s->min + at, s->reps), "deviation_s", reals(s->deviation + at, s->reps));
}

static json_t *record_ranks(const struct samples *s, int phase)
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
    int move[MOST_MOVES], at = e * t->ranks;
    moves_of(r->plan, move);
    int number = move[e];
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "name", pencilfft_exchange_stage(r->plan, number), "exchange",
                     text_or_null(pencilfft_exchange_chosen(r->plan, number)), "means",
                     text_or_null(pencilfft_exchange_means(r->plan, number)), "tried_s", tried(r->plan, number), "bytes",
                     long_integers(t->bytes + at, t->ranks), "messages", long_integers(t->messages + at, t->ranks));
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

/* The transform, except its size. */
static json_t *transform(const struct report *r)
{
    const struct options *o = r->options;
    const pencilfft_desc *f = &o->fft;
    int threads = 1;
    int64_t points[3];
    pencilfft_threads(r->plan, &threads);
    points_of(r->plan, points);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:s, s:b, s:i, s:i, s:b}", "type", f->type, "kinds",
                     f->kinds ? f->kinds : "2,2,2", "skip", f->skip ? f->skip : "", "precision", f->precision,
                     "exchange_precision", f->exchange_precision ? f->exchange_precision : f->precision, "points",
                     long_integers(points, 3), "layout", f->layout, "in_place", o->in_place, "fields", f->fields, "threads",
                     threads, "destroy_input", f->destroy_input);
}

static json_t *phases(const struct report *r)
{
    const struct samples *s = r->samples;
    json_t *object = json_object();
    for (int phase = 0; phase < s->phases; phase++) {
        if (!phase_is_shown(r, phase))
            continue;
        json_t *times = record_times(s, phase);
        if (s->all)
            json_object_set_new(times, "ranks_s", record_ranks(s, phase));
        json_object_set_new(object, pencilfft_phase_name(r->plan, phase), times);
    }
    return object;
}

json_t *record_verified(const struct verification *v)
{
    if (!v)
        return json_null();
    return json_pack("{s:b, s:f, s:b, s:o, s:o, s:i, s:s}", "passed", v->passed, "tolerance", v->tolerance,
                     "moved_data_exact", v->moved_data_exact, "error_fftw",
                     v->fftw_done ? number_or_null(v->error_fftw) : json_null(), "error_direct",
                     number_or_null(v->error_direct), "points", v->points, "note", v->note);
}

static json_t *one_process(const struct process *p)
{
    const struct seat *s = &p->seat;
    const struct topology *t = &p->topology;
    return json_pack("{s:i, s:i, s:o, s:o, s:i, s:o, s:o, s:o, s:o}", "rank", s->rank, "world_rank", s->launched, "host",
                     text(s->host), "coordinate", s->located ? integers(s->node.at, s->node.dims) : json_null(), "slot",
                     s->slot, "binding", text_or_null(t->binding), "sockets", text_or_null(t->bound_sockets), "cores",
                     text_or_null(t->bound_cores), "numa_nodes", text_or_null(t->bound_numa_nodes));
}

json_t *record_placement(const struct report *r)
{
    const struct seating *s = &r->processes->seating;
    json_t *ranks = json_array();
    for (int i = 0; i < s->ranks; i++)
        json_array_append_new(ranks, one_process(&r->processes->table[i]));
    return json_pack("{s:o, s:o, s:s, s:o, s:s, s:o, s:s, s:o}", "torus", text_or_null(r->options->torus_text),
                     "tasks_per_node", s->tasks_per_node ? json_integer(s->tasks_per_node) : json_null(), "source",
                     placed_by(s), "mapfile", text_or_null(r->options->mapfile), "coordinate_source", coordinates_from(s),
                     "launch_order", text_or_null(seats_order(&r->options->seats, s->source)), "self_check",
                     self_check_of(s), "ranks", ranks);
}

json_t *record_mpi(void)
{
    int version = 0, subversion = 0;
    char library[256];
    mpi_library_text(library, sizeof library);
    CHECK_MPI(MPI_Get_version(&version, &subversion));
    return json_pack("{s:o, s:[i, i]}", "library", text(library), "standard", version, subversion);
}

/* ---- the record --------------------------------------------------------------------------------------------- */

static json_t *about_run(const struct report *r)
{
    const struct options *o = r->options;
    const pencilfft_desc *f = &o->fft;
    return json_pack("{s:s, s:{s:s, s:s}, s:o, s:o, s:o, s:[I, I, I], s:s, s:o, s:i, s:s, s:o, s:s, s:s, s:s, s:i, s:i}",
                     "schema", "pencilmap-run-record/2", "program", "name", RUNNER_NAME, "version", PENCILFFT_VERSION,
                     "command", record_command(r), "time", record_time(), "labels", json_labels(o->labels, o->n_labels),
                     "size", (json_int_t)f->nx, (json_int_t)f->ny, (json_int_t)f->nz, "decomposition", f->decomposition,
                     "grid", integers(o->grid.extent, o->grid.dims), "ranks", r->processes->seating.ranks, "direction",
                     direction_name(o), "exchange", text(f->exchange), "schedule", pencilfft_schedule_chosen(r->plan),
                     "sync", f->sync, "rigor", f->rigor, "reps", o->reps, "warmup", o->warmup);
}

static json_t *about_result(const struct report *r)
{
    char fftw[VERSION_SIZE];
    fftw_version_text(fftw);
    return json_pack("{s:o, s:o, s:o, s:o, s:s, s:s}", "phases", phases(r), "verify", record_verified(r->verification),
                     "placement", record_placement(r), "mpi", record_mpi(), "fftw", fftw, "hwloc", topology_hwloc_version());
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

static json_t *details(const struct report *r)
{
    return json_pack("{s:o, s:f, s:o, s:o, s:o, s:o}", "stages", stages(r), "auto_budget_s", r->options->fft.auto_budget_s,
                     "grids_tried", grids_tried(r), "hosts", record_hosts(r->processes), "warnings",
                     record_warned(r->warnings), "wisdom", wisdom(r));
}

static json_t *halo(const struct halo_run *h)
{
    json_t *object = json_pack("{s:i, s:o, s:o}", "width", h->width, "bytes",
                               long_integers(h->traffic.bytes, h->samples.ranks), "messages",
                               long_integers(h->traffic.messages, h->samples.ranks)),
           *times = record_times(&h->samples, 0);
    json_object_update(object, times);
    json_decref(times);
    return object;
}

json_t *record_joined(json_t **parts, size_t n)
{
    json_t *record = json_object();
    for (size_t i = 0; i < n; i++) {
        if (!record || !parts[i] || json_object_update(record, parts[i])) {
            json_decref(record);
            record = NULL;
        }
        json_decref(parts[i]);
    }
    return record;
}

int record_append(const struct report *r, int descriptor)
{
    json_watch_memory();
    json_t *parts[] = {about_run(r), transform(r), about_result(r), details(r),
                       r->halo->width ? json_pack("{s:o}", "halo", halo(r->halo)) : json_object()};
    return json_file_append(record_joined(parts, sizeof parts / sizeof parts[0]), descriptor);
}
