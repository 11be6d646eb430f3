/* Choose the process grid if the descriptor leaves R or C, or both, at 0.
 * Idea:  if only R or only C is 0, the other number gives the missing number. If both are 0, consider every division of the
 *        ranks that leaves no rank without data, or every division if there is none. In a known torus each rank follows its
 *        own messages over the links, in the order of the dimensions, with a tie half each way. The loads of all ranks are
 *        added, and the grid whose rows and columns have the least time on their busiest links is taken. Without a torus, or
 *        if no link is used: if all ranks share a node, take the grid with the least work, which has one exchange unless its
 *        messages are short; else the squarest grid whose rows stay inside nodes, because the messages of a row then stay
 *        inside the node; with one rank a node, the squarest of all. If the ends of the transform are remapped, the loads of
 *        the remaps count too, and bytes decide in place of squareness: the most bytes that a rank sends in all exchanges
 *        and remaps. Padding does not count without remaps, so that plans of one spectrum have one grid.
 * Source: H. Jagode, J. Hein, A. Trew, UT-CS-08-613 (2008), for the time of the busiest links.
 * Cost:  for each division of P, P messages a rank at most and a sum of four numbers a node and dimension over all ranks. */
#include <stdlib.h>
#include <string.h>

#include "choose/choose.h"
#include "ends/ends.h"
#include "layout/layout.h"

enum { ROW, COLUMN, REMAPS, STAGES = REMAPS + PF_ENDS, WAYS = 2 };
enum { MOST_DIVISORS = 1536 }; /* of a number below 2^31 */

/* ---- loads of the links ---------------------------------------------------------------------------------------------- */

struct links {
    const struct torus *torus;
    int64_t n;    /* of a stage */
    double *load; /* of all stages, in elements: by stage, node, dimension, way */
};

/* Along a single dimension, by `hops` hops one way (0: up). */
static void add_hops(const struct links *links, int stage, struct coordinate at, int dim, int hops, int way, double weight)
{
    int extent = links->torus->extent[dim];
    for (int hop = 0; hop < hops; hop++) {
        int64_t node = torus_node(links->torus, &at);
        links->load[stage * links->n + (node * links->torus->dims + dim) * WAYS + way] += weight;
        at.at[dim] = (at.at[dim] + (way ? extent - 1 : 1)) % extent;
    }
}

static void add_message(const struct links *links, int stage, struct coordinate from, const struct coordinate *to,
                        double weight)
{
    for (int dim = 0; dim < links->torus->dims; dim++) {
        int extent = links->torus->extent[dim];
        int up = (to->at[dim] - from.at[dim] + extent) % extent, down = (extent - up) % extent;
        if (!links->torus->wrapped[dim] || extent <= 2) { /* a single cable between two nodes */
            bool way = to->at[dim] < from.at[dim];
            add_hops(links, stage, from, dim, way ? down : up, way, weight);
        } else if (up != down) {
            add_hops(links, stage, from, dim, up < down ? up : down, up > down, weight);
        } else {
            add_hops(links, stage, from, dim, up, 0, weight / 2);
            add_hops(links, stage, from, dim, down, 1, weight / 2);
        }
        from.at[dim] = to->at[dim];
    }
}

/* Elements that this rank sends in an exchange of a forward transform; rank q * R + p has position p in row q. */
static void add_mine(pencilfft_plan plan, const struct links *links, int stage, int R, int C, const int64_t *node)
{
    const struct coordinate mine = torus_coordinate(links->torus, node[plan->rank]);
    pencilfft_box before = pf_array_box(&plan->layout.geometry, stage, plan->rank);
    for (int j = 0; j < (stage == ROW ? R : C); j++) {
        int other = stage == ROW ? plan->rank - plan->rank % R + j : j * R + plan->rank % R;
        pencilfft_box after = pf_array_box(&plan->layout.geometry, pf_exchanged_array(stage, 1), other);
        pencilfft_box common = pf_box_common(&before, &after);
        struct coordinate to = torus_coordinate(links->torus, node[other]);
        add_message(links, stage, mine, &to, (double)pf_box_elements(&common));
    }
}

