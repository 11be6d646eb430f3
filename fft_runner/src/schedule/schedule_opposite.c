/* Half of the fields take the other route.
 * Idea:  as two-way, but of several fields: the first fields, and the middle field of an odd number, go row exchange, y,
 *        column exchange, x, the others column exchange, x, row exchange, y. With one field nothing goes the other route,
 *        but a forward transform of one array beside a backward transform of another (pencilfft_execute_pair) does the same.
 * Cost:  F t_joint of an even number F of fields; 2 t_joint a pair. Needs: two exchanges. */
#include "schedule/schedule.h"

static void divide(const struct pf_shape *shape, const struct pf_choice *choice, struct pf_share share[PF_MAX_ROUTES])
{
    int first = shape->fields - shape->fields / 2;
    (void)choice;
    share[0] = (struct pf_share){0, shape->nz, 0, first};
    share[1] = (struct pf_share){0, shape->nz, first, shape->fields};
}

const struct pf_schedule pf_schedule_opposite = {
    .name = "opposite",
    .takes = "",
    .beside = true,
    .runs_pairs = true,
    .settle = pf_two_routes_settle,
    .order = pf_order_stages,
    .divide = divide,
};
