#include "report.h"

#include <math.h>
#include <string.h>

static void print_head(const struct report *r, FILE *file)
{
    const pencilfft_desc *f = &r->options->fft;
    const char *schedule = pencilfft_schedule_chosen(r->plan);
    char grid[GRID_TEXT];
    int threads = 1;
    int64_t points[3];
    pencilfft_threads(r->plan, &threads);
    points_of(r->plan, points);
    grid_text(&r->options->grid, grid);
    fprintf(file, "%s %s %s, %s%s%s", direction_name(r->options), f->type, f->precision, f->layout,
            r->options->in_place ? ", in place" : "", f->fields > 1 ? ", " : "");
    if (f->fields > 1)
        fprintf(file, "%d fields", f->fields);
    if (!strncmp(f->decomposition, "brick", 5))
        fprintf(file, ", %s", f->decomposition);
    fprintf(file, ", size %lld %lld %lld, ", (long long)f->nx, (long long)f->ny, (long long)f->nz);
    if (points[0] > f->nx || points[1] > f->ny || points[2] > f->nz)
        fprintf(file, "padded %lld %lld %lld, ", (long long)points[0], (long long)points[1], (long long)points[2]);
    fprintf(file, "grid %s, exchange %s, ", grid, f->exchange);
    if (f->exchange_precision && strcmp(f->exchange_precision, f->precision))
        fprintf(file, "sent in %s precision, ", f->exchange_precision);
    if (strcmp(schedule, "sequence"))
        fprintf(file, "schedule %s, ", schedule);
    if (threads > 1)
        fprintf(file, "%d threads a rank, ", threads);
    fprintf(file, "sync %s, FFTW %s\n", f->sync, f->rigor);
}

void points_of(pencilfft_plan plan, int64_t points[3])
{
    pencilfft_line line = {.points = 1};
    for (int axis = 0; axis < 3; axis++) {
        pencilfft_line_of(plan, axis, &line);
        points[axis] = line.points;
    }
}

const char *placed_by(const struct seating *s)
{
    return s->places ? "mapfile" : "launcher";
}

const char *coordinates_from(const struct seating *s)
{
    return s->source < 0 ? "none" : source_name(s->source);
}

const char *self_check_of(const struct seating *s)
{
    return s->mine.located ? "passed" : "not-possible";
}

void report_placement(const struct report *r, FILE *file)
{
    const struct seating *s = &r->processes->seating;
    const char *order = seats_order(&r->options->seats, s->source);
    fprintf(file, "%d tasks placed by the %s", s->ranks, placed_by(s));
    if (r->options->torus_text)
        fprintf(file, " on torus %s, %d per node, coordinates: %s%s%s, self-check: %s", r->options->torus_text,
                s->tasks_per_node, coordinates_from(s), order ? ":" : "", order ? order : "", self_check_of(s));
    fprintf(file, "\n");
}

bool phase_is_shown(const struct report *r, int phase)
{
    int kind = pencilfft_phase_kind(r->plan, phase);
    if (kind == PENCILFFT_HIDDEN)
        return strcmp(pencilfft_schedule_chosen(r->plan), "sequence");
    return kind != PENCILFFT_WAIT || strcmp(r->options->fft.sync, "none");
}

void report_warnings(const struct warnings *w, FILE *file)
{
    for (int i = 0; i < w->n; i++)
        fprintf(file, "warning: %s\n", w->text[i]);
    fflush(file);
}

/* Time of a transform, or of both directions if the plan has both, for each algorithm that "auto" tried in an exchange. */
static void print_tried(const struct report *r, int e, FILE *file)
{
    const char *name = NULL;
    int tried = 0;
    for (int i = 0; (name = pencilfft_exchange_name(i)); i++) {
        double seconds = 0;
        if (pencilfft_auto_seconds(r->plan, e, i, &seconds) != PENCILFFT_OK || seconds == 0)
            continue;
        fprintf(file, "%s%s ", !tried ? "  tried: " : tried % 3 ? ", " : ",\n         ", name);
        fprintf(file, isfinite(seconds) ? "%.4f ms" : "refused", 1e3 * seconds);
        tried++;
    }
    if (tried)
        fputc('\n', file);
}

/* The table of the grids that "auto" tried. */
static void print_grids(const struct report *r, FILE *file)
{
    pencilfft_grid_trial trial;
    int n = 0;
    pencilfft_grid_trials(r->plan, &n);
    if (n)
        fprintf(file, "grid tried        least       median       spread   ms of a transform, runs\n");
    for (int i = 0; i < n && pencilfft_grid_trial_of(r->plan, i, &trial) == PENCILFFT_OK; i++) {
        char grid[GRID_TEXT];
        grid_text(&(struct grid){.dims = 2, .extent = {trial.R, trial.C}, .letters = "rc"}, grid);
        if (trial.runs)
            fprintf(file, "%-10s %12.4f %12.4f %12.4f   %d\n", grid, 1e3 * trial.least, 1e3 * trial.median,
                    1e3 * trial.spread, trial.runs);
        else
            fprintf(file, "%-10s not tried\n", grid);
    }
}

