/* fft_runner --decomposition line, or brick:PxQxS with --algorithm: plan, verify, time, report. The record is like that of a
 * transform, with the line's algorithm and order. */
#include "line_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fftw3.h>

#include "json_values.h"
#include "runner.h"

enum { MAX_TEXT = 128 };

struct line_run {
    struct line_problem problem;
    struct verification verification;
    struct samples samples;
    struct warnings warnings;
    struct report report;
    int exchanges;
    int64_t *bytes, *messages; /* [exchange * ranks + rank]: traffic of each rank, on rank 0 */
};

static int make(struct line_run *run, const struct options *o, const struct processes *processes)
{
    struct line_problem *p = &run->problem;
    int64_t elements = 0;
    *p = (struct line_problem){.direction = o->direction,
                               .comm = processes->seating.comm,
                               .rank = processes->seating.rank,
                               .ranks = processes->seating.ranks};
    pencilfft_line_desc_init(&p->desc);
    bool bricks = !is_one_line(o);
    p->n[0] = bricks ? o->fft.nx : 1;
    p->n[1] = bricks ? o->fft.ny : 1;
    p->n[2] = bricks ? o->fft.nz : o->fft.nx;
    p->desc.n = p->n[0] * p->n[1] * p->n[2];
    p->desc.lines = o->fft.fields;
    p->desc.precision = o->fft.precision;
    p->desc.rigor = o->fft.rigor;
    p->desc.sync = o->fft.sync;
    p->desc.algorithm = o->algorithm ? o->algorithm : p->desc.algorithm;
    p->desc.order = o->order ? o->order : p->desc.order;
    if (!bricks && o->grid.dims && o->grid.extent[0] != p->ranks)
        return pf_fail(PENCILFFT_BAD_GRID, "--grid %d: a line has all %d ranks; leave --grid out", o->grid.extent[0],
                       p->ranks);
    int status = line_problem_plan(p, bricks ? o->bricks : NULL);
    if (status || (status = line_elements(p, &elements)))
        return status;
    size_t real = strcmp(p->desc.precision, "single") ? sizeof(double) : sizeof(float);
    p->format = (pencilfft_format){.element_bytes = 2 * real,
                                   .real_bytes = real,
                                   .is_complex = 1,
                                   .fields = 1,
                                   .n = {p->n[0], p->n[1], p->n[2]}};
    p->in = fftw_malloc((size_t)(elements + 1) * 2 * real);
    p->out = o->in_place ? p->in : fftw_malloc((size_t)(elements + 1) * 2 * real);
    if (!p->in || !p->out)
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for %lld points", (long long)elements);
    return pf_agree(status, p->comm);
}

static int repeat(const struct line_problem *p, int repetitions, struct samples *s, bool keep)
{
    double seconds[1024];
    int status = 0;
    for (int rep = 0; rep < repetitions && !status; rep++) {
        watch_mark(keep ? "repetition" : "warm-up", rep + 1);
        if (p->in == p->out || rep == 0)
            line_fill(p);
        CHECK_MPI(MPI_Barrier(p->comm));
        or_abort(line_execute(p));
        status = line_phase_seconds(p, seconds);
        for (int phase = 0; keep && phase < s->phases; phase++)
            s->mine[phase * s->reps + rep] = seconds[phase];
    }
    return status;
}

static int time_it(struct line_run *run, const struct options *o)
{
    int phases = 0, status = line_phases(&run->problem, &phases);
    if (!status)
        status = samples_make(phases, o->reps, run->problem.comm, &run->samples);
    if (!status)
        status = repeat(&run->problem, o->warmup, &run->samples, false);
    if (!status)
        status = repeat(&run->problem, o->reps, &run->samples, true);
    return status ? status : samples_reduce(run->problem.comm, &run->samples);
}