/* Elements that this rank sends in a remap of a forward transform. */
static void add_remap(pencilfft_plan plan, const struct links *links, int end, const int64_t *node)
{
    const struct coordinate mine = torus_coordinate(links->torus, node[plan->rank]);
    pencilfft_box outside = pf_end_box(plan, end, plan->rank), inside = pf_end_inside(plan, end, plan->rank);
    for (int j = 0; j < plan->ranks; j++) {
        pencilfft_box theirs = end ? pf_end_box(plan, end, j) : pf_end_inside(plan, end, j);
        pencilfft_box common = pf_box_common(end ? &inside : &outside, &theirs);
        struct coordinate to = torus_coordinate(links->torus, node[j]);
        if (j != plan->rank && pf_box_elements(&common))
            add_message(links, REMAPS + end, mine, &to, (double)pf_box_elements(&common));
    }
}

/* Elements on the busiest links of both stages, and of the remaps. */
static int busiest(pencilfft_plan plan, const struct links *links, int R, int C, const int64_t *node, double *elements)
{
    double most[STAGES] = {0};
    int status = plan->layout.geometry.decomposition->take_grid(R, C, plan->layout.geometry.grid);
    memset(links->load, 0, STAGES * (size_t)links->n * sizeof *links->load);
    for (int stage = ROW; stage <= COLUMN; stage++)
        add_mine(plan, links, stage, R, C, node);
    for (int stage = 0; stage < STAGES; stage++) {
        if (stage >= REMAPS && !plan->layout.end[stage - REMAPS].remapped)
            continue;
        if (stage >= REMAPS)
            add_remap(plan, links, stage - REMAPS, node);
        double *load = links->load + stage * links->n;
        PF_MPI(MPI_Allreduce(MPI_IN_PLACE, load, (int)links->n, MPI_DOUBLE, MPI_SUM, plan->all));
        for (int64_t i = 0; i < links->n; i++)
            most[stage] = load[i] > most[stage] ? load[i] : most[stage];
    }
    double input = (double)plan->layout.input_bytes / (double)plan->layout.element_bytes;
    *elements = most[ROW] + most[COLUMN] + most[REMAPS] * input + most[REMAPS + 1];
    return status;
}

/* ---- the choice ------------------------------------------------------------------------------------------------------ */

/* Whether this grid leaves no rank without data. */
static bool fills(pencilfft_plan plan, int R)
{
    struct pf_geometry *g = &plan->layout.geometry;
    return !g->decomposition->take_grid(R, plan->ranks / R, g->grid) && pf_geometry_fills(g);
}

/* Candidate divisions of the ranks, as numbers of tasks in a row; returns their number. */
static int list_candidates(pencilfft_plan plan, int candidate[MOST_DIVISORS])
{
    int n = 0;
    for (int all = 0; all < 2 && !n; all++)
        for (int r = 1; r <= plan->ranks; r++)
            if (plan->ranks % r == 0 && (all || fills(plan, r)))
                candidate[n++] = r;
    return n;
}

