/* Torus text, host names, and locations of processes, by pen and paper. No MPI is started. */
#include <stdlib.h>

#include "check.h"
#include "common/message.h"
#include "common/sources.h"

static void torus_text_sets_extents_and_wrap(void)
{
    struct torus torus = {0};
    CHECK_INT(torus_parse("8x4x2", &torus), 0);
    CHECK_INT(torus.dims, 3);
    CHECK(torus.extent[0] == 8 && torus.extent[1] == 4 && torus.extent[2] == 2);
    CHECK(torus.wrapped[0] && torus.wrapped[1] && torus.wrapped[2]);
    CHECK_INT(torus_parse("8x4x2:mesh", &torus), 0);
    CHECK(!torus.wrapped[0] && !torus.wrapped[1] && !torus.wrapped[2]);
    CHECK_INT(torus_parse("8wx8x4w", &torus), 0);
    CHECK(torus.wrapped[0] && !torus.wrapped[1] && torus.wrapped[2]);
    CHECK_INT(torus_parse("16", &torus), 0);
    CHECK_INT(torus.dims, 1);
    CHECK_INT(torus_parse("1x2x3x4x5x6x7x8", &torus), 0);
    CHECK_INT(torus_nodes(&torus), 40320);
}

static void other_text_is_refused(void)
{
    const char *texts[] =
        {"", "8x", "x8", "8x8x0", "8x-1", "8y8", "8x8:x", "8wx8:mesh", "8 x 8", "1x1x1x1x1x1x1x1x1", "99999999999x2"};
    struct torus torus;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CHECK_INT(torus_parse(texts[i], &torus), PF_REFUSED);
        CHECK_CONTAINS(pf_message(), "is not understood");
    }
}

static void nodes_count_x_first(void)
{
    struct torus torus;
    CHECK_INT(torus_parse("4x3x2", &torus), 0);
    struct coordinate at = {3, {1, 2, 1}}, back = torus_coordinate(&torus, 21);
    CHECK_INT(torus_node(&torus, &at), 1 + 4 * (2 + 3 * 1));
    CHECK(back.at[0] == 1 && back.at[1] == 2 && back.at[2] == 1);
    at.at[2] = 2;
    CHECK_INT(torus_outside(&torus, &at), 2);
}

struct name_case {
    const char *host;
    int dims;
    bool known;
    int last, slot;
};

static void coordinates_are_read_from_host_names(void)
{
    const struct name_case names[] = {
        {"node-3-0-7", 3, true, 7, -1}, {"r1c2n13", 3, true, 13, -1}, {"node17", 1, true, 17, -1},
        {"node-3--7", 2, false, 0, 0},  {"vm", 1, false, 0, 0},       {"node-3-0", 3, false, 0, 0},
        {"1-2-3", 3, true, 3, -1},      {"", 3, false, 0, 0},         {"n-99999999999-1", 2, false, 0, 0},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct coordinate at = {0};
        int slot = 0;
        CHECK_INT(coordinate_from_hostname(names[i].host, names[i].dims, &at, &slot), names[i].known);
        if (names[i].known)
            CHECK_INT(at.at[names[i].dims - 1], names[i].last);
    }
}

static void blue_gene_names_give_coordinate_and_slot(void)
{
    struct coordinate at = {0};
    int slot = -1;
    CHECK(coordinate_from_blue_gene("Processor <1,2,0,1> in a <4, 4, 2, 2> mesh", 3, &at, &slot));
    CHECK(at.dims == 3 && at.at[0] == 1 && at.at[1] == 2 && at.at[2] == 0);
    CHECK_INT(slot, 1);
    CHECK(!coordinate_from_blue_gene("Processor <1,2,0,1> in a <4, 4, 2, 2> mesh", 2, &at, &slot));
    CHECK(!coordinate_from_blue_gene("Processor <1,2,0,1> in a <4, 4, 2, 2> mesh", 4, &at, &slot));
    CHECK(!coordinate_from_blue_gene("node-1-2-0", 3, &at, &slot));
}

static struct seat *seats_on(const char *const *hosts, int n)
{
    struct seat *seats = calloc((size_t)n, sizeof *seats);
    for (int i = 0; seats && i < n; i++) {
        seats[i].launched = i;
        snprintf(seats[i].host, sizeof seats[i].host, "%s", hosts[i]);
    }
    return seats;
}

struct located {
    struct seat *seats;
    const char *source;
    int tasks_per_node, status;
};

