/* Open MPI's own counts of messages, which leave out the messages of the tracer. */
#pragma once

#include <stdbool.h>

/* Let Open MPI count or not, if it counts at all. */
void monitoring_counts(bool counts);
