/* The nodes of each group's members in a torus, from the members `torus` and `node` of the descriptors.
 * Cost:  a gather of one number a rank, and a look at the coordinates of all for each dimension. */
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

/* Whole numbers with blanks between them, as many as the torus has dimensions. */
static bool parse_node(const char *text, int dims, struct coordinate *node)
{
    *node = (struct coordinate){.dims = dims};
    for (int i = 0; i < dims; i++) {
        char *end;
        long value = strtol(text, &end, 10);
        if (end == text || value < 0 || value > INT32_MAX)
            return false;
        node->at[i] = (int)value;
        text = end;
    }
    return text[strspn(text, " ")] == '\0';
}

static int take_node(const pencilfft_desc *desc, const struct torus *torus, struct coordinate *node)
{
    if (!desc->node)
        return pf_fail(PENCILFFT_BAD_CALL,
                       "torus is '%.100s' and node is not given; each rank gives its own, such as '1 2 3'", desc->torus);
    if (!parse_node(desc->node, torus->dims, node))
        return pf_fail(PENCILFFT_BAD_CALL,
                       "node '%.100s' is not understood; for torus %.100s write %d numbers with blanks between them",
                       desc->node, desc->torus, torus->dims);
    int outside = torus_outside(torus, node);
    return outside < 0 ? PENCILFFT_OK
                       : pf_fail(PENCILFFT_BAD_CALL, "node '%.100s' is outside torus %.100s; its number %d must be 0..%d",
                                 desc->node, desc->torus, outside + 1, torus->extent[outside] - 1);
}

/* The node of every rank. */
static int gather_nodes(pencilfft_plan plan, int64_t mine, int64_t *node)
{
    PF_MPI(MPI_Allgather(&mine, 1, MPI_INT64_T, node, 1, MPI_INT64_T, plan->all));
    return PENCILFFT_OK;
}

static int find(pencilfft_plan plan, const struct torus *torus, const int64_t *node, int *group)
{
    int status = PENCILFFT_OK;
    for (int e = 0; e < plan->layout.exchanges && !status; e++) {
        int over = plan->layout.geometry.decomposition->exchange[e].over;
        for (int r = 0; r < plan->ranks; r++)
            group[r] = pf_grid_member(&plan->layout.geometry, over, r, 0);
        status = pf_places_find(torus, plan->ranks, node, group, group[plan->rank], &plan->layout.places[e]);
    }
    return status;
}

int pf_places_nodes(pencilfft_plan plan, const pencilfft_desc *desc, struct torus *torus, int64_t **node)
{
    struct coordinate mine;
    int status = torus_parse(desc->torus, torus) ? PENCILFFT_BAD_CALL : take_node(desc, torus, &mine);
    *node = calloc((size_t)plan->ranks, sizeof **node);
    if (!status && !*node)
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the places of %d ranks", plan->ranks);
    status = pf_agree(status, plan->all);
    return status ? status : gather_nodes(plan, torus_node(torus, &mine), *node);
}

int pf_places_make(pencilfft_plan plan, const pencilfft_desc *desc)
{
    struct torus torus;
    int64_t *node;
    if (!desc->torus)
        return PENCILFFT_OK;
    int status = pf_places_nodes(plan, desc, &torus, &node);
    int *group = calloc((size_t)plan->ranks, sizeof *group);
    if (!status && !group)
        status = pf_fail(PENCILFFT_NO_MEMORY, "no memory for the places of %d ranks", plan->ranks);
    if (!status)
        status = find(plan, &torus, node, group);
    free(node);
    free(group);
    return status;
}
