/* Idea:  the file is written beside the old one, under a name that is new, so that no file or link of others is followed or
 *        overwritten; it is on the disk before it takes the old name. It has the permissions of the old file, or those by
 *        umask without any for others to write. */
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message.h"

enum { MOST_LINKS = 40, MOST_NAMES = 10000, NAME_ROOM = 48 };

/* Replaces *name, a link, by the path of its target. A link of somebody else could name any file of ours. */
static int follow(char **name, uid_t owner)
{
    char target[PATH_MAX];
    ssize_t length = readlink(*name, target, sizeof target);
    errno = length == sizeof target ? ENAMETOOLONG : owner && owner != geteuid() ? EACCES : length < 0 ? errno : 0;
    if (errno)
        return errno;
    const char *slash = strrchr(*name, '/');
    size_t folder = *target != '/' && slash ? (size_t)(slash + 1 - *name) : 0;
    char *next = malloc(folder + (size_t)length + 1);
    if (!next)
        return ENOMEM;
    memcpy(next, *name, folder);
    memcpy(next + folder, target, (size_t)length);
    next[folder + (size_t)length] = '\0';
    free(*name);
    *name = next;
    return 0;
}

/* The file that a path names, behind all links, in memory that the caller frees. The new file takes its place, and root may
 * replace even a device. */
static const char *find_file(const char *path, char **name)
{
    struct stat about;
    if (!(*name = strdup(path)))
        return strerror(ENOMEM);
    for (int links = 0; !lstat(*name, &about) && S_ISLNK(about.st_mode); links++)
        if ((errno = links < MOST_LINKS ? follow(name, about.st_uid) : ELOOP))
            return strerror(errno);
    return !lstat(*name, &about) && !S_ISREG(about.st_mode) ? "it is a folder, a pipe or a device; name another" : NULL;
}

/* Each host and process has its own names. */
static int create_beside(struct whole_file *w)
{
    int descriptor = -1;
    struct stat about;
    size_t size = strlen(w->file) + NAME_ROOM;
    errno = (w->beside = malloc(size)) ? EEXIST : ENOMEM;
    for (int i = 0; i < MOST_NAMES && descriptor < 0 && errno == EEXIST; i++) {
        snprintf(w->beside, size, "%s.new-%ld-%d", w->file, (long)getpid(), i);
        descriptor = open(w->beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH);
    }
    if (descriptor >= 0 && !stat(w->file, &about) && S_ISREG(about.st_mode))
        fchmod(descriptor, about.st_mode & (S_IRWXU | S_IRWXG | S_IROTH)); /* that file may be on another kind of disk */
    return descriptor;
}

static const char *released(struct whole_file *w, const char *why)
{
    int error = errno;
    free(w->beside);
    free(w->file);
    *w = (struct whole_file){.out = NULL};
    errno = error;
    return why;
}

const char *whole_file_open(struct whole_file *w, const char *path)
{
    *w = (struct whole_file){.out = NULL};
    const char *why = find_file(path, &w->file);
    if (why)
        return released(w, why);
    int descriptor = create_beside(w);
    if (descriptor >= 0 && (w->out = fdopen(descriptor, "w")))
        return NULL;
    why = strerror(errno);
    if (descriptor >= 0) {
        close(descriptor);
        unlink(w->beside);
    }
    return released(w, why);
}

const char *whole_file_close(struct whole_file *w, bool keep)
{
    errno = 0;
    bool whole = !fflush(w->out) && !ferror(w->out) && !fsync(fileno(w->out));
    whole &= !fclose(w->out);
    whole = whole && keep && !rename(w->beside, w->file);
    const char *why = whole || !keep ? NULL : errno ? strerror(errno) : "no space";
    if (!whole)
        unlink(w->beside);
    return released(w, why);
}

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

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

const char text_blanks[] = " \t\n\v\f\r";

int text_integers(const char *at, int64_t *values, int most)
{
    int found = 0;
    for (at += strspn(at, text_blanks); *at && *at != '#'; at += strspn(at, text_blanks)) {
        char *end;
        errno = 0;
        long long value = strtoll(at, &end, 10);
        if (end == at || (*end && !strchr(text_blanks, *end)) || errno)
            return -1;
        if (found < most)
            values[found] = value;
        found++;
        at = end;
    }
    return found;
}