/* The least number of ranks of a node: rows of this length stay inside nodes if ranks fill node after node. */
static int ranks_of_a_node(pencilfft_plan plan, int *ranks)
{
    MPI_Comm node = MPI_COMM_NULL;
    PF_MPI(MPI_Comm_split_type(plan->all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    PF_MPI(MPI_Comm_size(node, ranks));
    PF_MPI(MPI_Comm_free(&node));
    PF_MPI(MPI_Allreduce(MPI_IN_PLACE, ranks, 1, MPI_INT, MPI_MIN, plan->all));
    return PENCILFFT_OK;
}

static int squareness(int R, int C)
{
    return R > C ? R / C : C / R;
}

static int choose_square(pencilfft_plan plan, int inside, int *R)
{
    int best[2] = {0}; /* any; with rows inside nodes */
    int candidate[MOST_DIVISORS], n = list_candidates(plan, candidate);
    for (int i = 0; i < n; i++) {
        int r = candidate[i], c = plan->ranks / r;
        if (!best[0] || squareness(r, c) < squareness(best[0], plan->ranks / best[0]))
            best[0] = r;
        if (inside > 1 && inside % r == 0 && (!best[1] || squareness(r, c) < squareness(best[1], plan->ranks / best[1])))
            best[1] = r;
    }
    *R = best[1] > 1 ? best[1] : best[0];
    return PENCILFFT_OK;
}

static bool is_remapped(const struct pencilfft_plan_s *plan)
{
    return plan->layout.end[0].remapped || plan->layout.end[1].remapped;
}

/* Bytes of a field that this rank sends in all exchanges and remaps of a forward transform. */
static int64_t bytes_sent(pencilfft_plan plan, int R)
{
    struct pf_geometry *g = &plan->layout.geometry;
    int64_t sent = g->decomposition->take_grid(R, plan->ranks / R, g->grid) ? 0 : pf_ends_sent(plan, plan->rank);
    for (int e = 0; e < plan->layout.exchanges; e++) {
        pencilfft_box before = pf_array_box(g, e, plan->rank), after = pf_array_box(g, pf_exchanged_array(e, 1), plan->rank);
        pencilfft_box kept = pf_box_common(&before, &after);
        sent += (pf_box_elements(&before) - pf_box_elements(&kept)) * (int64_t)plan->layout.sent_bytes;
    }
    return sent;
}

/* Inside a node: bytes sent, the array that each exchange makes a pass read and write again, and the messages, each as long
 * as this many bytes take. One exchange of all ranks so wins over two, until its messages are short. */
enum { BYTES_OF_A_MESSAGE = 4096 };

static int64_t work_inside(pencilfft_plan plan, int R)
{
    const struct pf_geometry *g = &plan->layout.geometry;
    int64_t work = bytes_sent(plan, R);
    for (int e = 0; e < plan->layout.exchanges; e++) {
        pencilfft_box after = pf_array_box(g, e + 1, plan->rank);
        int p = g->grid[g->decomposition->exchange[e].over];
        if (p > 1)
            work += pf_box_elements(&after) * (int64_t)plan->layout.element_bytes + (int64_t)(p - 1) * BYTES_OF_A_MESSAGE;
    }
    return work;
}

/* For each candidate, the most of all ranks. */
static int list_most(pencilfft_plan plan, int64_t (*of)(pencilfft_plan plan, int R), const int *candidate, int n,
                     int64_t *most)
{
    for (int i = 0; i < n; i++)
        most[i] = of(plan, candidate[i]);
    PF_MPI(MPI_Allreduce(MPI_IN_PLACE, most, n, MPI_INT64_T, MPI_MAX, plan->all));
    return PENCILFFT_OK;
}

/* The candidate of which the rank with the most has least; among equals the squarest, then the shortest rows. */
static int choose_least(pencilfft_plan plan, int64_t (*of)(pencilfft_plan plan, int R), int *R)
{
    int candidate[MOST_DIVISORS], n = list_candidates(plan, candidate), best = 0;
    int64_t bytes[MOST_DIVISORS];
    int status = list_most(plan, of, candidate, n, bytes);
    for (int i = 1; i < n && !status; i++)
        if (bytes[i] < bytes[best] ||
            (bytes[i] == bytes[best] && squareness(candidate[i], plan->ranks / candidate[i]) <
                                            squareness(candidate[best], plan->ranks / candidate[best])))
            best = i;
    *R = candidate[best];
    return status;
}

static int choose_without_links(pencilfft_plan plan, int *R)
{
    int inside, status = ranks_of_a_node(plan, &inside);
    if (status)
        return status;
    return is_remapped(plan)       ? choose_least(plan, bytes_sent, R)
           : inside == plan->ranks ? choose_least(plan, work_inside, R)
                                   : choose_square(plan, inside, R);
}

/* Among grids within one per cent of the least load, take the grid with the fewest messages or, with remaps, bytes. */
static int choose_by_loads(pencilfft_plan plan, const struct links *links, const int64_t *node, int *R)
{
    static const double tie = 1.01;
    int candidate[MOST_DIVISORS], n = list_candidates(plan, candidate), status = PENCILFFT_OK;
    double elements[MOST_DIVISORS] = {0}, least = 0;
    int64_t second[MOST_DIVISORS]; /* decides if the loads are alike */
    if (is_remapped(plan))
        status = list_most(plan, bytes_sent, candidate, n, second);
    for (int i = 0; i < n && !is_remapped(plan); i++)
        second[i] = candidate[i] + plan->ranks / candidate[i];
    int best = -1;
    for (int i = 0; i < n && !status; i++) {
        status = busiest(plan, links, candidate[i], plan->ranks / candidate[i], node, &elements[i]);
        least = i && least < elements[i] ? least : elements[i];
    }
    for (int i = 0; i < n && !status; i++)
        if (elements[i] <= tie * least && (best < 0 || second[i] < second[best]))
            best = i;
    *R = best < 0 ? 1 : candidate[best];
    if (!status && least == 0) /* all in one node */
        status = choose_without_links(plan, R);
    return status;
}

static int choose_in_torus(pencilfft_plan plan, const pencilfft_desc *desc, int *R)
{
    struct torus torus;
    int64_t *node = NULL;
    struct links links = {.torus = &torus};
    int status = pf_places_nodes(plan, desc, &torus, &node);
    if (!status) {
        links.n = torus_nodes(&torus) * torus.dims * WAYS;
        links.load = links.n <= INT32_MAX ? calloc(STAGES * (size_t)links.n, sizeof *links.load) : NULL;
        status = links.load ? PENCILFFT_OK
                            : pf_fail(PENCILFFT_NO_MEMORY, "no memory for the loads of %lld links", (long long)links.n);
        status = pf_agree(status, plan->all);
    }
    if (!status)
        status = choose_by_loads(plan, &links, node, R);
    free(links.load);
    free(node);
    return status;
}

/* Choose both R and C. */
static int choose(pencilfft_plan plan, const pencilfft_desc *desc, int *R)
{
    return desc->torus ? choose_in_torus(plan, desc, R) : choose_without_links(plan, R);
}

static int take_other(const pencilfft_plan plan, int given, char name)
{
    if (given > 0 && plan->ranks % given == 0)
        return plan->ranks / given;
    pf_fail(PENCILFFT_BAD_GRID,
            "%c is %d and the other number of the grid 0, to be derived: then %c must divide the %d ranks", name, given,
            name, plan->ranks);
    return 0;
}

void pf_transform_bytes(pencilfft_plan plan, const struct pf_transform *transform)
{
    plan->layout.transform = *transform;
    plan->layout.input_bytes = plan->request.precision->fftw->real_bytes * (transform->real_input ? 1 : 2);
    plan->layout.element_bytes = plan->request.precision->fftw->real_bytes * (transform->real_output ? 1 : 2);
    plan->layout.sent_bytes = plan->request.exchange_precision->fftw->real_bytes * (transform->real_output ? 1 : 2);
}

/* Arrays of two dimensions are divided along one axis at a time: x, of one point, is whole, so the columns have one rank. */
static int take_flat(const struct pencilfft_plan_s *plan, int *R, int *C)
{
    if ((*R && *R != plan->ranks) || (*C && *C != 1))
        return pf_fail(
            PENCILFFT_BAD_GRID,
            "grid %dx%d: order %s has two dimensions, of which one is divided at a time; give R = %d and C = 1, or 0", *R,
            *C, plan->layout.geometry.axes->name, plan->ranks);
    *R = plan->ranks;
    *C = 1;
    return PENCILFFT_OK;
}

int pf_grid_take(pencilfft_plan plan, const pencilfft_desc *desc)
{
    struct pf_geometry *g = &plan->layout.geometry;
    struct pf_transform transform;
    int R = desc->R, C = desc->C;
    bool line = g->decomposition->dimensions == 1;
    bool flat = g->axes->dimensions == 2;
    pf_numbers_inside(g->axes, (int64_t[]){desc->nx, desc->ny, flat ? 1 : desc->nz}, g->n);
    if (flat && take_flat(plan, &R, &C))
        return PENCILFFT_BAD_GRID;
    if (line && !R)
        R = 1;
    if (R || C) {
        if (!C && !(C = take_other(plan, R, 'R')))
            return PENCILFFT_BAD_GRID;
        if (!R && !(R = take_other(plan, C, 'C')))
            return PENCILFFT_BAD_GRID;
    } else {
        pencilfft_desc spectrum = *desc; /* plans of one spectrum, padded or not, get one grid */
        if (!is_remapped(plan))
            spectrum.padded_nx = spectrum.padded_ny = spectrum.padded_nz = 0;
        int status = pf_transform_make(&spectrum, &transform);
        if (status)
            return status;
        memcpy(g->n, transform.modes, sizeof g->n);
        memcpy(g->points, transform.points, sizeof g->points);
        pf_transform_bytes(plan, &transform);
        if ((status = choose(plan, desc, &R)))
            return status;
        C = plan->ranks / R;
        memcpy(g->n, transform.n, sizeof g->n); /* to be checked: create.c */
        plan->request.open_grid = !plan->request.exchange->plan && plan->ranks > 1 && !is_remapped(plan);
    }
    return g->decomposition->take_grid(R, C, g->grid);
}

/* ---- use ------------------------------------------------------------------------------------------------------------- */

static int split_groups(pencilfft_plan plan)
{
    for (int e = 0; e < plan->layout.exchanges; e++) {
        const struct pf_geometry *g = &plan->layout.geometry;
        int over = g->decomposition->exchange[e].over;
        const struct pf_group_key key = {.size = g->grid[over], .step = pf_grid_step(g, over)};
        int status = pf_group_join(plan->communicators, &key, &plan->layout.group[e]);
        if (status)
            return status;
        PF_MPI(MPI_Comm_size(plan->layout.group[e], &plan->layout.p[e]));
        PF_MPI(MPI_Comm_rank(plan->layout.group[e], &plan->layout.me[e]));
    }
    return PENCILFFT_OK;
}

/* Use "sequence" until auto.c chooses a schedule. */
static int set_schedule(pencilfft_plan plan, const pencilfft_desc *desc)
{
    struct pf_choice choice;
    plan->request.any_schedule = desc->schedule ? !strcmp(desc->schedule, "auto") : !plan->request.exchange->plan;
    const char *text = plan->request.any_schedule || !desc->schedule ? pf_schedule_sequence.name : desc->schedule;
    const struct pf_axes *axes = plan->layout.geometry.axes;
    const char letter[2] = {pf_axis_letter(axes, 0), pf_axis_letter(axes, 2)};
    int status = pf_choice_read(text, letter, &choice);
    return status ? status : pf_schedule_take(plan, &choice);
}

int pf_grid_use(pencilfft_plan plan, const pencilfft_desc *desc)
{
    plan->layout.input = pf_input_box(plan, plan->rank);
    int status = pf_agree(split_groups(plan), plan->all);
    if (!status)
        status = pf_agree(pf_places_make(plan, desc), plan->all);
    return status ? status : pf_agree(set_schedule(plan, desc), plan->all);
}

int pf_grid_leave(pencilfft_plan plan)
{
    int status = PENCILFFT_OK;
    for (int e = 0; e < plan->layout.exchanges; e++)
        pf_places_release(&plan->layout.places[e]);
    for (int e = 0; e < plan->layout.exchanges && !status; e++)
        status = pf_group_leave(plan->communicators, &plan->layout.group[e]);
    return status;
}

int pf_grid_again(pencilfft_plan plan, const pencilfft_desc *desc)
{
    int64_t modes[3];
    memcpy(modes, plan->layout.geometry.n, sizeof modes);
    int status = pf_grid_leave(plan);
    if (!status)
        status = pf_grid_take(plan, desc);
    memcpy(plan->layout.geometry.n, modes, sizeof modes);
    return status ? status : pf_grid_use(plan, desc);
}

/* Beyond `most`, the squarest, and the two of one exchange. */
int pf_grid_candidates(pencilfft_plan plan, int most, int *R)
{
    int at_hand = plan->layout.geometry.grid[0], all[MOST_DIVISORS], n = list_candidates(plan, all), count = 0;
    R[count++] = at_hand;
    for (int i = 0; i < n; i++) {
        bool end = i == 0 || i == n - 1, middle = 2 * i >= n - most + 3 && 2 * i <= n + most - 3;
        if (all[i] != at_hand && (end || middle) && count < most)
            R[count++] = all[i];
    }
    plan->layout.geometry.decomposition->take_grid(at_hand, plan->ranks / at_hand, plan->layout.geometry.grid);
    return count;
}

int pencilfft_bricks(pencilfft_plan plan, int bricks[3])
{
    if (!plan || !bricks)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_bricks: null plan or result");
    memcpy(bricks, plan->request.bricks, sizeof plan->request.bricks);
    return PENCILFFT_OK;
}

int pencilfft_grid(pencilfft_plan plan, int *R, int *C)
{
    if (!plan || !R || !C)
        return pf_fail(PENCILFFT_BAD_CALL, "pencilfft_grid: null plan or result");
    const struct pf_geometry *g = &plan->layout.geometry;
    *R = g->decomposition->dimensions == 1 ? 1 : g->grid[0];
    *C = g->decomposition->dimensions == 1 ? g->grid[0] : g->grid[1];
    return PENCILFFT_OK;
}
