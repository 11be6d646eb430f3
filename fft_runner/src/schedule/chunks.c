/* Chunks of a block: number, lengths and axis. schedule.h has the cut rule. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pencilfft.h"
#include "schedule/schedule.h"

const char *pf_cut_name(const struct pf_choice *choice, enum pf_cut_axis axis, char name[PF_CUT_NAME])
{
    if (axis == PF_CUT_FIELD)
        snprintf(name, PF_CUT_NAME, "field");
    else
        snprintf(name, PF_CUT_NAME, "%c", choice->letter[axis == PF_CUT_Z]);
    return name;
}

int64_t pf_number_read(const char *text, size_t bytes, int64_t most)
{
    int64_t number = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] < '0' || text[i] > '9' || number > most)
            return 0;
        number = 10 * number + (text[i] - '0');
    }
    return number <= most ? number : 0;
}

void pf_chunks_equal(struct pf_choice *choice, int chunks)
{
    choice->chunks = chunks;
    for (int k = 0; k < chunks; k++)
        choice->size[k] = 1;
}

bool pf_chunks_read(const char *text, size_t bytes, struct pf_choice *choice)
{
    if (!memchr(text, ',', bytes)) {
        int64_t chunks = pf_number_read(text, bytes, PF_MAX_CHUNKS);
        pf_chunks_equal(choice, (int)chunks);
        return chunks > 0;
    }
    const char *end = text + bytes;
    for (choice->chunks = 0; text <= end && choice->chunks < PF_MAX_CHUNKS; choice->chunks++) {
        const char *comma = memchr(text, ',', (size_t)(end - text)), *next = comma ? comma : end;
        if (!(choice->size[choice->chunks] = pf_number_read(text, (size_t)(next - text), PF_MAX_SIZE)))
            return false;
        text = next + 1;
    }
    return text > end;
}

/* extent * before / all, without a product that is too large. */
int64_t pf_chunk_start(const struct pf_choice *choice, int64_t extent, int k)
{
    int64_t before = k > 0 ? choice->size[0] : 0, all = choice->size[0];
    for (int i = 1; i < choice->chunks; i++) {
        before += i < k ? choice->size[i] : 0;
        all += choice->size[i];
    }
    return extent / all * before + extent % all * before / all;
}

int64_t pf_most_chunks(const struct pf_shape *shape)
{
    int64_t most = 1;
    for (int axis = 0; axis < PF_CUT_AXES; axis++)
        most = shape->most[axis] > most ? shape->most[axis] : most;
    return most;
}

static const char *most_text(const struct pf_shape *shape, const struct pf_choice *choice, char text[128])
{
    int used = 0;
    char name[PF_CUT_NAME];
    for (int axis = 0; axis < PF_CUT_AXES; axis++)
        used += snprintf(text + used, 128 - (size_t)used, "%s%s: %lld", axis ? ", " : "",
                         pf_cut_name(choice, (enum pf_cut_axis)axis, name), (long long)shape->most[axis]);
    return text;
}

int pf_chunks_settle(const struct pf_shape *shape, struct pf_choice *choice)
{
    char given[PF_SCHEDULE_TEXT], most[128];
    enum pf_cut_axis axis = choice->axis == PF_CUT_BY_RULE ? 0 : choice->axis;
    int last = choice->axis == PF_CUT_BY_RULE ? PF_CUT_AXES - 1 : (int)choice->axis;
    while ((int)axis < last && shape->most[axis] < choice->chunks)
        axis++;
    pf_choice_write(choice, given);
    choice->axis = axis;
    if (shape->most[axis] >= choice->chunks)
        return PENCILFFT_OK;
    return pf_fail(PENCILFFT_NOT_POSSIBLE,
                   "schedule %.200s: the smallest blocks of this transform are too short for %d chunks; the most are %s; "
                   "give fewer chunks, or another axis",
                   given, choice->chunks, most_text(shape, choice, most));
}
