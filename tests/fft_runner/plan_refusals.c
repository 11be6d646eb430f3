#include "plan_refusals.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/message_counts.h"

bool type_is_list(const char *type)
{
    return strchr(type, ',');
}

bool type_is_real(const char *type)
{
    return type_is_list(type) ? !strstr(type, "c2c") && !strstr(type, "r2c") : !strcmp(type, "dct") || !strcmp(type, "dst");
}

bool type_is_halved(const char *type)
{
    return type_is_list(type) ? strstr(type, "r2c") != NULL : strcmp(type, "c2c") && !type_is_real(type);
}

/* The words between the commas of a text, in place of the usual ones. */
static void read_words(const char *text, const char *usual, char word[3][8])
{
    for (int axis = 0; axis < 3; axis++) {
        size_t length = strcspn(text, ",");
        snprintf(word[axis], sizeof word[axis], "%.*s", (int)(length ? length : strlen(usual)), length ? text : usual);
        text += length + (text[length] == ',');
    }
}

/* Whether the list has this kind along the axis. */
static bool list_has(const pencilfft_desc *d, int axis, const char *kind)
{
    char word[3][8];
    read_words(d->type, "none", word);
    return type_is_list(d->type) && !strcmp(word[axis], kind);
}

static int64_t kept_of_z(const pencilfft_desc *d)
{
    return type_is_halved(d->type) ? d->nz / 2 + 1 : d->nz;
}

int64_t plan_points(const pencilfft_desc *d, int axis)
{
    const int64_t n[3] = {d->nx, d->ny, d->nz}, padded[3] = {d->padded_nx, d->padded_ny, d->padded_nz};
    return padded[axis] ? padded[axis] : n[axis];
}

int64_t plan_extent(const pencilfft_desc *d, int axis)
{
    const int64_t n[3] = {d->nx, d->ny, d->nz};
    bool done = axis == 2 || (axis == 1 ? d->R == 1 : d->C == 1 && d->R > 1);
    return axis == 2 && type_is_halved(d->type) ? d->nz / 2 + 1 : done ? n[axis] : plan_points(d, axis);
}

bool plan_has_dft(const pencilfft_desc *d, int axis)
{
    if (type_is_list(d->type))
        return list_has(d, axis, "c2c") || list_has(d, axis, "r2c");
    bool dft = !type_is_real(d->type) && (axis > 0 || (strcmp(d->type, "chebyshev") && strcmp(d->type, "empty")));
    return dft && !(d->skip && strchr(d->skip, 'x' + axis));
}

bool plan_rounds(const pencilfft_desc *d)
{
    return d->exchange_precision && !strcmp(d->exchange_precision, "single") && !strcmp(d->precision, "double");
}

bool exchange_runs_beside(const char *exchange)
{
    return strcmp(exchange, "node") && strcmp(exchange, "put") && strcmp(exchange, "fftw");
}

static bool is_schedule(const pencilfft_desc *d, const char *name)
{
    return d->schedule && !strncmp(d->schedule, name, strlen(name));
}

static int64_t full(int64_t planes, int64_t ranks)
{
    return (planes + ranks - 1) / ranks * ranks;
}

/* Planes that go rows before columns: as requested, or by the rule of pencilfft.h, tried one by one. */
static int64_t lower_planes(const pencilfft_desc *d)
{
    int64_t nz = kept_of_z(d), best = 1;
    if (!is_schedule(d, "two-way"))
        return nz;
    if (strchr(d->schedule, ':'))
        return atoll(strchr(d->schedule, ':') + 1);
    for (int64_t lower = nz - 1; lower > 0; lower--) {
        int64_t a = full(lower, d->R), b = full(nz - lower, d->C), c = full(best, d->R), e = full(nz - best, d->C);
        int64_t most = a > b ? a : b, least = c > e ? c : e;
        if (most < least || (most == least && a + b <= c + e))
            best = lower;
    }
    return best;
}

/* Slabs have R = 1, so that the rules for pencils hold for slabs too. */
static bool uneven_for_alltoall(const pencilfft_desc *d)
{
    bool both = is_schedule(d, "two-way") || (is_schedule(d, "opposite") && d->fields > 1);
    int64_t lower = lower_planes(d), upper = is_schedule(d, "two-way") ? kept_of_z(d) - lower : kept_of_z(d);
    bool first = plan_extent(d, 1) % d->R || lower % d->R || plan_extent(d, 0) % d->C || d->ny % d->C;
    bool second = plan_extent(d, 1) % d->R || upper % d->C || plan_extent(d, 0) % d->C || d->nx % d->R;
    return !strcmp(d->exchange, "alltoall") && (first || (both && second));
}

/* Along an axis that is not skipped. */
static bool cosine_of_one_point(const pencilfft_desc *d)
{
    const int64_t n[3] = {d->nx, d->ny, d->nz};
    const char *kind = d->kinds;
    bool found = !strcmp(d->type, "chebyshev") && n[0] < 2 && !(d->skip && strchr(d->skip, 'x'));
    for (int axis = 0; axis < 3; axis++)
        found |= list_has(d, axis, "dct1") && n[axis] < 2;
    for (int axis = 0; axis < 3 && kind; axis++, kind = strchr(kind, ',') ? strchr(kind, ',') + 1 : NULL) {
        bool cosine = *kind == 'c' || (*kind != 's' && !strcmp(d->type, "dct"));
        bool first = kind[*kind == 'c'] == '1', skipped = d->skip && strchr(d->skip, 'x' + axis);
        found |= n[axis] < 2 && cosine && first && !skipped;
    }
    return found;
}