static struct located locate(struct seats_request request, const char *torus, const char *const *hosts, int n)
{
    struct located r = {.seats = seats_on(hosts, n)};
    int source;
    request.has_torus = torus && !torus_parse(torus, &request.torus);
    r.status = seats_locate(&request, r.seats, n, &source, &r.tasks_per_node);
    r.source = source_name(source);
    return r;
}

static void slots_count_world_ranks_of_a_node(void)
{
    const char *hosts[] = {"n-1-0", "n-0-0", "n-1-0", "n-0-0.site.org"};
    struct located r = locate((struct seats_request){.tasks_per_node = 2}, "2x2", hosts, 4);
    CHECK_INT(r.status, 0);
    CHECK(!strcmp(r.source, "hostname"));
    CHECK(r.seats[0].slot == 0 && r.seats[1].slot == 0 && r.seats[2].slot == 1 && r.seats[3].slot == 1);
    CHECK_INT(r.seats[2].place, 1 * 2 + 1);
    free(r.seats);
}

static void without_names_coordinates_follow_the_launch_order(void)
{
    const char *hosts[] = {"vm", "vm", "vm", "vm"};
    struct seats_request request = {.order = "xxt", .may_assume = true};
    struct located r = locate(request, "2x2", hosts, 4);
    CHECK_INT(r.status, PF_REFUSED);
    CHECK_CONTAINS(pf_message(), "must have each letter of xyt once");
    free(r.seats);
    request.order = "tyx", request.tasks_per_node = 2;
    r = locate(request, "2x2", hosts, 4);
    CHECK_INT(r.status, 0);
    CHECK(r.seats[3].node.at[0] == 0 && r.seats[3].node.at[1] == 1 && r.seats[3].slot == 1);
    free(r.seats);
    request.order = "yxt", request.tasks_per_node = 0;
    r = locate(request, "2x2", hosts, 4);
    CHECK_INT(r.status, 0);
    CHECK(!strcmp(r.source, "assumed"));
    CHECK(r.seats[1].node.at[0] == 0 && r.seats[1].node.at[1] == 1);
    CHECK(r.seats[2].node.at[0] == 1 && r.seats[2].node.at[1] == 0);
    free(r.seats);
    r = locate((struct seats_request){.where = "assumed:bat"}, "2x2:axes=ab", hosts, 4);
    CHECK(r.status == 0 && r.seats[1].node.at[0] == 0 && r.seats[1].node.at[1] == 1);
    free(r.seats);
    r = locate((struct seats_request){.may_assume = false}, "2x2", hosts, 4);
    CHECK_INT(r.status, PF_REFUSED);
    CHECK_CONTAINS(pf_message(), "nothing tells where the processes are: 'vm'");
    free(r.seats);
}

/* Place of each of four processes on 2x2 with two slots a node. */
static void check_filled(struct seats_request request, const int64_t places[4])
{
    const char *hosts[] = {"vm", "vm", "vm", "vm"};
    request.tasks_per_node = 2;
    struct located r = locate(request, "2x2", hosts, 4);
    CHECK_INT(r.status, 0);
    for (int i = 0; i < 4 && !r.status; i++)
        CHECK_INT(r.seats[i].place, places[i]);
    free(r.seats);
}

static void a_launcher_fills_a_node_before_the_next_one_unless_an_order_is_named(void)
{
    const int64_t filled[] = {0, 1, 2, 3}, round[] = {0, 2, 4, 6}, boxes[] = {0, 4, 1, 5};
    check_filled((struct seats_request){.may_assume = true}, filled);
    check_filled((struct seats_request){.where = "assumed"}, filled);
    check_filled((struct seats_request){.where = "assumed", .order = "nt"}, round);
    check_filled((struct seats_request){.where = "assumed:nt", .order = "tn"}, round);
    check_filled((struct seats_request){.where = "assumed:y2txy"}, boxes);
    check_filled((struct seats_request){.where = "assumed:t1n2n2t"}, round);
}

static void what_is_no_launch_order_is_refused(void)
{
    const char *bad[] = {"n",    "t",    "x",   "tnn", "t3nt", "t2n",       "n3t", "t0n",  "xy",
                         "txyx", "txy3", "nxt", "tn ", "-t",   "t1000000n", "T",   "t2tn2"};
    struct torus torus;
    struct fill_order fill;
    CHECK_INT(torus_parse("4x2", &torus), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(torus_order(&torus, 4, bad[i], &fill), PF_REFUSED);
        CHECK_CONTAINS(pf_message(), "must have each letter of xyt once");
    }
}

