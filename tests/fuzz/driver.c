/* Runs a fuzz target without libFuzzer: `TARGET FILE...` runs files; without arguments it reads inputs from standard input,
 * each a length of four bytes and its bytes, and answers with a byte after each. test_fuzz.py draws these inputs. An input
 * that takes longer than SLOWEST_S seconds ends the program, as does what the address sanitizer finds. */
#define _GNU_SOURCE
#include <stdio.h>
#include <unistd.h>

#include "target.h"

enum { LONGEST = 1 << 20, SLOWEST_S = 2 };

static uint8_t bytes[LONGEST];

static void run(size_t size)
{
    alarm(SLOWEST_S);
    LLVMFuzzerTestOneInput(bytes, size);
    alarm(0);
}

int main(int argc, char **argv)
{
    uint32_t size;
    FILE *answers = fdopen(dup(1), "w"); /* a target may print */
    if (!answers || !freopen("/dev/null", "w", stdout))
        return 2;
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (!file) {
            fprintf(stderr, "fuzz: %s cannot be read\n", argv[i]);
            return 2;
        }
        run(fread(bytes, 1, LONGEST, file));
        fclose(file);
    }
    while (argc == 1 && fread(&size, sizeof size, 1, stdin) == 1) {
        if (size > LONGEST || fread(bytes, 1, size, stdin) != size)
            return 2;
        run(size);
        fputc('.', answers);
        fflush(answers);
    }
    fclose(answers);
    return 0;
}
