/* A command line of fft_runner, a word in each line. */
#include <getopt.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "target.h"

enum { MOST_WORDS = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = target_text(data, size), *rest = text, *words[MOST_WORDS + 1] = {"fft_runner"};
    struct options options;
    int n = 1;
    while (rest && n < MOST_WORDS)
        words[n++] = strsep(&rest, "\n");
    words[n] = NULL;
    optind = 0; /* getopt begins anew */
    if (!options_parse(n, words, &options) && !options.help && !options.version) {
        target_hold(options.fft.nx > 0 && options.fft.ny > 0 && options.fft.nz > 0, "extents are above 0");
        bool given = options.grid.dims > 0; /* else the library chooses */
        target_hold(given ? options.fft.R > 0 && options.fft.C > 0 : !options.fft.R && !options.fft.C,
                    "a given grid has tasks, and another is left open");
        target_hold(options.reps > 0 && options.warmup >= 0, "repetitions are counted");
        target_hold(strlen(direction_name(&options)) > 0, "a direction has a name");
    }
    free(text);
    return 0;
}
