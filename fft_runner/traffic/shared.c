/* The tracer is compiled from the sources of this folder alone, also by `pencilmap trace`, so it includes what it shares. */
#include "../common/await_launcher.c"
#include "../common/preloaded.c"
#include "../common/whole_file.c"
