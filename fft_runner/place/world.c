/* Functions of the world that the written wrappers do not cover: attributes, error handlers, spawn. */
#include "place.h"

/* The predefined attributes belong to the real MPI_COMM_WORLD, and all others to the communicator in its place. */
#define GET_ATTRIBUTE(name)                                   \
    int name(MPI_Comm comm, int key, void *value, int *found) \
    {                                                         \
        NEXT(name);                                           \
        int status = next(PLACED(comm), key, value, found);   \
        if (status == MPI_SUCCESS && !*found)                 \
            status = next(comm, key, value, found);           \
        return status;                                        \
    }
GET_ATTRIBUTE(MPI_Comm_get_attr)
GET_ATTRIBUTE(PMPI_Comm_get_attr)
GET_ATTRIBUTE(MPI_Attr_get)
GET_ATTRIBUTE(PMPI_Attr_get)

/* MPI-1 names, which the header of Open MPI hides but its library still has. */
#undef MPI_Errhandler_get
#undef MPI_Errhandler_set
SHOWN int MPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *handler);
SHOWN int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler *handler);
SHOWN int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler);
SHOWN int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler handler);

/* The handler of the real MPI_COMM_WORLD takes the errors that belong to no communicator. */
#define SET_HANDLER(name)                                  \
    int name(MPI_Comm comm, MPI_Errhandler handler)        \
    {                                                      \
        NEXT(name);                                        \
        int status = next(comm, handler);                  \
        if (status == MPI_SUCCESS && PLACED(comm) != comm) \
            status = next(PLACED(comm), handler);          \
        return status;                                     \
    }
SET_HANDLER(MPI_Comm_set_errhandler)
SET_HANDLER(PMPI_Comm_set_errhandler)
SET_HANDLER(MPI_Errhandler_set)
SET_HANDLER(PMPI_Errhandler_set)

#define GET_HANDLER(name)                            \
    int name(MPI_Comm comm, MPI_Errhandler *handler) \
    {                                                \
        NEXT(name);                                  \
        return next(PLACED(comm), handler);          \
    }
GET_HANDLER(MPI_Errhandler_get)
GET_HANDLER(PMPI_Errhandler_get)

static const char spawns[] = "MPI_Comm_spawn in a renumbered program; place this program by the file of its launcher, and "
                             "leave libpencilmap_place.so out";

#define SPAWN(MPI)                                                                                                  \
    int MPI##_Comm_spawn(const char *command, char *argv[], int processes, MPI_Info info, int root, MPI_Comm comm,  \
                         MPI_Comm *children, int codes[])                                                           \
    {                                                                                                               \
        NEXT(MPI##_Comm_spawn);                                                                                     \
        if (place.world != MPI_COMM_WORLD)                                                                          \
            place_refuse(comm, spawns);                                                                             \
        return next(command, argv, processes, info, root, comm, children, codes);                                   \
    }                                                                                                               \
    int MPI##_Comm_spawn_multiple(int count, char *commands[], char **argv[], const int processes[],                \
                                  const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm *children, int codes[]) \
    {                                                                                                               \
        NEXT(MPI##_Comm_spawn_multiple);                                                                            \
        if (place.world != MPI_COMM_WORLD)                                                                          \
            place_refuse(comm, spawns);                                                                             \
        return next(count, commands, argv, processes, infos, root, comm, children, codes);                          \
    }
SPAWN(MPI)
SPAWN(PMPI)