static int gather_traffic(struct line_run *run)
{
    const struct line_problem *p = &run->problem;
    int status = line_exchanges(p, &run->exchanges);
    size_t ranks = (size_t)p->ranks, all = ranks * (size_t)(run->exchanges + 1);
    int64_t *mine = calloc(2 * ranks, sizeof *mine);
    run->bytes = calloc(all, sizeof *run->bytes);
    run->messages = calloc(all, sizeof *run->messages);
    if (!mine || !run->bytes || !run->messages)
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for what %d ranks send", p->ranks);
    status = pf_agree(status, p->comm);
    for (int e = 0; e < run->exchanges && !status; e++) {
        int64_t sum[2] = {0, 0};
        status = line_traffic(p, e, mine, mine + ranks);
        for (size_t r = 0; r < ranks; r++) {
            sum[0] += mine[r];
            sum[1] += mine[ranks + r];
        }
        CHECK_MPI(MPI_Gather(&sum[0], 1, MPI_INT64_T, run->bytes + ranks * (size_t)e, 1, MPI_INT64_T, 0, p->comm));
        CHECK_MPI(MPI_Gather(&sum[1], 1, MPI_INT64_T, run->messages + ranks * (size_t)e, 1, MPI_INT64_T, 0, p->comm));
    }
    free(mine);
    return status;
}

/* ---- output ----------------------------------------------------------------------------------------------------------- */

static void print_table(const struct line_run *run, FILE *file)
{
    const struct line_problem *p = &run->problem;
    const struct samples *s = &run->samples;
    char what[MAX_TEXT];
    if (p->brick)
        snprintf(what, sizeof what, "%lldx%lldx%lld on the lines of %s,", (long long)p->n[0], (long long)p->n[1],
                 (long long)p->n[2], run->report.options->fft.decomposition);
    else
        snprintf(what, sizeof what, "line of %lld", (long long)p->desc.n);
    fprintf(file, "%s %s complex %s, %lld at a time, %s, order %s%s, %d ranks, FFTW %s\n",
            direction_name(run->report.options), what, p->desc.precision, (long long)p->desc.lines, p->desc.algorithm,
            p->desc.order, p->in == p->out ? ", in place" : "", p->ranks, p->desc.rigor);
    report_placement(&run->report, file);
    int widest = 0, width = 20; /* room for longer names only if there are any: "exchange_y_to_columns" */
    for (int e = 0; e < run->exchanges; e++)
        widest = (int)strlen(line_exchange_name(p, e)) > widest ? (int)strlen(line_exchange_name(p, e)) : widest;
    for (int phase = 0; phase < s->phases; phase++)
        width = (int)strlen(line_phase_name(p, phase)) > width ? (int)strlen(line_phase_name(p, phase)) : width;
    for (int e = 0; e < run->exchanges; e++) {
        long long bytes = 0, messages = 0;
        for (int r = 0; r < p->ranks; r++) {
            bytes += run->bytes[e * p->ranks + r];
            messages += run->messages[e * p->ranks + r];
        }
        fprintf(file, "exchange %-*s %s: %lld messages, %lld bytes\n", widest, line_exchange_name(p, e),
                line_is_all_to_all(p, e) ? "all-to-all" : "blocks in groups", messages, bytes);
    }
    fprintf(file, "\n%-*s %12s %12s %12s   ms over ranks, median of %d\n", width, "phase", "max", "mean", "min", s->reps);
    for (int phase = 0; phase < s->phases; phase++)
        fprintf(file, "%-*s %12.4f %12.4f %12.4f\n", width, line_phase_name(p, phase),
                1e3 * samples_median(s->max, s, phase), 1e3 * samples_median(s->mean, s, phase),
                1e3 * samples_median(s->min, s, phase));
    fprintf(file, "\n");
    report_verification(&run->report, file);
    fflush(file);
}

static json_t *stages(const struct line_run *run)
{
    const struct line_problem *p = &run->problem;
    json_t *array = json_array();
    for (int e = 0; e < run->exchanges; e++)
        json_array_append_new(array,
                              json_pack("{s:s, s:s, s:n, s:{}, s:o, s:o}", "name", line_exchange_name(p, e), "exchange",
                                        line_is_all_to_all(p, e) ? "alltoallv" : "blocks", "means", "tried_s", "bytes",
                                        long_integers(run->bytes + (size_t)e * (size_t)p->ranks, p->ranks), "messages",
                                        long_integers(run->messages + (size_t)e * (size_t)p->ranks, p->ranks)));
    return array;
}

