/* Torus text, host names, and where processes are, by pen and paper. No MPI is started. */
#include <stdlib.h>

#include "check.h"
#include "placement.h"
#include "runner.h"

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
        CHECK_INT(torus_parse(texts[i], &torus), RUNNER_ERROR);
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

static struct process *processes_on(const char *const *hosts, int n)
{
    struct process *processes = calloc((size_t)n, sizeof *processes);
    for (int i = 0; processes && i < n; i++) {
        processes[i].world_rank = i;
        snprintf(processes[i].host, sizeof processes[i].host, "%s", hosts[i]);
    }
    return processes;
}

struct resolved {
    struct process *processes;
    const char *source;
    int tasks_per_node, status;
};

static struct resolved resolve(struct placement_request request, const char *torus, const char *const *hosts, int n)
{
    struct resolved r = {.processes = processes_on(hosts, n)};
    struct mapfile mapfile = {.path = NULL};
    request.has_torus = torus && !torus_parse(torus, &request.torus);
    if (!request.coordinates)
        request.coordinates = "auto";
    r.status = placement_resolve(&request, r.processes, n, &r.source, &r.tasks_per_node, &mapfile);
    mapfile_release(&mapfile);
    return r;
}

static void slots_count_world_ranks_of_a_node(void)
{
    const char *hosts[] = {"n-1-0", "n-0-0", "n-1-0", "n-0-0"};
    struct resolved r = resolve((struct placement_request){.tasks_per_node = 2}, "2x2", hosts, 4);
    CHECK_INT(r.status, 0);
    CHECK(!strcmp(r.source, "hostname"));
    CHECK(r.processes[0].slot == 0 && r.processes[1].slot == 0 && r.processes[2].slot == 1 && r.processes[3].slot == 1);
    CHECK_INT(r.processes[2].place, 1 * 2 + 1);
    free(r.processes);
}

static void without_names_coordinates_follow_the_launch_order(void)
{
    const char *hosts[] = {"vm", "vm", "vm", "vm"};
    struct resolved r = resolve((struct placement_request){.launch_order = "xxt"}, "2x2", hosts, 4);
    CHECK_INT(r.status, RUNNER_ERROR);
    CHECK_CONTAINS(pf_message(), "must have each letter of xyt once");
    free(r.processes);
    r = resolve((struct placement_request){.launch_order = "tyx", .tasks_per_node = 2}, "2x2", hosts, 4);
    CHECK_INT(r.status, 0);
    CHECK(r.processes[3].node.at[0] == 0 && r.processes[3].node.at[1] == 1 && r.processes[3].slot == 1);
    free(r.processes);
    r = resolve((struct placement_request){.launch_order = "yxt"}, "2x2", hosts, 4);
    CHECK_INT(r.status, 0);
    CHECK(!strcmp(r.source, "assumed"));
    CHECK(r.processes[1].node.at[0] == 0 && r.processes[1].node.at[1] == 1);
    CHECK(r.processes[2].node.at[0] == 1 && r.processes[2].node.at[1] == 0);
    free(r.processes);
}

static void a_node_that_is_too_full_is_refused(void)
{
    const char *hosts[] = {"n-1-0", "n-1-0"};
    struct resolved r = resolve((struct placement_request){.tasks_per_node = 1}, "2x2", hosts, 2);
    CHECK_INT(r.status, RUNNER_ERROR);
    CHECK_CONTAINS(pf_message(), "runs more than 1 processes");
    free(r.processes);
}

static void a_host_outside_the_torus_is_refused(void)
{
    const char *hosts[] = {"n-1-0", "n-4-0"};
    struct resolved r = resolve((struct placement_request){.has_torus = true}, "4x4", hosts, 2);
    CHECK_INT(r.status, RUNNER_ERROR);
    CHECK_CONTAINS(pf_message(), "outside torus 4x4; x must be 0..3");
    free(r.processes);
    r = resolve((struct placement_request){.coordinates = "assumed"}, "4x4", hosts, 2);
    CHECK_INT(r.status, 0);
    free(r.processes);
}

static void without_a_torus_slots_count_ranks_of_a_host(void)
{
    const char *hosts[] = {"b", "a", "b"};
    struct resolved r = resolve((struct placement_request){.has_torus = false}, NULL, hosts, 3);
    CHECK_INT(r.status, 0);
    CHECK(!strcmp(r.source, "none"));
    CHECK(!r.processes[0].located && r.processes[0].slot == 0 && r.processes[1].slot == 0 && r.processes[2].slot == 1);
    free(r.processes);
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
    a_node_that_is_too_full_is_refused();
    a_host_outside_the_torus_is_refused();
    without_a_torus_slots_count_ranks_of_a_host();
    return check_result();
}