/* The algorithm of each exchange, if chosen by "auto", and its traffic. */
static void print_exchanges(const struct report *r, FILE *file)
{
    int number[MOST_MOVES];
    moves_of(r->plan, number);
    for (int e = 0; e < r->traffic->exchanges; e++) {
        const char *means = pencilfft_exchange_means(r->plan, number[e]);
        long long bytes, messages;
        traffic_sum(r->traffic, e, &bytes, &messages);
        fprintf(file, "exchange %-6s %s%s%s%s: %lld messages, %lld bytes\n", pencilfft_exchange_stage(r->plan, number[e]),
                pencilfft_exchange_chosen(r->plan, number[e]), means ? " (" : "", means ? means : "", means ? ")" : "",
                messages, bytes);
        print_tried(r, number[e], file);
    }
}

void report_phases(const struct samples *s, const char *const *names, int width, FILE *file)
{
    for (int phase = 0; phase < s->phases; phase++)
        if (names[phase] && (int)strlen(names[phase]) > width)
            width = (int)strlen(names[phase]);
    fprintf(file, "\n%-*s %12s %12s %12s   ms over ranks, median of %d\n", width, "phase", "max", "mean", "min", s->reps);
    for (int phase = 0; phase < s->phases; phase++)
        if (names[phase])
            fprintf(file, "%-*s %12.4f %12.4f %12.4f\n", width, names[phase], 1e3 * samples_median(s->max, s, phase),
                    1e3 * samples_median(s->mean, s, phase), 1e3 * samples_median(s->min, s, phase));
}

static void print_phases(const struct report *r, FILE *file)
{
    const char *names[PENCILFFT_MAX_PHASES];
    for (int phase = 0; phase < r->samples->phases; phase++)
        names[phase] = phase_is_shown(r, phase) ? pencilfft_phase_name(r->plan, phase) : NULL;
    report_phases(r->samples, names, 16, file); /* room for the names of remaps only if there are any */
}

static void print_rate(const struct report *r, FILE *file)
{
    const pencilfft_desc *f = &r->options->fft;
    int64_t points[3];
    points_of(r->plan, points);
    double n = (double)points[0] * (double)points[1] * (double)points[2] * f->fields; /* of a transform */
    double seconds = samples_median(r->samples->max, r->samples, phase_of(r->plan, PENCILFFT_TOTAL));
    double per_point = strcmp(f->type, "c2c") ? 2.5 : 5; /* of complex and real transforms, in FFTW's count */
    if (seconds > 0)
        fprintf(file, "\n%g N log2 N%s / total: %.3f GFlop/s\n", per_point, r->options->pair ? " twice" : "",
                (r->options->pair ? 2 : 1) * per_point * n * log2(n / f->fields) / seconds * 1e-9);
}

void report_verification(const struct report *r, FILE *file)
{
    const struct verification *v = r->verification;
    if (!v) {
        fprintf(file, "not verified (see --verify)\n");
        return;
    }
    fprintf(file, "verification %s: moved data %s, ", v->passed ? "passed" : "FAILED",
            v->moved_data_exact ? "exact" : "WRONG");
    if (v->fftw_done)
        fprintf(file, "error %.2g to serial FFTW, ", v->error_fftw);
    fprintf(file, "error %.2g to the direct sum at %d points, allowed %.2g\n", v->error_direct, v->points, v->tolerance);
    if (v->note[0])
        fprintf(file, "%s\n", v->note);
}

static void print_halo(const struct halo_run *h, FILE *file)
{
    long long bytes, messages;
    if (!h->width)
        return;
    traffic_sum(&h->traffic, 0, &bytes, &messages);
    fprintf(file, "\nhalo of %d plane%s: %lld messages, %lld bytes; %.4f ms, the median of the slowest rank%s\n", h->width,
            h->width > 1 ? "s" : "", messages, bytes, 1e3 * samples_median(h->samples.max, &h->samples, 0),
            h->verified ? "; verified, exact" : "");
}

void report_table(const struct report *r, FILE *file)
{
    print_head(r, file);
    report_placement(r, file);
    if (r->options->print_plan)
        pencilfft_plan_print(r->plan, file);
    print_grids(r, file);
    print_exchanges(r, file);
    print_phases(r, file);
    print_rate(r, file);
    print_halo(r->halo, file);
    report_verification(r, file);
    fflush(file);
}
