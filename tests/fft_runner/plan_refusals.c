#include "plan_refusals.h"

#include <stdlib.h>
#include <string.h>

#include "plan_order.h"

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

bool type_is_real(const char *type)
{
    return !strcmp(type, "dct") || !strcmp(type, "dst");
}

bool type_is_halved(const char *type)
{
    return strcmp(type, "c2c") && !type_is_real(type);
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
    bool dft = !type_is_real(d->type) && (axis > 0 || (strcmp(d->type, "chebyshev") && strcmp(d->type, "empty")));
    return dft && !(d->skip && strchr(d->skip, 'x' + axis));
}

static bool padded_without_dft(const pencilfft_desc *d, const char *absent)
{
    const int64_t n[3] = {d->nx, d->ny, d->nz};
    (void)absent;
    for (int axis = 0; axis < 3; axis++)
        if (plan_points(d, axis) > n[axis] && !plan_has_dft(d, axis))
            return true;
    return false;
}

static bool sent_in_more_than_it_has(const pencilfft_desc *d, const char *absent)
{
    (void)absent;
    return d->exchange_precision && !strcmp(d->exchange_precision, "double") && !strcmp(d->precision, "single");
}

bool plan_rounds(const pencilfft_desc *d)
{
    return d->exchange_precision && !strcmp(d->exchange_precision, "single") && !strcmp(d->precision, "double");
}

static bool padded_to_less(const pencilfft_desc *d, const char *absent)
{
    (void)absent;
    return plan_points(d, 0) < d->nx || plan_points(d, 1) < d->ny || plan_points(d, 2) < d->nz;
}

/* Slabs have R = 1, so that the rules for pencils below hold for slabs too. */
static bool grid_of_two_numbers(const pencilfft_desc *d, const char *absent)
{
    (void)absent;
    return !strcmp(d->decomposition, "slab") && d->R > 1;
}

static bool slabs_of_two_dimensions(const pencilfft_desc *d, const char *absent)
{
    (void)absent;
    return plan_is_flat(d) && !strcmp(d->decomposition, "slab");
}

static bool columns_of_two_dimensions(const pencilfft_desc *d, const char *absent)
{
    (void)absent;
    return plan_is_flat(d) && d->C > 1;
}

static bool third_axis_of_two_dimensions(const pencilfft_desc *d, const char *absent)
{
    (void)absent;
    return plan_is_flat(d) && (!strcmp(d->type, "chebyshev") || !strcmp(d->type, "empty"));
}

static bool chebyshev_of_one_point(const pencilfft_desc *d, const char *absent)
{
    (void)absent;
    return !strcmp(d->type, "chebyshev") && d->nx < 2 && !(d->skip && strchr(d->skip, 'x'));
}

static bool cosine_of_one_point(const pencilfft_desc *d, const char *absent)
{
    const int64_t n[3] = {d->nx, d->ny, d->nz};
    (void)absent;
    for (int axis = 0; axis < 3 && d->kinds; axis++) {
        const char *kind = d->kinds;
        for (int i = 0; i < axis; i++)
            kind = strchr(kind, ',') + 1;
        bool cosine = *kind == 'c' || (*kind != 's' && !strcmp(d->type, "dct"));
        bool first = kind[*kind == 'c'] == '1', skipped = d->skip && strchr(d->skip, 'x' + axis);
        if (n[axis] < 2 && cosine && first && !skipped)
            return true;
    }
    return false;
}

static bool is_schedule(const pencilfft_desc *d, const char *name)
{
    return d->schedule && !strncmp(d->schedule, name, strlen(name));
}

/* An open choice leaves out impossible values. */
static bool is_free(const pencilfft_desc *d)
{
    return !d->schedule || is_schedule(d, "auto");
}