/* The requested chunks, and the most along the requested axis, or along the axis with most. */
static bool too_short_for_chunks(const pencilfft_desc *d)
{
    const char *chunks = d->schedule ? strchr(d->schedule, ':') : NULL, *axis = chunks ? strchr(chunks + 1, ':') : NULL;
    bool slab = !strcmp(d->decomposition, "slab");
    int64_t wanted = 1, x = plan_extent(d, 0) / d->C, z = slab ? kept_of_z(d) : kept_of_z(d) / d->R, most;
    x += x == 0; /* the others hold one index or nothing */
    z += z == 0;
    if (!chunks || is_schedule(d, "two-way"))
        return false;
    for (const char *at = chunks; *at && at != axis; at++)
        wanted += *at == ',';
    if (wanted == 1)
        wanted = atoll(chunks + 1);
    most = x > z ? x : z;
    most = most > d->fields ? most : d->fields;
    if (axis)
        most = axis[1] == 'x' ? x : axis[1] == 'z' ? z : d->fields;
    return wanted > most;
}

static bool some_axis_is_padded(const pencilfft_desc *d, bool to_less)
{
    const int64_t n[3] = {d->nx, d->ny, d->nz};
    bool found = false;
    for (int axis = 0; axis < 3; axis++)
        found |= to_less ? plan_points(d, axis) < n[axis] : plan_points(d, axis) > n[axis] && !plan_has_dft(d, axis);
    return found;
}

#ifdef PENCILFFT_HAVE_OPENMP
enum { MOST_THREADS = 1024 };
#else
enum { MOST_THREADS = 1 };
#endif

/* Whether a reason of refusal applies; with a message, whether that is one of them. */
static bool refused(const pencilfft_desc *d, const char *absent, int status, const char *message)
{
    bool slab = !strcmp(d->decomposition, "slab"), alone = !exchange_runs_beside(d->exchange);
    bool two_way = is_schedule(d, "two-way");
    bool open = !d->schedule || is_schedule(d, "auto"); /* an open choice leaves out impossible values */
    bool more = d->exchange_precision && !strcmp(d->exchange_precision, "double") && !strcmp(d->precision, "single");
    bool one_order = strcmp(d->decomposition, "pencil");
    const struct {
        bool applies;
        int status;
        const char *message;
    } reasons[] = {
        {list_has(d, 0, "r2c") || list_has(d, 1, "r2c"), PENCILFFT_NOT_POSSIBLE, " has r2c along "},
        {slab && d->R > 1, PENCILFFT_BAD_GRID, "slab has a grid of one number"},
        {cosine_of_one_point(d), PENCILFFT_BAD_SIZE, "a cosine transform of kind I needs at least 2 points"},
        {some_axis_is_padded(d, true), PENCILFFT_BAD_SIZE, "give 0 or at least n"},
        {more, PENCILFFT_NOT_POSSIBLE, "is more than precision single has"},
        {some_axis_is_padded(d, false), PENCILFFT_NOT_POSSIBLE, "only DFTs are padded"},
        {uneven_for_alltoall(d), PENCILFFT_NOT_POSSIBLE, "use exchange padded or alltoallv"},
        {one_order && (two_way || is_schedule(d, "opposite")), PENCILFFT_NOT_POSSIBLE, "cannot go two ways"},
        {d->input_box && (two_way || (is_schedule(d, "opposite") && d->fields > 1)), PENCILFFT_NOT_POSSIBLE, "not remapped"},
        {two_way && kept_of_z(d) < 2, PENCILFFT_NOT_POSSIBLE, "which cannot be divided"},
        {two_way && kept_of_z(d) > 1 && lower_planes(d) >= kept_of_z(d), PENCILFFT_NOT_POSSIBLE, "to be divided"},
        {too_short_for_chunks(d), PENCILFFT_NOT_POSSIBLE, "too short for"},
        {!open && !is_schedule(d, "sequence") && alone, PENCILFFT_NOT_POSSIBLE, "cannot run beside other work"},
        {d->nonblocking && alone, PENCILFFT_NOT_POSSIBLE, "as a nonblocking plan needs it"},
        {d->caller_work && !strcmp(d->exchange, "persistent"), PENCILFFT_NOT_POSSIBLE, "is tied to the buffers"},
        {d->nonblocking && strcmp(d->sync, "none"), PENCILFFT_NOT_POSSIBLE, "waits for all ranks"},
        {d->threads > MOST_THREADS, PENCILFFT_NOT_POSSIBLE, "built without OpenMP"},
        {message && !strcmp(d->exchange, "fftw") && pf_fftw_count_limit < INT_MAX, PENCILFFT_TOO_LARGE,
         "that FFTW's transpose counts"}, /* one plane is beyond the counts of small_counts.c */
        {absent && !strcmp(d->exchange, absent), PENCILFFT_NOT_POSSIBLE, "needs FFTW's MPI library built for this MPI"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].applies && (!message || (status == reasons[i].status && strstr(message, reasons[i].message))))
            return true;
    return false;
}

bool plan_must_be_refused(const pencilfft_desc *desc, const char *absent)
{
    return refused(desc, absent, PENCILFFT_OK, NULL);
}

bool plan_refused_rightly(const pencilfft_desc *desc, int ranks, const char *absent, int status, const char *message)
{
    pencilfft_desc on = *desc;
    for (on.R = 1; on.R <= ranks && !desc->R; on.R++) {
        on.C = ranks / on.R;
        if (on.R * on.C == ranks && refused(&on, absent, status, message))
            return true;
    }
    return desc->R && refused(desc, absent, status, message);
}
