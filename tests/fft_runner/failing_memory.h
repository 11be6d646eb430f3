/* Memory that runs out on purpose, in programs that are linked with failing_memory.c and --wrap (CMakeLists.txt). */
#pragma once

/* The allocation after that many others fails on this rank; below 0: all succeed. */
void failing_memory_after(long others);
/* Allocations left before the failure; below 0: the failure has happened, or none was set. */
long failing_memory_left(void);
/* The number of allocations of this rank, and plans of FFTW, that have not been freed. */
long failing_memory_held(void);
