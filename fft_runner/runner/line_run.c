/* fft_runner --decomposition line, or brick:PxQxS with --algorithm: plan, verify, time, report. The record is like that of a
 * transform, with the line's algorithm and order.
 * Idea of the verification: values of the input follow from their index, so rank 0 transforms each line alone and compares
 *        the ranks' points as they arrive; some values of the last line are compared with the plain sum, to which each rank
 *        adds its part.
 * Cost of the verification: on rank 0 two arrays of N and a serial transform. */
#include "line_run.h"

#include <complex.h> /* before fftw3.h, so that its complex is C's */
#include <fftw3.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json_values.h"
#include "pencilfft_line.h"
#include "runner.h"
#include "values.h"

enum { MAX_TEXT = 128, MOST_PHASES = 1024, N_POINTS = 8, N_FIXED = 4, TAG = 2 };

static const int64_t serial_limit = (int64_t)1 << 27; /* points of all lines */

/* A plan of one of two kinds: of a distributed line, and of bricks on which such lines run. */
struct line_problem {
    pencilfft_line_plan plan; /* NULL: bricks */
    pencilfft_brick_lines brick; /* NULL: a line */
    pencilfft_line_desc desc; /* for bricks, n is the number of points of the array, and lines its fields */
    int64_t n[3]; /* of a line 1, 1, n */
    pencilfft_direction direction;
    MPI_Comm comm;
    int rank, ranks;
    pencilfft_format format; /* of its elements */
    void *in, *out; /* the same if in place */
};

