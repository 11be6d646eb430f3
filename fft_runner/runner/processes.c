#include "processes.h"

#include <hwloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runner.h"

static int gather_table(struct processes *p)
{
    const struct seating *s = &p->seating;
    struct process me;
    memset(&me, 0, sizeof me);
    me.seat = s->mine;
    topology_describe(&me.topology);
    int status = s->rank == 0 && !(p->table = seating_table(s->ranks, sizeof *p->table)) ? PF_REFUSED : 0;
    if ((status = pf_agree(status, s->comm)))
        return status;
    CHECK_MPI(MPI_Gather(&me, sizeof me, MPI_BYTE, p->table, sizeof me, MPI_BYTE, 0, s->comm));
    return status;
}

int processes_seat(const struct seats_request *seats, const char *mapfile, struct processes *p)
{
    const struct seating_request request = {*seats, mapfile ? mapfile_read : NULL, mapfile};
    int status = 0;
    if (mapfile && !seats->has_torus)
        status = pf_fail(PF_REFUSED, "--mapfile needs --machine-torus, to know what its coordinates mean");
    if (!status && !(status = seating_make(&request, MPI_COMM_WORLD, &p->seating))) {
        CHECK_MPI(MPI_Comm_set_errhandler(p->seating.comm, MPI_ERRORS_RETURN));
        status = gather_table(p);
    }
    return status;
}

void processes_release(struct processes *p)
{
    free(p->table);
    seating_release(&p->seating);
}

/* ---- the machine ------------------------------------------------------------------------------------------------------ */

/* Simulated processes have no place on a machine, and are many, so no topology is loaded for them. */

static int simulated(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING + 1] = "";
    int length = 0;
    return MPI_Get_library_version(library, &length) == MPI_SUCCESS && !strncmp(library, "SMPI", 4);
}

static int count(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(topology, type);
    return n > 0 ? n : 0;
}

/* Logical numbers of the objects of a type that the process may run on. */
static void list_bound(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_const_bitmap_t set, char text[SET_SIZE])
{
    hwloc_bitmap_t numbers = hwloc_bitmap_alloc();
    text[0] = '\0';
    if (!numbers)
        return;
    for (hwloc_obj_t object = NULL; (object = hwloc_get_next_obj_by_type(topology, type, object));)
        if (object->cpuset && hwloc_bitmap_intersects(object->cpuset, set))
            hwloc_bitmap_set(numbers, object->logical_index);
    hwloc_bitmap_list_snprintf(text, SET_SIZE, numbers);
    hwloc_bitmap_free(numbers);
}

static void describe_host(hwloc_topology_t topology, struct topology *t)
{
    hwloc_obj_t root = hwloc_get_root_obj(topology), package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    t->sockets = count(topology, HWLOC_OBJ_PACKAGE);
    t->cores = count(topology, HWLOC_OBJ_CORE);
    t->processors = count(topology, HWLOC_OBJ_PU);
    t->numa_nodes = count(topology, HWLOC_OBJ_NUMANODE);
    t->memory_bytes = (long long)root->total_memory;
    snprintf(t->processor, sizeof t->processor, "%s", model ? model : "");
}

static void describe_binding(hwloc_topology_t topology, struct topology *t)
{
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (set && hwloc_get_cpubind(topology, set, HWLOC_CPUBIND_PROCESS) == 0) {
        hwloc_bitmap_list_snprintf(t->binding, sizeof t->binding, set);
        hwloc_bitmap_and(set, set, hwloc_topology_get_topology_cpuset(topology));
        t->bound_to = hwloc_bitmap_weight(set);
        list_bound(topology, HWLOC_OBJ_PACKAGE, set, t->bound_sockets);
        list_bound(topology, HWLOC_OBJ_CORE, set, t->bound_cores);
        list_bound(topology, HWLOC_OBJ_NUMANODE, set, t->bound_numa_nodes);
    }
    hwloc_bitmap_free(set);
}

void topology_describe(struct topology *t)
{
    hwloc_topology_t topology;
    memset(t, 0, sizeof *t);
    if (simulated() || hwloc_topology_init(&topology))
        return;
    if (hwloc_topology_load(topology) == 0) {
        describe_host(topology, t);
        describe_binding(topology, t);
    }
    hwloc_topology_destroy(topology);
}

const char *topology_hwloc_version(void)
{
    return HWLOC_VERSION; /* as compiled; the library only reports the version of its interface */
}
