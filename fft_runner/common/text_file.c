#include "common/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/message.h"

static const off_t largest = (off_t)1 << 28;

/* Why an existing file is not read; NULL if it is readable. */
static const char *unreadable(const struct stat *about)
{
    if (S_ISDIR(about->st_mode))
        return strerror(EISDIR);
    if (!S_ISREG(about->st_mode))
        return "it is a pipe or a device";
    return about->st_size > largest ? "it is larger than 256 MB" : NULL;
}

FILE *text_file_open(const char *path, const char *error)
{
    struct stat about;
    FILE *file = NULL;
    const char *why = NULL;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer would wait here */
    if (descriptor >= 0 && !fstat(descriptor, &about) && !(why = unreadable(&about)))
        file = fdopen(descriptor, "r");
    if (file)
        return file;
    pf_fail(PF_REFUSED, "%s%.200s cannot be opened: %s", error, path, why ? why : strerror(errno));
    if (descriptor >= 0)
        close(descriptor);
    return NULL;
}
