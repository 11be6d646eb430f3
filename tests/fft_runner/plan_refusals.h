/* What header and README say of plans, said anew: which must be refused, and what the types are. */
#pragma once

#include <stdbool.h>

#include "pencilfft.h"

/* Does all of a transform of this type stay real; does it keep one half of z? */
bool type_is_real(const char *type);
bool type_is_halved(const char *type);

/* Whether a plan must be refused. `absent` is an exchange that this MPI does not have, or NULL. */
bool plan_must_be_refused(const pencilfft_desc *desc, const char *absent);
/* Whether a refusal is one of them, with its status and message. */
bool plan_refused_rightly(const pencilfft_desc *desc, const char *absent, int status, const char *message);
