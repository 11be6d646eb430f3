#include "count.h"

#include <stdlib.h>
#include <string.h>

static int comm_key = MPI_KEYVAL_INVALID, window_key = MPI_KEYVAL_INVALID;
static unsigned freed; /* counts freed handles: a later handle may have the same value */
static struct communicator *table;
static int used, places;

/* ---- attributes --------------------------------------------------------------------------------------------------- */

static int free_members(void *members)
{
    __atomic_add_fetch(&freed, 1, __ATOMIC_RELEASE);
    free(members);
    return MPI_SUCCESS;
}

static int comm_freed(MPI_Comm comm, int key, void *members, void *state)
{
    (void)comm, (void)key, (void)state;
    return free_members(members);
}

static int window_freed(MPI_Win window, int key, void *members, void *state)
{
    (void)window, (void)key, (void)state;
    return free_members(members);
}

void members_begin(void)
{
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_freed, &comm_key, NULL);
    PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, window_freed, &window_key, NULL);
}

/* ---- the table of communicators ------------------------------------------------------------------------------------- */

int communicators_count(void)
{
    return used;
}

const struct communicator *communicator_at(int number)
{
    return table + number;
}

static uint64_t hash_of(const int *list, int size, const struct communicator *about)
{
    uint64_t hash = mixed((uint64_t)size * 2 + about->inter);
    for (int i = 0; i < size; i++)
        hash = mixed(hash + (uint32_t)list[i]);
    for (int i = 0; i < about->dimensions; i++)
        hash = mixed(hash + (uint64_t)about->extent[i] * 2 + (about->periodic[i] != 0));
    return hash;
}

/* The row of a communicator, which is made if there is none; -1 without memory. `about` has its topology. */
static int number_of(const int *list, int size, struct communicator *about)
{
    about->hash = hash_of(list, size, about);
    for (int i = 0; i < used; i++)
        if (table[i].hash == about->hash)
            return i;
    if (used == places) {
        struct communicator *larger = realloc(table, (size_t)(2 * places + 16) * sizeof *table);
        if (!larger)
            return -1;
        table = larger;
        places = 2 * places + 16;
    }
    about->size = size;
    about->first = size ? list[0] : 0;
    about->stride = size > 1 ? list[1] - list[0] : 0;
    bool even = true;
    for (int i = 0; i < size; i++)
        even &= list[i] == about->first + i * about->stride;
    if (!even) {
        if (!(about->list = malloc((size_t)size * sizeof *list)))
            return -1;
        memcpy(about->list, list, (size_t)size * sizeof *list);
    }
    table[used] = *about;
    return used++;
}

/* ---- members of a handle -------------------------------------------------------------------------------------------- */

static bool translate(MPI_Group group, int size, int *world)
{
    int *own = malloc((size_t)(size + 1) * sizeof *own);
    if (!own)
        return false;
    for (int i = 0; i < size; i++)
        own[i] = i;
    bool done = PMPI_Group_translate_ranks(group, size, own, traffic.world, world) == MPI_SUCCESS;
    for (int i = 0; i < size && done; i++)
        world[i] = world[i] == MPI_UNDEFINED ? OUTSIDE : world[i];
    free(own);
    return done;
}

static struct members *from_group(MPI_Group group)
{
    int size = 0;
    PMPI_Group_size(group, &size);
    struct members *m = malloc(sizeof *m + (size_t)size * sizeof *m->world);
    if (!m)
        return NULL;
    *m = (struct members){.size = size};
    if (!translate(group, size, m->world)) {
        free(m);
        return NULL;
    }
    return m;
}

/* The row of an intercommunicator: the group with the lower first rank comes first, so that both groups find the same. */
static int number_of_inter(MPI_Comm comm, const struct members *remote, struct communicator *about)
{
    MPI_Group group;
    PMPI_Comm_group(comm, &group);
    struct members *local = from_group(group);
    PMPI_Group_free(&group);
    if (!local)
        return -1;
    const struct members *ends[2] = {local, remote};
    if (remote->size && local->size && remote->world[0] < local->world[0])
        ends[0] = remote, ends[1] = local;
    int *both = malloc((size_t)(local->size + remote->size + 1) * sizeof *both), number = -1;
    if (both) {
        memcpy(both, ends[0]->world, (size_t)ends[0]->size * sizeof *both);
        memcpy(both + ends[0]->size, ends[1]->world, (size_t)ends[1]->size * sizeof *both);
        number = number_of(both, local->size + remote->size, about);
    }
    free(both);
    free(local);
    return number;
}

static void read_topology(MPI_Comm comm, struct communicator *about)
{
    int kind = MPI_UNDEFINED, n = 0, coordinates[MOST_DIMENSIONS];
    PMPI_Topo_test(comm, &kind);
    if (kind != MPI_CART || PMPI_Cartdim_get(comm, &n) != MPI_SUCCESS || n > MOST_DIMENSIONS)
        return;
    PMPI_Cart_get(comm, n, about->extent, about->periodic, coordinates);
    about->dimensions = n;
}

static struct members *made_of(MPI_Comm comm)
{
    struct communicator about = {.size = 0};
    MPI_Group group;
    int inter = 0;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        PMPI_Comm_remote_group(comm, &group);
    else
        PMPI_Comm_group(comm, &group);
    struct members *m = from_group(group);
    PMPI_Group_free(&group);
    if (!m)
        return NULL;
    m->inter = about.inter = inter;
    PMPI_Comm_rank(comm, &m->me);
    if (!inter)
        read_topology(comm, &about);
    m->number = inter ? number_of_inter(comm, m, &about) : number_of(m->world, m->size, &about);
    if (m->number < 0 || PMPI_Comm_set_attr(comm, comm_key, m) != MPI_SUCCESS) {
        free(m);
        return NULL;
    }
    return m;
}

const struct members *members_of(MPI_Comm comm)
{
    static __thread MPI_Comm last;
    static __thread const struct members *known;
    static __thread unsigned when;
    struct members *m = NULL;
    int found = 0;
    unsigned now = __atomic_load_n(&freed, __ATOMIC_ACQUIRE);
    if (known && comm == last && when == now)
        return known;
    if (comm == MPI_COMM_NULL || PMPI_Comm_get_attr(comm, comm_key, &m, &found) != MPI_SUCCESS)
        return NULL;
    if (!found && !(m = made_of(comm))) {
        traffic.failed = true;
        return NULL;
    }
    last = comm;
    known = m;
    when = now;
    return m;
}

const struct members *members_of_window(MPI_Win window)
{
    struct communicator about = {.size = 0};
    struct members *m = NULL;
    int found = 0;
    MPI_Group group;
    if (window == MPI_WIN_NULL || PMPI_Win_get_attr(window, window_key, &m, &found) != MPI_SUCCESS)
        return NULL;
    if (found)
        return m;
    if (PMPI_Win_get_group(window, &group) != MPI_SUCCESS)
        return NULL;
    m = from_group(group);
    PMPI_Group_free(&group);
    if (!m || (m->number = number_of(m->world, m->size, &about)) < 0 ||
        PMPI_Win_set_attr(window, window_key, m) != MPI_SUCCESS) {
        traffic.failed = true;
        free(m);
        return NULL;
    }
    return m;
}
