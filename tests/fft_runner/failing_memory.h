/* Memory that runs out on purpose, in programs that are linked with failing_memory.c and --wrap (CMakeLists.txt). */
#pragma once

/* The allocation after that many others fails on this rank; below 0: none does. */
void failing_memory_after(long others);
/* How many more would have had to succeed before one failed; below 0: it failed, or none was to. */
long failing_memory_left(void);
/* How many allocations of this rank, and plans of FFTW, have not been freed. */
long failing_memory_held(void);