static json_t *phases(const struct line_run *run)
{
    json_t *object = json_object();
    for (int phase = 0; phase < run->samples.phases; phase++)
        json_object_set_new(object, line_phase_name(&run->problem, phase), record_times(&run->samples, phase));
    return object;
}

static json_t *about_line(const struct line_run *run)
{
    const struct options *o = run->report.options;
    const pencilfft_line_desc *d = &run->problem.desc;
    return json_pack("{s:s, s:{s:s, s:s}, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:[i], s:i, s:s, s:s, s:b, s:I, s:s, s:s, s:s, "
                     "s:s, s:i, s:i}",
                     "schema", "pencilmap-run-record/2", "program", "name", RUNNER_NAME, "version", PENCILFFT_VERSION,
                     "command", record_command(&run->report), "time", record_time(), "labels", record_labels(o), "size",
                     run->problem.brick ? long_integers(run->problem.n, 3) : long_integers(&d->n, 1), "decomposition",
                     o->fft.decomposition, "algorithm", d->algorithm, "order", d->order, "grid", run->problem.ranks, "ranks",
                     run->problem.ranks, "type", "c2c", "precision", d->precision, "in_place", o->in_place, "fields",
                     (json_int_t)d->lines, "direction", direction_name(o), "exchange", "alltoallv", "sync", d->sync, "rigor",
                     d->rigor, "reps", o->reps, "warmup", o->warmup);
}

static json_t *about_result(const struct line_run *run)
{
    const struct report *r = &run->report;
    char fftw[VERSION_SIZE];
    fftw_version_text(fftw);
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:s, s:o, s:o, s:n}", "stages", stages(run), "phases", phases(run),
                     "verify", record_verified(r->verification), "placement", record_placement(r), "mpi", record_mpi(),
                     "fftw", fftw, "hwloc", topology_hwloc_version(), "hosts", record_hosts(r->processes), "warnings",
                     record_warned(r->warnings), "wisdom");
}

static json_t *whole_record(const struct line_run *run)
{
    json_watch_memory();
    json_t *record = about_line(run), *result = about_result(run);
    if (!record || !result || json_object_update(record, result)) {
        json_decref(record);
        record = NULL;
    }
    json_decref(result);
    return record;
}

static int tell(struct line_run *run, int record)
{
    const struct processes *processes = run->report.processes;
    int status = 0;
    if (run->problem.rank == 0)
        status = warnings_find(processes->table, processes->seating.ranks, &run->warnings);
    if (run->problem.rank == 0 && !status) {
        report_warnings(&run->warnings, stderr);
        print_table(run, record == STDOUT_FILENO ? stderr : stdout);
        status = record >= 0 ? json_file_append(whole_record(run), record) : 0;
    }
    return pf_agree(status, run->problem.comm);
}

static int verdict(const struct line_run *run)
{
    const struct verification *v = &run->verification;
    if (!run->report.verification || v->passed)
        return 0;
    return pf_fail(PF_REFUSED, "verification failed: error %.3g to serial FFTW, %.3g to the direct sum; allowed %.3g",
                   v->error_fftw, v->error_direct, v->tolerance);
}

static int run_steps(struct line_run *run, const struct options *o, int record)
{
    watch_mark("the verification", 0);
    int status = o->verify ? line_verify(&run->problem, &run->verification) : 0;
    if (!status)
        status = time_it(run, o);
    watch_mark("the report", 0);
    if (!status)
        status = gather_traffic(run);
    if (!status)
        status = tell(run, record);
    return status ? status : verdict(run);
}

int line_run(const struct options *o, const struct processes *processes, int argc, char **argv, int record)
{
    struct line_run run = {.report = {.argc = argc, .argv = argv, .options = o, .processes = processes}};
    run.report.verification = o->verify ? &run.verification : NULL;
    run.report.samples = &run.samples;
    run.report.warnings = &run.warnings;
    int status = make(&run, o, processes);
    if (!status)
        status = run_steps(&run, o, record);
    samples_release(&run.samples);
    free(run.bytes);
    free(run.messages);
    if (run.problem.out != run.problem.in)
        fftw_free(run.problem.out);
    fftw_free(run.problem.in);
    int released = line_problem_destroy(&run.problem);
    return status ? status : released;
}
