/* Electrostatic energy and forces of charges in a periodic cube by particle-mesh Ewald, with real-complex transforms and
 * halos.
 *     mpirun -n 4 pme_c --random 500 --check
 * The energy is the half sum of q q'/r over all pairs and periodic images. Ewald's splitting: erfc(alpha r)/r is summed up
 * to a cutoff (direct part), the rest by its Fourier series on a mesh (reciprocal part), minus the energy of each charge
 * with itself.
 *
 * Reciprocal part: U. Essmann and others, A smooth particle mesh Ewald method, J. Chem. Phys. 103 (1995). Each charge is
 * spread to p x p x p points of the mesh by cardinal B-splines of order p: its cell and p - 1 cells below along each axis.
 * So the rank that owns the cell needs a halo of p - 1 planes below. Charge in the halo is added to its owners (accumulate);
 * the potential at these points is brought back (exchange).
 * Ranks: all do both parts, or R ranks (--reciprocal-ranks) do the reciprocal part beside the others: C. E. Cramer, J. A.
 * Board, The development and integration of a distributed 3D FFT for a cluster of workstations, 2000. */
#include <complex.h>
#include <math.h>
#include <pencilfft.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ORDER = 10 };
enum part { SPREAD, HALO, FORWARD, INFLUENCE, BACKWARD, GATHER, DIRECT, TOTAL, PARTS };
static const char *const part_names[] = {"spread", "halo", "forward", "influence", "backward", "gather", "direct", "total"};
static const double pi = 3.14159265358979323846;

struct charges {
    int n;
    double edge, (*at)[3], *q; /* of the cube; x y z of each */
};

struct settings {
    int mesh, order, steps, reciprocal_ranks; /* 0: all ranks do both parts */
    double alpha, cutoff;
    const char *decomposition, *schedule;
};

struct sums {
    double energy, (*force)[3]; /* x y z of each charge */
    double seconds[PARTS]; /* of the slowest rank */
};

static int rank, ranks;

static void quit(const char *message)
{
    if (rank == 0)
        fprintf(stderr, "pme: %s\n", message);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    exit(EXIT_FAILURE);
}