/* A function that both kinds have, by its name after pencilfft_line_ and pencilfft_brick_lines_. */
#define EITHER(p, function, ...)                                            \
    ((p)->brick ? pencilfft_brick_lines_##function((p)->brick, __VA_ARGS__) \
                : pencilfft_line_##function((p)->plan, __VA_ARGS__))

/* With the numbers of bricks along x, y and z, or for a line with NULL. A status, the same on all ranks. */
static int line_problem_plan(struct line_problem *p, const int bricks[3])
{
    if (!bricks)
        return pencilfft_line_create(&p->desc, p->comm, &p->plan);
    return pencilfft_brick_lines_create(&(pencilfft_brick_lines_desc){.struct_bytes = sizeof(pencilfft_brick_lines_desc),
                                                                      .nx = p->n[0],
                                                                      .ny = p->n[1],
                                                                      .nz = p->n[2],
                                                                      .bricks = {bricks[0], bricks[1], bricks[2]},
                                                                      .fields = (int)p->desc.lines,
                                                                      .algorithm = p->desc.algorithm,
                                                                      .order = p->desc.order,
                                                                      .precision = p->desc.precision,
                                                                      .rigor = p->desc.rigor,
                                                                      .sync = p->desc.sync},
                                        p->comm, &p->brick);
}

static int line_problem_destroy(struct line_problem *p)
{
    int status = pencilfft_line_destroy(p->plan), other = pencilfft_brick_lines_destroy(p->brick);
    return status ? status : other;
}

/* The number of points of the line, or of a field, on a rank. */
static int64_t line_points(const struct line_problem *p, int array, int rank)
{
    int64_t points = 0, extent[3];
    if (!p->brick) {
        or_abort(pencilfft_line_points(p->plan, array, rank, &points));
        return points;
    }
    or_abort(pencilfft_brick_lines_extent(p->brick, array, rank, extent));
    return extent[0] * extent[1] * extent[2];
}

/* The index in the whole line or field of the i-th point of a rank. */
static int64_t line_index(const struct line_problem *p, int array, int rank, int64_t i)
{
    int64_t extent[3], index[3] = {0};
    if (!p->brick) {
        or_abort(pencilfft_line_index(p->plan, array, rank, i, &index[2]));
        return index[2];
    }
    or_abort(pencilfft_brick_lines_extent(p->brick, array, rank, extent));
    const int64_t at[3] = {i / extent[2] / extent[1], i / extent[2] % extent[1], i % extent[2]};
    for (int axis = 0; axis < 3; axis++)
        or_abort(pencilfft_brick_lines_index(p->brick, array, rank, axis, at[axis], &index[axis]));
    return (index[0] * p->n[1] + index[1]) * p->n[2] + index[2];
}

static void line_fill(const struct line_problem *p)
{
    int64_t points = line_points(p, input_of(p->direction), p->rank);
    for (int64_t i = 0; i < points; i++) {
        int64_t index = line_index(p, input_of(p->direction), p->rank, i);
        for (int64_t line = 0; line < p->desc.lines; line++)
            element_store(&p->format, p->in, line * points + i, value_random(&p->format, line * p->desc.n + index));
    }
}

/* ---- a serial FFTW ---------------------------------------------------------------------------------------------------- */

static bool transform_serially(const struct line_problem *p, int64_t line, double complex *data)
{
    const fftw_iodim64 dim[3] = {{p->n[0], p->n[1] * p->n[2], p->n[1] * p->n[2]},
                                 {p->n[1], p->n[2], p->n[2]},
                                 {p->n[2], 1, 1}};
    fftw_plan plan = fftw_plan_guru64_dft(3, dim, 0, NULL, data, data,
                                          p->direction == PENCILFFT_FORWARD ? FFTW_FORWARD : FFTW_BACKWARD, FFTW_ESTIMATE);
    if (!plan)
        return false;
    for (int64_t i = 0; i < p->desc.n; i++)
        data[i] = value_random(&p->format, line * p->desc.n + i);
    fftw_execute(plan);
    fftw_destroy_plan(plan);
    return true;
}

static double compare_points(const struct line_problem *p, int rank, const void *points, const double complex *reference)
{
    double worst = 0;
    int64_t n = line_points(p, output_of(p->direction), rank);
    for (int64_t i = 0; i < n; i++)
        worst = worse_error(worst, cabs(element_load(&p->format, points, i) -
                                        reference[line_index(p, output_of(p->direction), rank, i)]));
    return worst;
}

static double compare_line(const struct line_problem *p, int64_t line, const double complex *reference, void *piece)
{
    int64_t bytes = (int64_t)p->format.element_bytes, mine = line_points(p, output_of(p->direction), p->rank);
    const char *own = (const char *)p->out + line * mine * bytes;
    double worst = 0;
    if (p->rank > 0)
        CHECK_MPI(MPI_Send(own, (int)(mine * bytes), MPI_BYTE, 0, TAG, p->comm));
    for (int rank = 0; rank < p->ranks && p->rank == 0; rank++) {
        if (rank > 0)
            CHECK_MPI(MPI_Recv(piece, (int)(line_points(p, output_of(p->direction), rank) * bytes), MPI_BYTE, rank, TAG,
                               p->comm, MPI_STATUS_IGNORE));
        worst = worse_error(worst, compare_points(p, rank, rank > 0 ? piece : own, reference));
    }
    return worst;
}

static void compare_lines(const struct line_problem *p, double scale, struct verification *v)
{
    int ready = 1;
    double worst = 0;
    double complex *reference = p->rank == 0 ? fftw_malloc((size_t)p->desc.n * sizeof *reference) : NULL;
    void *piece = p->rank == 0 ? malloc((size_t)p->desc.n * sizeof *reference) : NULL;
    for (int64_t line = 0; line < p->desc.lines && ready; line++) {
        if (p->rank == 0)
            ready = reference && piece && transform_serially(p, line, reference);
        CHECK_MPI(MPI_Bcast(&ready, 1, MPI_INT, 0, p->comm));
        if (ready)
            worst = worse_error(worst, compare_line(p, line, reference, piece));
    }
    if (!ready)
        snprintf(v->note, sizeof v->note, "serial FFTW not done: no memory for the whole line on rank 0");
    fftw_free(reference);
    free(piece);
    CHECK_MPI(MPI_Bcast(&worst, 1, MPI_DOUBLE, 0, p->comm));
    v->fftw_done = ready;
    v->error_fftw = worst / scale;
}

/* ---- the plain sum ---------------------------------------------------------------------------------------------------- */

static double complex weight_of(const struct line_problem *p, int64_t k, int64_t index)
{
    double complex product = 1, weight;
    for (int axis = 2; axis >= 0; axis--) {
        int64_t n = p->n[axis];
        const pencilfft_line dft = {.kind = PENCILFFT_LINE_DFT, .n = n, .points = n};
        basis_line(&dft, p->direction == PENCILFFT_BACKWARD, k % n, index % n, 1, &weight);
        product *= weight;
        k /= n;
        index /= n;
    }
    return product;
}

static double complex my_sum(const struct line_problem *p, int64_t line, int64_t k)
{
    int64_t points = line_points(p, input_of(p->direction), p->rank);
    double complex sum = 0;
    for (int64_t i = 0; i < points; i++) {
        int64_t index = line_index(p, input_of(p->direction), p->rank, i);
        sum += value_random(&p->format, line * p->desc.n + index) * weight_of(p, k, index);
    }
    return sum;
}

/* This rank's value of the transform there; 0 if another rank owns the value. */
static double complex my_value(const struct line_problem *p, int64_t line, int64_t k)
{
    int64_t points = line_points(p, output_of(p->direction), p->rank);
    for (int64_t i = 0; i < points; i++)
        if (line_index(p, output_of(p->direction), p->rank, i) == k)
            return element_load(&p->format, p->out, line * points + i);
    return 0;
}

static void compare_sums(const struct line_problem *p, double scale, struct verification *v)
{
    int64_t n = p->desc.n;
    const int64_t fixed[N_FIXED] = {1, n / 3, n / 2 + 1, n - 1};
    double complex mine[N_POINTS], all[N_POINTS];
    for (int i = 0; i < N_POINTS; i++) {
        int64_t line = i % p->desc.lines;
        int64_t k = (i < N_FIXED ? fixed[i] : (int64_t)(value_hash((uint64_t)i) >> 1)) % n;
        mine[i] = my_sum(p, line, k) - my_value(p, line, k);
    }
    CHECK_MPI(MPI_Allreduce(mine, all, N_POINTS, MPI_C_DOUBLE_COMPLEX, MPI_SUM, p->comm));
    for (int i = 0; i < N_POINTS; i++)
        v->error_direct = worse_error(v->error_direct, cabs(all[i]) / scale);
    v->points = N_POINTS;
}

/* Compare the transform with a serial FFTW and the plain sum, like verify(). Collective. */
static int line_verify(const struct line_problem *p, struct verification *v)
{
    *v = (struct verification){.tolerance = tolerance_of(p->format.real_bytes, p->desc.n), .moved_data_exact = true};
    snprintf(v->note, sizeof v->note, "what is moved was checked by the transform alone");
    line_fill(p);
    or_abort(EITHER(p, execute, p->direction, p->in, p->out));
    double scale = scale_of(&p->format, p->out, line_points(p, output_of(p->direction), p->rank) * p->desc.lines, p->comm);
    if (p->desc.n <= serial_limit / p->desc.lines)
        compare_lines(p, scale, v);
    else
        snprintf(v->note, sizeof v->note, "serial FFTW not done: more than %lld points", (long long)serial_limit);
    compare_sums(p, scale, v);
    v->passed = v->error_direct <= v->tolerance && (!v->fftw_done || v->error_fftw <= v->tolerance);
    return 0;
}

/* ---- the run ------------------------------------------------------------------------------------------------ */

struct line_run {
    struct line_problem problem;
    struct verification verification;
    struct samples samples;
    struct warnings warnings;
    struct report report;
    struct traffic traffic;
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
    if (status || (status = EITHER(p, elements, &elements)))
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

static int once(const void *of, double *seconds)
{
    const struct line_problem *p = of;
    if (p->in == p->out)
        line_fill(p);
    CHECK_MPI(MPI_Barrier(p->comm));
    or_abort(EITHER(p, execute, p->direction, p->in, p->out));
    return EITHER(p, phase_seconds, seconds);
}

static int time_it(struct line_run *run, const struct options *o)
{
    const struct line_problem *p = &run->problem;
    int phases = 0, status = EITHER(p, phases, &phases);
    if (!status)
        status = samples_make(phases, o->reps, p->comm, &run->samples);
    line_fill(p);
    if (!status)
        status = samples_take(&run->samples, o->warmup, once, p);
    return status ? status : samples_reduce(p->comm, &run->samples);
}

static int sends(const void *problem, int exchange, int64_t *bytes, int64_t *messages)
{
    const struct line_problem *p = problem;
    return EITHER(p, traffic, exchange, p->direction, bytes, messages);
}

/* ---- output ----------------------------------------------------------------------------------------------------------- */

static void print_table(const struct line_run *run, FILE *file)
{
    const struct line_problem *p = &run->problem;
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
    const char *names[MOST_PHASES];
    for (int phase = 0; phase < run->samples.phases; phase++)
        names[phase] = EITHER(p, phase_name, phase);
    int widest = 0;
    for (int e = 0; e < run->traffic.exchanges; e++)
        widest = (int)fmax(widest, (double)strlen(EITHER(p, exchange_name, e)));
    for (int e = 0; e < run->traffic.exchanges; e++) {
        long long bytes, messages;
        traffic_sum(&run->traffic, e, &bytes, &messages);
        fprintf(file, "exchange %-*s %s: %lld messages, %lld bytes\n", widest, EITHER(p, exchange_name, e),
                EITHER(p, is_all_to_all, e) ? "all-to-all" : "blocks in groups", messages, bytes);
    }
    report_phases(&run->samples, names, 20, file); /* room for longer names only if there are any: "exchange_y_to_columns" */
    fprintf(file, "\n");
    report_verification(&run->report, file);
    fflush(file);
}

static json_t *stages(const struct line_run *run)
{
    const struct line_problem *p = &run->problem;
    const struct traffic *t = &run->traffic;
    json_t *array = json_array();
    for (int e = 0, at = 0; e < t->exchanges; e++, at += t->ranks)
        json_array_append_new(array, json_pack("{s:s, s:s, s:n, s:{}, s:o, s:o}", "name", EITHER(p, exchange_name, e),
                                               "exchange", EITHER(p, is_all_to_all, e) ? "alltoallv" : "blocks", "means",
                                               "tried_s", "bytes", long_integers(t->bytes + at, t->ranks), "messages",
                                               long_integers(t->messages + at, t->ranks)));
    return array;
}

static json_t *phases(const struct line_run *run)
{
    json_t *object = json_object();
    for (int phase = 0; phase < run->samples.phases; phase++)
        json_object_set_new(object, EITHER(&run->problem, phase_name, phase), record_times(&run->samples, phase));
    return object;
}

static json_t *about_line(const struct line_run *run)
{
    const struct options *o = run->report.options;
    const pencilfft_line_desc *d = &run->problem.desc;
    return json_pack("{s:s, s:{s:s, s:s}, s:o, s:o, s:o, s:o, s:s, s:s, s:s, s:[i], s:i, s:s, s:s, s:b, s:I, s:s, s:s, s:s, "
                     "s:s, s:i, s:i}",
                     "schema", "pencilmap-run-record/2", "program", "name", RUNNER_NAME, "version", PENCILFFT_VERSION,
                     "command", record_command(&run->report), "time", record_time(), "labels",
                     json_labels(o->labels, o->n_labels), "size",
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

static int tell(struct line_run *run, int record)
{
    const struct processes *processes = run->report.processes;
    int status = 0;
    if (run->problem.rank == 0)
        status = warnings_find(processes->table, processes->seating.ranks, &run->warnings);
    if (run->problem.rank == 0 && !status) {
        report_warnings(&run->warnings, stderr);
        print_table(run, record == STDOUT_FILENO ? stderr : stdout);
        if (record >= 0) {
            json_watch_memory();
            status = json_file_append(record_joined((json_t *[]){about_line(run), about_result(run)}, 2), record);
        }
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
    if (!status) {
        int exchanges = 0;
        or_abort(EITHER(&run->problem, exchanges, &exchanges));
        status = traffic_collect(exchanges, sends, &run->problem, run->problem.comm, &run->traffic);
    }
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
    free(run.traffic.bytes);
    if (run.problem.out != run.problem.in)
        fftw_free(run.problem.out);
    fftw_free(run.problem.in);
    int released = line_problem_destroy(&run.problem);
    return status ? status : released;
}
