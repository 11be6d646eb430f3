/* An independent restatement of header and README: the plans of order zyx that must be refused, and
 * the properties of the types. python_random_plans.py draws other orders. */
#pragma once

#include <stdbool.h>

#include "pencilfft.h"

/* Whether a type lists the kinds of x, y and z; stays real; halves z. */
bool type_is_list(const char *type);
bool type_is_real(const char *type);
bool type_is_halved(const char *type);
/* Points of the lines along an axis, and the extent of x or y in the first exchange, which keeps only modes of x if x was
 * transformed with z. */
int64_t plan_points(const pencilfft_desc *desc, int axis);
int64_t plan_extent(const pencilfft_desc *desc, int axis);
/* Whether lines along an axis are DFTs. */
bool plan_has_dft(const pencilfft_desc *desc, int axis);

/* Whether exchanges round the numbers. */
bool plan_rounds(const pencilfft_desc *desc);

/* Whether an exchange runs beside other work, as schedules but `sequence` and started transforms need. */
bool exchange_runs_beside(const char *exchange);

/* Whether a plan must be refused. `absent` is an exchange that this MPI does not have, or NULL. */
bool plan_must_be_refused(const pencilfft_desc *desc, const char *absent);
/* Whether a refusal is justified, with its status and message; on some grid if the grid is open. */
bool plan_refused_rightly(const pencilfft_desc *desc, int ranks, const char *absent, int status, const char *message);