static void need(int status)
{
    if (status == PENCILFFT_OK)
        return;
    fprintf(stderr, "pme: %s\n", pencilfft_error_message());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void *room(size_t n, size_t bytes)
{
    void *memory = calloc(n + 1, bytes);
    if (!memory) {
        fprintf(stderr, "pme: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return memory;
}

/* The time since the last lap belongs to a part. */
static void lap(double *seconds, enum part part, double *since)
{
    double now = MPI_Wtime();
    seconds[part] += now - *since;
    *since = now;
}

/* ---- charges ---------------------------------------------------------------------------------------------------------- */

static struct charges charges_of(int n, double edge)
{
    return (struct charges){n, edge, room((size_t)n, sizeof(double[3])), room((size_t)n, sizeof(double))};
}

/* The nearest image of a difference of two coordinates in the cube. */
static double nearest(double d, double edge)
{
    return d > edge / 2 ? d - edge : d < -edge / 2 ? d + edge : d;
}

/* Rock salt: ions of either sign in turn, at distance 1. */
static struct charges rock_salt(int cells)
{
    int side = 2 * cells;
    struct charges c = charges_of(side * side * side, side);
    for (int i = 0; i < c.n; i++) {
        int x = i / side / side, y = i / side % side, z = i % side;
        c.at[i][0] = x, c.at[i][1] = y, c.at[i][2] = z;
        c.q[i] = (x + y + z) % 2 ? -1 : 1;
    }
    return c;
}

static double uniform(unsigned long long *state) /* xorshift64*: Vigna, 2016 */
{
    *state ^= *state >> 12, *state ^= *state << 25, *state ^= *state >> 27;
    return (double)((*state * 2685821657736338717ULL) >> 11) / 9007199254740992.0;
}

/* As dense as rock salt, any two at least half its distance apart, charges from -1 to 1 in pairs that add up to 0. */
static struct charges random_charges(int n, int seed)
{
    struct charges c = charges_of(n, cbrt(n));
    unsigned long long state = 88172645463325252ULL + (unsigned long long)seed * 7919;
    for (int i = 0; i < n; i++) {
        double least = 0;
        while (least < 0.25) {
            least = INFINITY;
            for (int axis = 0; axis < 3; axis++)
                c.at[i][axis] = c.edge * uniform(&state);
            for (int j = 0; j < i; j++) {
                double r2 = 0;
                for (int axis = 0; axis < 3; axis++) {
                    double d = nearest(c.at[i][axis] - c.at[j][axis], c.edge);
                    r2 += d * d;
                }
                least = fmin(least, r2);
            }
        }
        c.q[i] = i % 2 ? -c.q[i - 1] : i + 1 < n ? 2 * uniform(&state) - 1 : 0;
    }
    return c;
}

/* ---- direct part ------------------------------------------------------------------------------------------------------ */

/* Energy and force of erfc(alpha r)/r between charge i and a charge at distance d. */
static void add_pair(double alpha, double qq, const double d[3], double r2, double *energy, double force[3])
{
    double r = sqrt(r2), potential = erfc(alpha * r) / r;
    double slope = (potential + 2 * alpha / sqrt(pi) * exp(-alpha * alpha * r2)) / r2;
    *energy += qq * potential / 2;
    for (int axis = 0; axis < 3; axis++)
        force[axis] += qq * slope * d[axis];
}

/* Charges by cell, in lists: cells are not smaller than the cutoff, or there is a single cell. */
struct cells {
    int side, *first, *next;
};

static int cell_of(const struct charges *c, int side, int i, int axis)
{
    int cell = (int)floor(c->at[i][axis] / c->edge * side);
    return (cell % side + side) % side;
}

static struct cells cells_of(const struct charges *c, double cutoff)
{
    struct cells cells = {.side = (int)(c->edge / cutoff)};
    cells.side = cells.side < 3 ? 1 : cells.side > 64 ? 64 : cells.side; /* with two cells a neighbour would count twice */
    size_t n = (size_t)cells.side * (size_t)cells.side * (size_t)cells.side;
    cells.first = room(n, sizeof *cells.first);
    cells.next = room((size_t)c->n, sizeof *cells.next);
    for (size_t i = 0; i < n; i++)
        cells.first[i] = -1;
    for (int i = 0; i < c->n; i++) {
        int at = 0;
        for (int axis = 0; axis < 3; axis++)
            at = at * cells.side + cell_of(c, cells.side, i, axis);
        cells.next[i] = cells.first[at];
        cells.first[at] = i;
    }
    return cells;
}

static void add_cell(const struct charges *c, const struct settings *s, const struct cells *cells, int at, int i,
                     struct sums *sums)
{
    for (int j = cells->first[at]; j >= 0; j = cells->next[j]) {
        double d[3], r2 = 0;
        for (int axis = 0; axis < 3; axis++) {
            d[axis] = nearest(c->at[i][axis] - c->at[j][axis], c->edge);
            r2 += d[axis] * d[axis];
        }
        if (j != i && r2 < s->cutoff * s->cutoff)
            add_pair(s->alpha, c->q[i] * c->q[j], d, r2, &sums->energy, sums->force[i]);
    }
}

/* For this rank's share of all charges in the direct part. */
static void direct_part(const struct charges *c, const struct settings *s, MPI_Comm comm, struct sums *sums)
{
    int me, p;
    double since = MPI_Wtime();
    struct cells cells = cells_of(c, s->cutoff);
    int reach = cells.side > 1;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    for (int i = (int)((long long)c->n * me / p); i < (int)((long long)c->n * (me + 1) / p); i++) {
        int at[3];
        for (int axis = 0; axis < 3; axis++)
            at[axis] = cell_of(c, cells.side, i, axis) + cells.side;
        for (int x = at[0] - reach; x <= at[0] + reach; x++)
            for (int y = at[1] - reach; y <= at[1] + reach; y++)
                for (int z = at[2] - reach; z <= at[2] + reach; z++)
                    add_cell(c, s, &cells, (x % cells.side * cells.side + y % cells.side) * cells.side + z % cells.side, i,
                             sums);
        sums->energy -= s->alpha / sqrt(pi) * c->q[i] * c->q[i]; /* energy of the charge with itself */
    }
    free(cells.first);
    free(cells.next);
    lap(sums->seconds, DIRECT, &since);
}

/* ---- reciprocal part -------------------------------------------------------------------------------------------------- */

struct mesh {
    pencilfft_plan plan;
    pencilfft_halo halo;
    pencilfft_box box;
    pencilfft_part part;
    double *values, *padded, *moduli; /* |b(m)|^2 */
    double complex *spectrum;
    int R, C;
};

/* Values at w, w + 1, ... of the spline of an order, which is not 0 between 0 and the order, and its slopes. */
static void spline(int order, double w, double value[MOST_ORDER], double slope[MOST_ORDER])
{
    value[0] = w, value[1] = 1 - w;
    for (int n = 3; n <= order; n++) {
        value[n - 1] = 0;
        for (int j = n - 1; j >= 0; j--) {
            double x = w + j, below = j ? value[j - 1] : 0;
            if (n == order)
                slope[j] = value[j] - below;
            value[j] = (x * value[j] + (n - x) * below) / (n - 1);
        }
    }
}

/* The spectrum of the splines: formula 4.4 of Essmann. The shortest wave of an odd order is lost. */
static void set_moduli(int n, int order, double *moduli)
{
    double value[MOST_ORDER], slope[MOST_ORDER];
    spline(order, 0, value, slope);
    for (int m = 0; m < n; m++) {
        double complex sum = 0;
        for (int k = 1; k < order; k++)
            sum += value[k] * cexp(2 * pi * I * m * (k - 1) / n);
        double size = creal(sum * conj(sum));
        moduli[m] = size > 1e-12 ? 1 / size : 0;
    }
}

static struct mesh make_mesh(const struct settings *s, MPI_Comm comm)
{
    struct mesh m = {.plan = NULL};
    const int64_t low[3] = {s->order - 1, s->order - 1, s->order - 1}, high[3] = {0, 0, 0};
    pencilfft_desc desc;
    pencilfft_desc_init(&desc);
    desc.nx = desc.ny = desc.nz = s->mesh;
    desc.type = "r2c";
    desc.decomposition = s->decomposition;
    desc.schedule = s->schedule;
    need(pencilfft_plan_create(&desc, comm, &m.plan));
    need(pencilfft_grid(m.plan, &m.R, &m.C));
    need(pencilfft_box_mine(m.plan, PENCILFFT_INPUT, &m.box));
    need(pencilfft_alloc(m.plan, (void **)&m.values));
    need(pencilfft_alloc(m.plan, (void **)&m.spectrum));
    need(pencilfft_halo_create(m.plan, PENCILFFT_INPUT, low, high, &m.halo));
    need(pencilfft_halo_part(m.halo, &m.part));
    m.padded = room((size_t)m.part.field_stride, sizeof(double));
    m.moduli = room((size_t)s->mesh, sizeof(double));
    set_moduli(s->mesh, s->order, m.moduli);
    return m;
}

static void free_mesh(struct mesh *m)
{
    need(pencilfft_halo_destroy(m->halo));
    need(pencilfft_plan_destroy(m->plan));
    free(m->padded);
    free(m->moduli);
}

/* The points of a charge: of its cell and below. 0 if another rank owns the cell. */
struct points {
    int64_t start; /* element of the padded mesh of the cell */
    double value[3][MOST_ORDER], slope[3][MOST_ORDER];
};

static int points_of(const struct charges *c, const struct settings *s, const struct mesh *m, int i, struct points *p)
{
    p->start = 0;
    for (int axis = 0; axis < 3; axis++) {
        double u = c->at[i][axis] / c->edge, scaled = (u - floor(u)) * s->mesh;
        int64_t cell = (int64_t)scaled % s->mesh; /* after rounding up to the edge, the first cell */
        if (cell < m->box.offset[axis] || cell >= m->box.offset[axis] + m->box.extent[axis])
            return 0;
        spline(s->order, scaled - floor(scaled), p->value[axis], p->slope[axis]);
        p->start += (cell - m->part.box.offset[axis]) * m->part.box.stride[axis];
    }
    return 1;
}

static void spread(const struct charges *c, const struct settings *s, struct mesh *m)
{
    struct points p;
    const int64_t *step = m->part.box.stride;
    memset(m->padded, 0, (size_t)m->part.field_stride * sizeof *m->padded);
    for (int i = 0; i < c->n; i++)
        if (points_of(c, s, m, i, &p))
            for (int x = 0; x < s->order; x++)
                for (int y = 0; y < s->order; y++)
                    for (int z = 0; z < s->order; z++)
                        m->padded[p.start - x * step[0] - y * step[1] - z * step[2]] += c->q[i] * p.value[0][x] *
                                                                                        p.value[1][y] * p.value[2][z];
}

static void gather(const struct charges *c, const struct settings *s, const struct mesh *m, struct sums *sums)
{
    struct points p;
    const int64_t *step = m->part.box.stride;
    double scale = s->mesh / c->edge;
    for (int i = 0; i < c->n; i++) {
        if (!points_of(c, s, m, i, &p))
            continue;
        for (int x = 0; x < s->order; x++)
            for (int y = 0; y < s->order; y++)
                for (int z = 0; z < s->order; z++) {
                    double v = c->q[i] * m->padded[p.start - x * step[0] - y * step[1] - z * step[2]];
                    sums->energy += v * p.value[0][x] * p.value[1][y] * p.value[2][z] / 2;
                    sums->force[i][0] -= v * p.slope[0][x] * p.value[1][y] * p.value[2][z] * scale;
                    sums->force[i][1] -= v * p.value[0][x] * p.slope[1][y] * p.value[2][z] * scale;
                    sums->force[i][2] -= v * p.value[0][x] * p.value[1][y] * p.slope[2][z] * scale;
                }
    }
}

static void apply_influence(const struct charges *c, const struct settings *s, struct mesh *m)
{
    pencilfft_walk w;
    for (need(pencilfft_walk_begin(m->plan, PENCILFFT_OUTPUT, &w)); pencilfft_walk_next(&w);) {
        double k2 = 0, factor = 1 / (pi * c->edge * c->edge * c->edge);
        for (int axis = 0; axis < 3; axis++) {
            k2 += w.waves[axis] * w.waves[axis] / (c->edge * c->edge);
            factor *= m->moduli[w.index[axis]];
        }
        m->spectrum[w.at] *= k2 > 0 ? factor * exp(-pi * pi * k2 / (s->alpha * s->alpha)) / k2 : 0;
    }
}

static void reciprocal_part(const struct charges *c, const struct settings *s, struct mesh *m, struct sums *sums)
{
    double since = MPI_Wtime(), *seconds = sums->seconds;
    spread(c, s, m);
    lap(seconds, SPREAD, &since);
    need(pencilfft_halo_accumulate(m->halo, m->padded, m->values));
    lap(seconds, HALO, &since);
    need(pencilfft_forward(m->plan, m->values, m->spectrum));
    lap(seconds, FORWARD, &since);
    apply_influence(c, s, m);
    lap(seconds, INFLUENCE, &since);
    need(pencilfft_backward(m->plan, m->spectrum, m->values));
    lap(seconds, BACKWARD, &since);
    need(pencilfft_halo_exchange(m->halo, m->values, m->padded));
    lap(seconds, HALO, &since);
    gather(c, s, m, sums);
    lap(seconds, GATHER, &since);
}

/* ---- both ------------------------------------------------------------------------------------------------------------- */

static void clear(const struct charges *c, struct sums *sums)
{
    sums->energy = 0;
    memset(sums->force, 0, (size_t)c->n * sizeof(double[3]));
}

/* Collects the shares of all ranks on all ranks. */
static void collect(const struct charges *c, struct sums *sums)
{
    MPI_Allreduce(MPI_IN_PLACE, &sums->energy, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, sums->force, 3 * c->n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void particle_mesh_ewald(const struct charges *c, const struct settings *s, struct sums *sums, char where[64])
{
    int apart = s->reciprocal_ranks > 0, reciprocal = !apart || rank < s->reciprocal_ranks;
    int direct = !apart || !reciprocal, grid[2] = {0, 0};
    struct mesh m;
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, apart && !reciprocal, rank, &comm);
    memset(sums->seconds, 0, sizeof sums->seconds);
    if (reciprocal) {
        m = make_mesh(s, comm);
        grid[0] = m.R, grid[1] = m.C;
        reciprocal_part(c, s, &m, &(struct sums){.force = sums->force}); /* the first run is not timed */
    }
    for (int step = 0; step < s->steps; step++) {
        double since;
        clear(c, sums);
        MPI_Barrier(MPI_COMM_WORLD);
        since = MPI_Wtime();
        if (reciprocal)
            reciprocal_part(c, s, &m, sums);
        if (direct)
            direct_part(c, s, comm, sums);
        lap(sums->seconds, TOTAL, &since);
    }
    if (reciprocal)
        free_mesh(&m);
    MPI_Comm_free(&comm);
    collect(c, sums);
    for (int part = 0; part < PARTS; part++)
        sums->seconds[part] /= s->steps;
    MPI_Allreduce(MPI_IN_PLACE, sums->seconds, PARTS, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Bcast(grid, 2, MPI_INT, 0, MPI_COMM_WORLD);
    if (apart)
        snprintf(where, 64, "%d ranks for the mesh (%dx%d), %d direct", s->reciprocal_ranks, grid[0], grid[1],
                 ranks - s->reciprocal_ranks);
    else
        snprintf(where, 64, "%d ranks for both parts (mesh %dx%d)", ranks, grid[0], grid[1]);
}

/* ---- the same without mesh, cells and splines ------------------------------------------------------------------------- */

/* Ewald's two sums directly, over images and over waves, each until terms are below 1e-15 of the first. */
static void add_images(const struct charges *c, double alpha, double reach, int i, struct sums *sums)
{
    int images = (int)(reach / c->edge) + 1;
    for (int j = 0; j < c->n; j++)
        for (int x = -images; x <= images; x++)
            for (int y = -images; y <= images; y++)
                for (int z = -images; z <= images; z++) {
                    double d[3] = {x * c->edge, y * c->edge, z * c->edge}, r2 = 0;
                    for (int axis = 0; axis < 3; axis++) {
                        d[axis] += c->at[i][axis] - c->at[j][axis];
                        r2 += d[axis] * d[axis];
                    }
                    if (r2 > 0 && r2 < reach * reach)
                        add_pair(alpha, c->q[i] * c->q[j], d, r2, &sums->energy, sums->force[i]);
                }
}

static void add_wave(const struct charges *c, double alpha, const int m[3], double complex *phase, struct sums *sums)
{
    double k2 = (double)(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]) / (c->edge * c->edge);
    double factor = exp(-pi * pi * k2 / (alpha * alpha)) / (k2 * pi * c->edge * c->edge * c->edge);
    double complex sum = 0;
    for (int i = 0; i < c->n; i++) {
        double at = m[0] * c->at[i][0] + m[1] * c->at[i][1] + m[2] * c->at[i][2];
        phase[i] = c->q[i] * cexp(2 * pi * I * at / c->edge);
        sum += phase[i];
    }
    sums->energy += factor * creal(sum * conj(sum)) / 2;
    for (int i = 0; i < c->n; i++)
        for (int axis = 0; axis < 3; axis++)
            sums->force[i][axis] += factor * 2 * pi * m[axis] / c->edge * cimag(phase[i] * conj(sum));
}

static void direct_sum(const struct charges *c, struct sums *sums)
{
    double alpha = sqrt(pi) * pow(c->n, 1. / 6) / c->edge, reach = 6 / alpha;
    int most = (int)ceil(6 * alpha * c->edge / pi), side = 2 * most + 1;
    double complex *phase = room((size_t)c->n, sizeof *phase);
    clear(c, sums);
    for (int i = rank; i < c->n; i += ranks) {
        add_images(c, alpha, reach, i, sums);
        sums->energy -= alpha / sqrt(pi) * c->q[i] * c->q[i];
    }
    for (int i = rank; i < side * side * side; i += ranks) {
        const int m[3] = {i / side / side - most, i / side % side - most, i % side - most};
        int size = m[0] * m[0] + m[1] * m[1] + m[2] * m[2];
        if (size > 0 && size <= most * most)
            add_wave(c, alpha, m, phase, sums);
    }
    free(phase);
    collect(c, sums);
}

/* ---- output --------------------------------------------------------------------------------------------------------- */

/* Root of the mean square of the differences, relative to that of the forces. */
static double force_error(const struct charges *c, const struct sums *found, const struct sums *right)
{
    double difference = 0, size = 0;
    for (int i = 0; i < c->n; i++)
        for (int axis = 0; axis < 3; axis++) {
            difference += pow(found->force[i][axis] - right->force[i][axis], 2);
            size += pow(right->force[i][axis], 2);
        }
    return sqrt(difference / size);
}

static double energy_error(const struct sums *found, const struct sums *right)
{
    return fabs(found->energy / right->energy - 1);
}

static double reciprocal_seconds(const struct sums *s)
{
    double sum = 0;
    for (int part = SPREAD; part <= GATHER; part++)
        sum += s->seconds[part];
    return sum;
}

static void print_madelung(const struct charges *c, const char *name, double energy)
{
    double madelung = -2 * energy / c->n;
    printf("Madelung constant by %s %.12f, %.0e from 1.747564594633\n", name, madelung, fabs(madelung - 1.747564594633));
}

/* Energy and force of each charge, for comparison with other programs. */
static void print_charges(const struct charges *c, const struct sums *s)
{
    printf("edge %.17g energy %.17g\n", c->edge, s->energy);
    for (int i = 0; i < c->n; i++)
        printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", c->q[i], c->at[i][0], c->at[i][1], c->at[i][2], s->force[i][0],
               s->force[i][1], s->force[i][2]);
}

struct task {
    struct settings settings;
    int cells, n, seed, check, scan, print;
};

/* The next even number of points with a fast transform. */
static int fast_mesh(double least)
{
    int n = 2 * (int)ceil(least / 2), rest = n;
    for (int factor = 2; factor <= 5; factor++)
        while (rest % factor == 0)
            rest /= factor;
    return rest == 1 ? n : fast_mesh(n + 1);
}

/* For errors below 1e-6 from order 5 on, measured: the cutoff takes in so many charges, and erfc(alpha r) is small enough
 * beyond the cutoff. */
static void choose(const struct charges *c, struct settings *s)
{
    enum { NEIGHBOURS = 150 };
    const double reach = 4.6;
    double density = c->n / pow(c->edge, 3);
    if (s->cutoff <= 0)
        s->cutoff = s->alpha > 0 ? reach / s->alpha : cbrt(NEIGHBOURS * 3 / (4 * pi * density));
    s->cutoff = fmin(s->cutoff, c->edge / 2);
    if (s->alpha <= 0)
        s->alpha = reach / s->cutoff;
    if (s->mesh <= 0)
        s->mesh = fast_mesh(5 * s->alpha * c->edge * pow(8. / s->order, 2));
    if (s->mesh < s->order)
        quit("the mesh has fewer points than the order; give --mesh of at least as many");
}

static void run(const struct charges *c, const struct task *task)
{
    struct settings s = task->settings;
    struct sums found = {.force = room((size_t)c->n, sizeof(double[3]))}, right = found;
    char where[64];
    choose(c, &s);
    particle_mesh_ewald(c, &s, &found, where);
    if (task->check) {
        right.force = room((size_t)c->n, sizeof(double[3]));
        direct_sum(c, &right);
    }
    if (rank == 0 && task->print)
        print_charges(c, &found);
    else if (rank == 0) {
        printf("pme_c: %d charges, mesh %dx%dx%d, order %d, alpha %.4g, cutoff %.4g; %s\n", c->n, s.mesh, s.mesh, s.mesh,
               s.order, s.alpha, s.cutoff, where);
        printf("energy %.10f\n", found.energy);
        if (task->cells)
            print_madelung(c, "PME", found.energy);
        if (task->cells && task->check)
            print_madelung(c, "the direct sum", right.energy);
        if (task->check)
            printf("against the direct sum: energy %.0e", energy_error(&found, &right));
        if (task->check && !task->cells) /* then no force is 0 */
            printf(", forces %.0e", force_error(c, &found, &right));
        printf("%s", task->check ? "\n" : "");
        for (int part = 0; part < PARTS; part++)
            printf("%-10s %9.3f ms\n", part_names[part], 1e3 * found.seconds[part]);
    }
    if (task->check)
        free(right.force);
    free(found.force);
}

/* Keep the accuracy with a little more of a part and a little less of the other. */
static void scan(const struct charges *c, const struct task *task)
{
    struct sums found = {.force = room((size_t)c->n, sizeof(double[3]))}, right = found;
    right.force = room((size_t)c->n, sizeof(double[3]));
    direct_sum(c, &right);
    if (rank == 0)
        printf("  alpha  cutoff  mesh    energy    forces  direct ms  reciprocal ms\n");
    for (double cutoff = c->edge / 2; cutoff > c->edge / 6; cutoff *= 0.8) {
        struct settings s = task->settings;
        char where[64];
        s.cutoff = cutoff, s.alpha = 0, s.mesh = 0;
        choose(c, &s);
        particle_mesh_ewald(c, &s, &found, where);
        if (rank == 0)
            printf("%7.3f %7.3f %5d  %8.0e  %8.0e  %9.2f  %13.2f\n", s.alpha, s.cutoff, s.mesh, energy_error(&found, &right),
                   force_error(c, &found, &right), 1e3 * found.seconds[DIRECT], 1e3 * reciprocal_seconds(&found));
    }
    free(right.force);
    free(found.force);
}

static int whole(const char *text, int least, int most)
{
    char *end;
    long value = text ? strtol(text, &end, 10) : 0, fits = text && *text && !*end && value >= least && value <= most;
    if (!fits && rank == 0)
        fprintf(stderr, "pme: '%s' is not a number from %d to %d\n", text ? text : "", least, most);
    if (!fits)
        quit("give it after the option that needs it");
    return (int)value;
}

static double positive(const char *text)
{
    char *end;
    double value = text ? strtod(text, &end) : 0;
    if (!text || *end || !(value > 0) || isinf(value))
        quit("--alpha and --cutoff are numbers above 0");
    return value;
}

static const char usage[] =
    "use: pme_c (--nacl CELLS | --random N [--seed S]) [--mesh M] [--order 3..10] [--alpha A] [--cutoff RC]\n"
    "           [--reciprocal-ranks R] [--decomposition pencil|slab|brick] [--schedule NAME] [--steps K]\n"
    "           [--check | --scan | --print]";

static struct task read_task(int argc, char **argv)
{
    struct task t = {.settings = {.order = 8, .steps = 3, .decomposition = "pencil", .schedule = "sequence"}};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *next = argv[i + 1]; /* argv ends with NULL */
        if (!strcmp(word, "--check") || !strcmp(word, "--scan") || !strcmp(word, "--print")) {
            *(word[2] == 'c' ? &t.check : word[2] == 's' ? &t.scan : &t.print) = 1;
            continue;
        }
        i++;
        if (!strcmp(word, "--nacl"))
            t.cells = whole(next, 1, 64);
        else if (!strcmp(word, "--random"))
            t.n = whole(next, 2, 100000);
        else if (!strcmp(word, "--seed"))
            t.seed = whole(next, 0, 1000000);
        else if (!strcmp(word, "--mesh"))
            t.settings.mesh = whole(next, 2, 4096);
        else if (!strcmp(word, "--order"))
            t.settings.order = whole(next, 3, MOST_ORDER);
        else if (!strcmp(word, "--steps"))
            t.settings.steps = whole(next, 1, 100000);
        else if (!strcmp(word, "--reciprocal-ranks"))
            t.settings.reciprocal_ranks = whole(next, 0, ranks - 1);
        else if (!strcmp(word, "--alpha"))
            t.settings.alpha = positive(next);
        else if (!strcmp(word, "--cutoff"))
            t.settings.cutoff = positive(next);
        else if (!strcmp(word, "--decomposition") && next)
            t.settings.decomposition = next;
        else if (!strcmp(word, "--schedule") && next)
            t.settings.schedule = next;
        else
            quit(usage);
    }
    if ((t.cells > 0) == (t.n > 0))
        quit(usage);
    return t;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct task task = read_task(argc, argv);
    struct charges c = task.cells ? rock_salt(task.cells) : random_charges(task.n, task.seed);
    if (task.settings.cutoff > c.edge / 2)
        quit("the cutoff is longer than half the edge of the cube; give a shorter one");
    if (task.scan)
        scan(&c, &task);
    else
        run(&c, &task);
    free(c.at);
    free(c.q);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