static bool goes_two_ways(const pencilfft_desc *d)
{
    return is_schedule(d, "two-way") || (is_schedule(d, "opposite") && d->fields > 1);
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

static bool uneven_for_alltoall(const pencilfft_desc *d, const char *absent)
{
    int64_t lower = lower_planes(d), upper = is_schedule(d, "two-way") ? kept_of_z(d) - lower : kept_of_z(d);
    bool first = plan_extent(d, 1) % d->R || lower % d->R || plan_extent(d, 0) % d->C || d->ny % d->C;
    bool second = plan_extent(d, 1) % d->R || upper % d->C || plan_extent(d, 0) % d->C || d->nx % d->R;
    (void)absent;
    return !strcmp(d->exchange, "alltoall") && (first || (goes_two_ways(d) && second));
}

static bool one_order_for_two_ways(const pencilfft_desc *d, const char *absent)
{
    (void)absent;
    bool one_order = strcmp(d->decomposition, "pencil") || plan_is_flat(d);
    return one_order && (is_schedule(d, "two-way") || is_schedule(d, "opposite"));
}

static bool one_plane_for_two_ways(const pencilfft_desc *d, const char *absent)
{
    (void)absent;
    return is_schedule(d, "two-way") && kept_of_z(d) < 2;
}

static bool all_planes_go_one_way(const pencilfft_desc *d, const char *absent)
{
    (void)absent;
    return is_schedule(d, "two-way") && kept_of_z(d) > 1 && lower_planes(d) >= kept_of_z(d);
}

/* The requested chunks, and the most along the requested axis, or along the axis with most. */
static bool too_short_for_chunks(const pencilfft_desc *d, const char *absent)
{
    const char *chunks = d->schedule ? strchr(d->schedule, ':') : NULL, *axis = chunks ? strchr(chunks + 1, ':') : NULL;
    bool slab = !strcmp(d->decomposition, "slab");
    int64_t wanted = 1, x = plan_extent(d, 0) / d->C, z = slab ? kept_of_z(d) : kept_of_z(d) / d->R, most;
    (void)absent;
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

bool exchange_runs_beside(const char *exchange)
{
    return strcmp(exchange, "node") && strcmp(exchange, "put") && strcmp(exchange, "fftw");
}

static bool cannot_run_beside(const pencilfft_desc *d, const char *absent)
{
    (void)absent;
    return !is_free(d) && !is_schedule(d, "sequence") && !exchange_runs_beside(d->exchange);
}

static bool cannot_be_started(const pencilfft_desc *d, const char *absent)
{
    (void)absent;
    return d->nonblocking && !exchange_runs_beside(d->exchange);
}

static bool tied_to_buffers(const pencilfft_desc *d, const char *absent)
{
    (void)absent;
    return d->caller_work && !strcmp(d->exchange, "persistent");
}

static bool waits_for_all(const pencilfft_desc *d, const char *absent)
{
    (void)absent;
    return d->nonblocking && strcmp(d->sync, "none");
}

static bool not_of_this_mpi(const pencilfft_desc *d, const char *absent)
{
    return absent && !strcmp(d->exchange, absent);
}

static bool without_openmp(const pencilfft_desc *d, const char *absent)
{
    (void)absent;
#ifdef PENCILFFT_HAVE_OPENMP
    (void)d;
    return false;
#else
    return d->threads > 1;
#endif
}

static const struct reason {
    bool (*applies)(const pencilfft_desc *desc, const char *absent);
    int status;
    const char *message;
} reasons[] = {
    {slabs_of_two_dimensions, PENCILFFT_NOT_POSSIBLE, "is for three dimensions"},
    {columns_of_two_dimensions, PENCILFFT_BAD_GRID, "of which one is divided at a time"},
    {third_axis_of_two_dimensions, PENCILFFT_NOT_POSSIBLE, "is for a third axis"},
    {grid_of_two_numbers, PENCILFFT_BAD_GRID, "slab has a grid of one number"},
    {chebyshev_of_one_point, PENCILFFT_BAD_SIZE, "a cosine transform of kind I needs at least 2 points"},
    {cosine_of_one_point, PENCILFFT_BAD_SIZE, "a cosine transform of kind I needs at least 2 points"},
    {padded_to_less, PENCILFFT_BAD_SIZE, "give 0 or at least n"},
    {sent_in_more_than_it_has, PENCILFFT_NOT_POSSIBLE, "is more than precision single has"},
    {padded_without_dft, PENCILFFT_NOT_POSSIBLE, "only DFTs are padded"},
    {uneven_for_alltoall, PENCILFFT_NOT_POSSIBLE, "use exchange padded or alltoallv"},
    {one_order_for_two_ways, PENCILFFT_NOT_POSSIBLE, "cannot go two ways"},
    {one_plane_for_two_ways, PENCILFFT_NOT_POSSIBLE, "which cannot be divided"},
    {all_planes_go_one_way, PENCILFFT_NOT_POSSIBLE, "to be divided"},
    {too_short_for_chunks, PENCILFFT_NOT_POSSIBLE, "too short for"},
    {cannot_run_beside, PENCILFFT_NOT_POSSIBLE, "cannot run beside other work"},
    {cannot_be_started, PENCILFFT_NOT_POSSIBLE, "as a nonblocking plan needs it"},
    {tied_to_buffers, PENCILFFT_NOT_POSSIBLE, "is tied to the buffers"},
    {waits_for_all, PENCILFFT_NOT_POSSIBLE, "waits for all ranks"},
    {without_openmp, PENCILFFT_NOT_POSSIBLE, "built without OpenMP"},
    {not_of_this_mpi, PENCILFFT_NOT_POSSIBLE, "needs FFTW's MPI library built for this MPI"},
};

/* The reasons are those of order zyx. */
bool plan_must_be_refused(const pencilfft_desc *desc, const char *absent)
{
    struct plan_texts texts;
    const pencilfft_desc inside = plan_inside(desc, &texts);
    for (int i = 0; i < COUNT(reasons); i++)
        if (reasons[i].applies(&inside, absent))
            return true;
    return false;
}

static bool refused_on_its_grid(const pencilfft_desc *desc, const char *absent, int status, const char *message)
{
    struct plan_texts texts;
    const pencilfft_desc inside = plan_inside(desc, &texts);
    for (int i = 0; i < COUNT(reasons); i++)
        if (reasons[i].applies(&inside, absent) && status == reasons[i].status && strstr(message, reasons[i].message))
            return true;
    return false;
}

bool plan_refused_rightly(const pencilfft_desc *desc, int ranks, const char *absent, int status, const char *message)
{
    pencilfft_desc on = *desc;
    for (on.R = 1; on.R <= ranks && !desc->R; on.R++) {
        on.C = ranks / on.R;
        if (on.R * on.C == ranks && refused_on_its_grid(&on, absent, status, message))
            return true;
    }
    return desc->R && refused_on_its_grid(desc, absent, status, message);
}
