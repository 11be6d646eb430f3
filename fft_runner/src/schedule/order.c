/* The moves of schedules. */
#include "schedule/schedule.h"

void pf_order_pass(const struct pf_order *o, int pass, int lane)
{
    if (o->by_lane[pass])
        o->add(o->list, PF_DO_PASS, pass, lane);
    else if (lane == (pass == 0 ? 0 : o->lanes - 1))
        o->add(o->list, PF_DO_PASS, pass, PF_ALL_LANES);
}

void pf_order_start(const struct pf_order *o, int exchange, int lane)
{
    o->add(o->list, PF_DO_START, exchange, lane);
}

void pf_order_finish(const struct pf_order *o, int exchange, int lane)
{
    o->add(o->list, PF_DO_FINISH, exchange, lane);
}

/* Stage i of all lanes, one after the other: wait for the exchange before pass i, run pass i, start the exchange behind. */
static void order_stage(const struct pf_order *o, int pass)
{
    for (int lane = 0; lane < o->lanes; lane++) {
        if (pass > 0)
            pf_order_finish(o, pass - 1, lane);
        pf_order_pass(o, pass, lane);
        if (pass < o->exchanges)
            pf_order_start(o, pass, lane);
    }
}

void pf_order_stages(const struct pf_order *o)
{
    for (int pass = 0; pass <= o->exchanges; pass++)
        order_stage(o, pass);
}

void pf_order_last(const struct pf_order *o, int *done, int lane, bool first_pass_is_done)
{
    if (!first_pass_is_done && !o->early)
        return;
    for (; *done < lane; (*done)++) {
        if (o->exchanges > 1)
            pf_order_finish(o, o->exchanges - 1, *done);
        pf_order_pass(o, o->exchanges, *done);
    }
}

void pf_order_pair(const struct pf_order *one, const struct pf_order *other)
{
    for (int pass = 0; pass <= one->exchanges; pass++) {
        order_stage(one, pass);
        order_stage(other, pass);
    }
}
