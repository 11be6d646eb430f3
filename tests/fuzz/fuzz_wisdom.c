/* A wisdom file: as it is, and with the machine and the checksum of this one, so that what stands between is read.
 * FFTW's own part goes to functions here: FFTW ends the program at some crafted wisdom, which is why a file that everyone
 * may write is not read. */
#define fftw_import_wisdom_from_string import_fftw
#define fftwf_import_wisdom_from_string import_fftw
static int import_fftw(const char *text);
#include "choose/wisdom.c" // its readers are static

#include "target.h"

static int import_fftw(const char *text)
{
    return strlen(text) % 2 == 0;
}

static void read_file(const void *content, size_t size)
{
    struct text text = {NULL, 0};
    int found;
    const char *path = target_file(content, size);
    if (!read_whole(path, &text, &found) && found && !take_all(path, text.bytes))
        for (const struct choice *c = choices; c; c = c->next)
            target_hold(!strpbrk(c->key, " \n") && !strpbrk(c->name, " \n") && pf_wisdom_find(c->key) != NULL,
                        "a choice is two words");
    free(text.bytes);
    target_forget();
    pencilfft_wisdom_forget();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char machine[MACHINE_SIZE];
    struct text text;
    if (!machine[0])
        machine_text(machine);
    read_file(data, size);
    FILE *out = open_memstream(&text.bytes, &text.length);
    if (!out)
        abort();
    fprintf(out, "%smachine %s\n%.*s", head, machine, (int)size, (const char *)data);
    fflush(out);
    fprintf(out, "checksum %016" PRIx64 "\n", pf_hash(text.bytes, text.length));
    fclose(out);
    read_file(text.bytes, text.length);
    free(text.bytes);
    return 0;
}
