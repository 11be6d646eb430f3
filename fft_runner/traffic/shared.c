/* The tracer is compiled from the sources of this folder alone, also by `pencilmap trace`, so it includes what it shares. */
#include "../common/message.c" /* NOLINT(bugprone-suspicious-include) */
#include "../common/preloaded.c" /* NOLINT(bugprone-suspicious-include) */
#include "../common/whole_file.c" /* NOLINT(bugprone-suspicious-include) */
