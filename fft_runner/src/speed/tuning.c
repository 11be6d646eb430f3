#include "speed/tuning.h"

struct pf_tuning pf_tuning = {
    .block_bytes = 1 << 18,   /* with caches of 2 MiB real 128^3 takes 2 to 15 % less than with 1 << 17 */
    .message_bytes = 1 << 15, /* 2 us, in which 10 GB/s are 20 kB */
    .row_bytes = 512,         /* with 256 the neighbouring passes take a fifth longer at 128^3 */
    .direct_bytes = 1 << 25,  /* of real 32^3 (0.3 MB) on one rank a third is saved, of 192^3 (57 MB) nothing */
    .thread_bytes = 1 << 14,  /* copied in about 1 us, the cost of a thread */
    .whole_bytes = 1 << 26,   /* 128^3 has 32 MB */
    .trial_bytes = 1 << 28,   /* all ten exchanges of 128^3 in two parts, 16 MB each */
    .whole_outs_bytes = 1 << 27, /* seven of real 128^3; a single output stays in the caches, where FFTW's plan is faster */
    .trial_outs_bytes = 1 << 25, /* a third-level cache; half of it still gives some choices of a single output */
    .ask_bytes = 1 << 19, /* of real 64^3 in two parts (1.1 MB) prefetching cuts the last pass by up to three quarters */
    .past_bytes = 15 << 19, /* with it c2c 100^3 in two parts (8.0 MB) is faster, real 96x128x144 (7.2 MB) is not */
};
