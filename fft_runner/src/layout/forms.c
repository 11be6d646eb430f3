/* The passes of a transform.
 * Idea:  an axis is transformed in one pass, and the exchanges of the decomposition lie between passes. An exchange over
 *        groups of a single rank moves nothing, and is omitted. z is transformed together with the next axis that is whole
 *        in the same array, plane by plane. A backward transform is the forward transform in reverse. So for pencils there
 *        is
 *            RxC   z | row | y | column | x        1xC   z y | column | x        Rx1   z x | row | y        1x1   z y | x
 *        and for slabs the same as for pencils on 1xC. Beside an exchange, a pass reads or writes the messages.
 *        Rows lie along z in the messages. If the last array has the same fastest axis as the axis that the pass before
 *        transforms beside z (stride1 on Rx1), and holds that axis whole, rows lie along that axis: then it is fastest on
 *        both sides of the last pass, like z in the natural layout, and the pass before writes whole lines. */
#include "layout/inside.h"

enum { X, Y, Z };

static void add(struct pf_route *route, int array, bool z, int u, unsigned *done)
{
    route->form[route->passes++] =
        (struct pf_pass_form){.array = array, .z = z, .u = u, .exchange = PF_NO_EXCHANGE, .done = *done};
    *done |= (z ? 1U << Z : 0) | (u != PF_NO_AXIS ? 1U << u : 0);
}

/* Array `first` to array `last` have no exchange between them. */
static void add_passes(const struct pf_geometry *g, struct pf_route *route, int first, int last, unsigned *done)
{
    int before = route->passes;
    for (int i = first; i <= last; i++)
        for (const char *at = route->decomposition->array[i].axes; *at; at++)
            if (*at == 'z')
                add(route, first, true, pf_axis_beside_z(g), done);
            else if (!(*done >> (*at - 'x') & 1))
                add(route, first, false, *at - 'x', done);
    if (route->passes == before)
        add(route, first, false, PF_NO_AXIS, done);
}

/* The fastest axis in the messages behind a pass. */
static int nearest_behind(const struct pencilfft_plan_s *plan, const struct pf_route *route, int i)
{
    struct pf_geometry g = plan->layout.geometry;
    g.decomposition = route->decomposition;
    const struct pf_pass_form *form = &route->form[i];
    int nearest = pf_nearest_axis(&g, plan->layout.exchanges),
        over = g.decomposition->array[plan->layout.exchanges].over[nearest];
    bool whole = over == PF_WHOLE || g.grid[over] == 1; /* rows are not cut by the exchange */
    return whole && i == route->passes - 2 && form[0].u == nearest && !form[1].z && form[1].u != PF_NO_AXIS ? nearest : Z;
}

void pf_forms_choose(const struct pencilfft_plan_s *plan, struct pf_route *route)
{
    unsigned done = 0;
    struct pf_geometry g = plan->layout.geometry;
    g.decomposition = route->decomposition;
    route->passes = 0;
    for (int first = 0, last; first <= plan->layout.exchanges; first = last + 1) {
        last = first;
        while (last < plan->layout.exchanges && plan->layout.p[route->exchange[last]] == 1)
            last++;
        add_passes(&g, route, first, last, &done);
        if (last < plan->layout.exchanges)
            route->form[route->passes - 1].exchange = last;
    }
    for (int at = 0; at < plan->layout.exchanges; at++)
        route->nearest[at] = Z;
    for (int i = 0; i < route->passes; i++)
        if (route->form[i].exchange != PF_NO_EXCHANGE)
            route->nearest[route->form[i].exchange] = nearest_behind(plan, route, i);
}
