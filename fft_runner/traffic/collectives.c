#include "count.h"

#include <stdlib.h>

void count_to(const struct members *m, int member, uint64_t bytes)
{
    if (bytes)
        count(m, STATED, member, bytes, 1);
}

void count_alltoall(const struct members *m, uint64_t bytes)
{
    for (int i = 0; i < m->size; i++)
        count_to(m, i, bytes);
}

void count_scatter(const struct members *m, int root, uint64_t bytes)
{
    for (int i = 0; i < m->size && is_root(m, root); i++)
        count_to(m, i, bytes);
}

static void model(const struct members *m, int member, uint64_t bytes, uint64_t messages)
{
    if (bytes)
        count(m, MODELLED, member, bytes, messages);
}

static void opposite(const struct members *m, uint64_t bytes)
{
    if (m->size)
        model(m, m->me % m->size, bytes, 1);
}

void count_barrier(const struct members *m)
{
    if (m->inter && m->size)
        count(m, MODELLED, m->me % m->size, 0, 1);
    for (int step = 1; step < m->size && !m->inter; step *= 2)
        count(m, MODELLED, (m->me + step) % m->size, 0, 1);
}

/* Binomial tree: the parent of v, counted from the root, is v without its lowest bit. */
void count_bcast(const struct members *m, int root, uint64_t bytes)
{
    if (m->inter) {
        for (int i = 0; i < m->size && root == MPI_ROOT; i++)
            model(m, i, bytes, 1);
        return;
    }
    int v = (m->me - root + m->size) % m->size;
    for (int bit = 1; bit < m->size && !(v & bit); bit *= 2)
        if (v + bit < m->size)
            model(m, (v + bit + root) % m->size, bytes, 1);
}

void count_reduce(const struct members *m, int root, uint64_t bytes)
{
    if (m->inter) {
        model(m, root, bytes, 1); /* MPI_ROOT and MPI_PROC_NULL are no members */
        return;
    }
    int v = (m->me - root + m->size) % m->size;
    if (v)
        model(m, ((v & (v - 1)) + root) % m->size, bytes, 1);
}

/* The ranks beyond the largest power of two, `rest` in number, fold into their neighbours first, and get the result last. */
static void recursive_doubling(const struct members *m, uint64_t bytes)
{
    int power = 1;
    while (2 * power <= m->size)
        power *= 2;
    int rest = m->size - power, folded = m->me < 2 * rest;
    if (folded && m->me % 2 == 0) {
        model(m, m->me + 1, bytes, 1);
        return;
    }
    int v = folded ? m->me / 2 : m->me - rest;
    for (int bit = 1; bit < power; bit *= 2)
        model(m, (v ^ bit) < rest ? (v ^ bit) * 2 + 1 : (v ^ bit) + rest, bytes, 1);
    if (folded)
        model(m, m->me - 1, bytes, 1);
}

void count_allreduce(const struct members *m, uint64_t bytes)
{
    uint64_t others = (uint64_t)m->size - 1;
    if (m->inter)
        opposite(m, bytes);
    else if (bytes <= SMALL)
        recursive_doubling(m, bytes);
    else if (m->size > 1)
        model(m, (m->me + 1) % m->size, 2 * (bytes * others / (uint64_t)m->size), 2 * others);
}

void count_scan(const struct members *m, uint64_t bytes)
{
    model(m, m->me + 1, bytes, 1);
}

void count_ring(const struct members *m, uint64_t bytes, uint64_t direct)
{
    if (m->inter)
        opposite(m, direct);
    else if (m->size > 1)
        model(m, (m->me + 1) % m->size, bytes, (uint64_t)m->size - 1);
}

void count_allgather(const struct members *m, uint64_t bytes, uint64_t direct)
{
    if (!m->inter)
        count_ring(m, bytes, 0);
    for (int i = 0; i < m->size && m->inter; i++)
        model(m, i, direct, 1);
}

/* ---- neighbours of a topology ---------------------------------------------------------------------------------------- */

static int *of_graph(MPI_Comm comm, int *count)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, count);
    int *found = calloc((size_t)*count + 1, sizeof *found);
    if (found)
        PMPI_Graph_neighbors(comm, rank, *count, found);
    return found;
}

static int *of_distributed_graph(MPI_Comm comm, int *count)
{
    int sources, weighted;
    PMPI_Dist_graph_neighbors_count(comm, &sources, count, &weighted);
    size_t in = (size_t)sources + 1, out = (size_t)*count + 1;
    int *all = calloc(2 * in + 2 * out, sizeof *all); /* destinations, their weights, sources, their weights */
    if (all)
        PMPI_Dist_graph_neighbors(comm, sources, all + 2 * out, all + 2 * out + in, *count, all, all + out);
    return all;
}

static int *of_grid(MPI_Comm comm, int *count)
{
    int dimensions;
    PMPI_Cartdim_get(comm, &dimensions);
    int *found = calloc(2 * (size_t)dimensions + 1, sizeof *found);
    *count = 2 * dimensions;
    for (int i = 0; i < dimensions && found; i++)
        PMPI_Cart_shift(comm, i, 1, &found[(size_t)i * 2], &found[(size_t)i * 2 + 1]);
    return found;
}

int *neighbours(MPI_Comm comm, int *count)
{
    int kind = MPI_UNDEFINED, *found = NULL;
    *count = 0;
    PMPI_Topo_test(comm, &kind);
    if (kind == MPI_GRAPH)
        found = of_graph(comm, count);
    else if (kind == MPI_DIST_GRAPH)
        found = of_distributed_graph(comm, count);
    else if (kind == MPI_CART)
        found = of_grid(comm, count);
    traffic.failed |= *count && !found;
    if (!found)
        *count = 0;
    return found;
}
