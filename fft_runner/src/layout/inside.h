/* Calls between the files of the room. */
#pragma once

#include "layout/layout.h"

/* ---- forms.c --------------------------------------------------------------------------------------------------------- */

/* Which passes a route has, and the exchanges behind them. Groups and their sizes are known. */
void pf_forms_choose(const struct pencilfft_plan_s *plan, struct pf_route *route);

/* ---- lanes.c --------------------------------------------------------------------------------------------------------- */

/* What this rank holds of an array for a lane, whose boxes are told to an exchange as if there were no other lanes: in how
 * many pieces it lies, and one of them, with the element where it begins. */
int pf_lane_pieces(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, int array);
pencilfft_box pf_lane_piece(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, int array, int i,
                            int64_t *start);

/* ---- joints.c -------------------------------------------------------------------------------------------------------- */

/* Does any transform or exchange of the plan need this work buffer, also those with one array for input and output? */
bool pf_joints_need(const struct pencilfft_plan_s *plan, int buffer, bool in_place);
