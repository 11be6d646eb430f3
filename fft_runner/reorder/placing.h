/* Placements: the place of every grid rank, place = node * tasks + slot. Knows no MPI. */
#ifndef PM_PLACING_H
#define PM_PLACING_H

#include "request.h"

/* Fill place[0 .. ranks-1] by the placement that the request names. A status. */
int pm_place_ranks(const struct pm_request *request, int64_t *place);

#endif
