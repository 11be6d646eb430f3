/* Where processes are, for each argument "TORUS;WHERE;ORDER;TASKS PER NODE;HOST/HOST/...", of which empty words are not
 * given; test_units.py has the answers. A WHERE of ? is auto, which may assume; without hosts, the torus alone. Prints for
 * each a line: the torus as understood; source and launch order; place and slot of each process; or "; refused: " and the
 * message. No MPI is started. */
#include <inttypes.h>
#include <stdlib.h>

#include "check.h"
#include "common/message.h"
#include "common/sources.h"

enum { WORDS = 5, MOST_SEATS = 8 };

static int refused(void)
{
    printf("; refused: %s\n", pf_message());
    return 1;
}

static void print_torus(const struct torus *torus)
{
    char text[COORDINATE_TEXT];
    torus_text(torus, text);
    printf("%s ", text);
    for (int axis = 0; axis < torus->dims; axis++)
        printf("%d", torus->wrapped[axis]);
    printf(" %s %" PRId64, torus->letter, torus_nodes(torus));
    for (int64_t node = 0; node < torus_nodes(torus); node++) {
        struct coordinate at = torus_coordinate(torus, node);
        CHECK_INT(torus_node(torus, &at), node);
        CHECK_INT(torus_outside(torus, &at), -1);
    }
    for (int axis = 0; axis <= torus->dims; axis++)
        CHECK_INT(torus_axis(torus, torus->letter[axis]), axis);
    CHECK(torus_axis(torus, '?') == -1 && torus_axis(torus, '\0') == -1);
}

static int print_seats(struct seats_request *request, char *hosts)
{
    struct seat seats[MOST_SEATS] = {{0}};
    int n = 0, source, slots;
    for (char *host = strtok(hosts, "/"); host; host = strtok(NULL, "/")) {
        seats[n].launched = n;
        strcpy(seats[n++].host, host);
    }
    if (source_check(request->where ? request->where : "auto") || seats_locate(request, seats, n, &source, &slots))
        return refused();
    const char *order = seats_order(request, source);
    printf("; %s %s;", source < 0 ? "-" : source_name(source), order ? order : "-");
    for (int i = 0; i < n; i++)
        printf(" %" PRId64 ".%d", seats[i].place, seats[i].slot);
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        char *word[WORDS], *at = argv[i];
        for (int k = 0; k < WORDS; k++) {
            word[k] = at;
            at += strcspn(at, ";");
            at += *at ? (*at = '\0', 1) : 0;
        }
        struct seats_request request = {.has_torus = strcmp(word[0], "none"), .tasks_per_node = atoi(word[3])};
        request.may_assume = *word[1] == '?';
        request.where = *word[1] && *word[1] != '?' ? word[1] : NULL;
        request.order = *word[2] ? word[2] : NULL;
        if (request.has_torus && torus_parse(word[0], &request.torus) && refused())
            continue;
        if (request.has_torus)
            print_torus(&request.torus);
        if (!*word[4] || !print_seats(&request, word[4]))
            printf("\n");
    }
    return check_failures > 0;
}
