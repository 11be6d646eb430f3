/* One after the other.
 * Idea:  a pass, the exchange behind the pass, the next pass. No message waits for another, no work runs beside.
 * Cost:  t_row + t_col. Needs: nothing. */
#include "schedule/schedule.h"

const struct pf_schedule pf_schedule_sequence = {
    .name = "sequence",
    .takes = "",
    .keeps_boxes = true,
    .order = pf_order_stages,
};
