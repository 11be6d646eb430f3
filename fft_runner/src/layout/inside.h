/* Calls between the files of the room. */
#pragma once

#include "layout/layout.h"

/* ---- forms.c --------------------------------------------------------------------------------------------------------- */

/* Choose the passes of a route, and the exchanges behind them. Groups and their sizes are known. */
void pf_forms_choose(const struct pencilfft_plan_s *plan, struct pf_route *route);

/* ---- lanes.c --------------------------------------------------------------------------------------------------------- */

/* This rank's part of an array for a lane, as if there were no other lanes: the number of pieces, and one piece, with its
 * first element. */
int pf_lane_pieces(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, int array);
pencilfft_box pf_lane_piece(const struct pencilfft_plan_s *plan, const struct pf_lane *lane, int array, int i,
                            int64_t *start);

/* ---- joints.c -------------------------------------------------------------------------------------------------------- */

/* Whether a transform or exchange of the plan needs this work buffer, also with one array for input and output. */
bool pf_joints_need(const struct pencilfft_plan_s *plan, int buffer, bool in_place);