static void the_launch_order_is_told_for_assumed_coordinates_alone(void)
{
    int assumed = 0, hostname = 0;
    while (strcmp(source_name(assumed), "assumed"))
        assumed++;
    while (strcmp(source_name(hostname), "hostname"))
        hostname++;
    CHECK(!strcmp(seats_order(&(struct seats_request){.where = "auto"}, assumed), "tn"));
    CHECK(!strcmp(seats_order(&(struct seats_request){.order = "xyt"}, assumed), "xyt"));
    CHECK(!strcmp(seats_order(&(struct seats_request){.where = "assumed:nt", .order = "xyt"}, assumed), "nt"));
    CHECK(!seats_order(&(struct seats_request){.order = "xyt"}, hostname) && !seats_order(&(struct seats_request){0}, -1));
}

static void a_node_that_is_too_full_is_refused(void)
{
    const char *hosts[] = {"n-1-0", "n-1-0"};
    struct located r = locate((struct seats_request){.tasks_per_node = 1}, "2x2", hosts, 2);
    CHECK_INT(r.status, PF_REFUSED);
    CHECK_CONTAINS(pf_message(), "runs more than 1 processes");
    free(r.seats);
}

static void a_host_outside_the_torus_is_refused(void)
{
    const char *hosts[] = {"n-1-0", "n-4-0"};
    struct located r = locate((struct seats_request){.where = "auto"}, "4x4", hosts, 2);
    CHECK_INT(r.status, PF_REFUSED);
    CHECK_CONTAINS(pf_message(), "outside torus 4x4; x must be 0..3");
    free(r.seats);
    r = locate((struct seats_request){.where = "assumed"}, "4x4", hosts, 2);
    CHECK_INT(r.status, 0);
    free(r.seats);
}

static void without_a_torus_slots_count_ranks_of_a_host(void)
{
    const char *hosts[] = {"b", "a", "b"};
    struct located r = locate((struct seats_request){.where = "auto"}, NULL, hosts, 3);
    CHECK_INT(r.status, 0);
    CHECK(!r.source);
    CHECK(!r.seats[0].located && r.seats[0].slot == 0 && r.seats[1].slot == 0 && r.seats[2].slot == 1);
    free(r.seats);
}

static void sources_are_refused_unless_written_as_in_the_table(void)
{
    const char *good[] = {"auto", "environment", "hostname", "blue-gene", "table:/a/b", "assumed", "assumed:yxt"};
    const char *bad[] = {"", "dice", "host", "hostname:", "table", "table:", "auto:xyz"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK_INT(source_check(good[i]), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_INT(source_check(bad[i]), PF_REFUSED);
        CHECK_CONTAINS(pf_message(), "known: auto, environment, blue-gene, hostname, table:PATH, assumed[:ORDER]");
    }
}

static void axes_have_the_letters_of_the_text(void)
{
    struct torus torus;
    const char *bad[] = {"2x2:axes=x", "2x2:axes=xx", "2x2:axes=xt", "2x2:axes=", "2x2:axes=x1", "2x2:axes=xy:mesh"};
    CHECK_INT(torus_parse("4x6x16x2x3x2:axes=xyzabc", &torus), 0);
    CHECK(!strcmp(torus.letter, "xyzabct") && torus_axis(&torus, 'a') == 3 && torus_axis(&torus, 't') == 6);
    CHECK(torus_axis(&torus, 'd') == -1 && torus_axis(&torus, '\0') == -1);
    CHECK_INT(torus_parse("4x6x16x2x3x2", &torus), 0);
    CHECK(!strcmp(torus.letter, "abcdeft"));
    CHECK_INT(torus_parse("8x8x8:mesh:axes=abc", &torus), 0);
    CHECK(!strcmp(torus.letter, "abct") && !torus.wrapped[0]);
    CHECK_INT(torus_parse("8wx8:axes=AB", &torus), 0);
    CHECK(!strcmp(torus.letter, "ABt") && torus.wrapped[0] && !torus.wrapped[1]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_INT(torus_parse(bad[i], &torus), PF_REFUSED);
}

int main(void)
{
    torus_text_sets_extents_and_wrap();
    other_text_is_refused();
    nodes_count_x_first();
    coordinates_are_read_from_host_names();
    blue_gene_names_give_coordinate_and_slot();
    slots_count_world_ranks_of_a_node();
    without_names_coordinates_follow_the_launch_order();
    a_launcher_fills_a_node_before_the_next_one_unless_an_order_is_named();
    what_is_no_launch_order_is_refused();
    the_launch_order_is_told_for_assumed_coordinates_alone();
    a_node_that_is_too_full_is_refused();
    a_host_outside_the_torus_is_refused();
    without_a_torus_slots_count_ranks_of_a_host();
    sources_are_refused_unless_written_as_in_the_table();
    axes_have_the_letters_of_the_text();
    return check_result();
}
