/* Texts of schedules and their meaning. */
#include <stdio.h>
#include <string.h>

#include "pencilfft.h"
#include "schedule/schedule.h"

#define SCHEDULES(X) \
    X(sequence)      \
    X(overlap)       \
    X(pipelined)     \
    X(two_way)       \
    X(opposite)

#define DECLARE(name) extern const struct pf_schedule pf_schedule_##name;
SCHEDULES(DECLARE)

#define ADDRESS(name) &pf_schedule_##name,
static const struct pf_schedule *const rows[] = {SCHEDULES(ADDRESS)};
const struct pf_table pf_schedules = PF_TABLE_OF_POINTERS("schedule", rows);

enum { NAME_SIZE = 64 };

int pf_choice_read(const char *text, const char letter[2], struct pf_choice *choice)
{
    char name[NAME_SIZE];
    size_t length = strcspn(text, ":");
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    *choice = (struct pf_choice){.schedule = pf_table_find(&pf_schedules, name),
                                 .axis = PF_CUT_BY_RULE,
                                 .letter = {letter[0], letter[1]}};
    if (!choice->schedule) {
        char message[PF_MESSAGE_SIZE];
        snprintf(message, sizeof message, "%s", pf_message());
        return pf_fail(PENCILFFT_UNKNOWN_NAME, "%s, auto", message);
    }
    if (!text[length])
        return PENCILFFT_OK;
    if (!choice->schedule->read)
        return pf_fail(PENCILFFT_UNKNOWN_NAME, "schedule '%.100s': nothing may follow %s; give %s alone", text, name, name);
    return choice->schedule->read(text, text + length + 1, choice);
}

int pf_choice_settle(const struct pf_shape *shape, struct pf_choice *choice)
{
    return choice->schedule->settle ? choice->schedule->settle(shape, choice) : PENCILFFT_OK;
}

void pf_choice_write(const struct pf_choice *choice, char text[PF_SCHEDULE_TEXT])
{
    if (choice->schedule->write)
        choice->schedule->write(choice, text);
    else if (choice->chunks || choice->lower)
        snprintf(text, PF_SCHEDULE_TEXT, "%s:%lld", choice->schedule->name,
                 choice->chunks ? (long long)choice->chunks : (long long)choice->lower);
    else
        snprintf(text, PF_SCHEDULE_TEXT, "%s", choice->schedule->name);
}

int pf_two_routes_settle(const struct pf_shape *shape, struct pf_choice *choice)
{
    if (shape->two_routes)
        return PENCILFFT_OK;
    return pf_fail(PENCILFFT_NOT_POSSIBLE,
                   "schedule %s: decomposition %s cannot go two ways, for its exchanges have one order; use decomposition "
                   "pencil, or schedule overlap",
                   choice->schedule->name, shape->decomposition);
}
