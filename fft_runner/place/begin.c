/* Begin and end: MPI_Init makes the communicator in place of MPI_COMM_WORLD, and MPI_Finalize frees it.
 *
 * Idea:  one MPI_Comm_split of the real MPI_COMM_WORLD gives each process its rank by the placement (order.c). Afterwards
 *        the wrappers replace MPI_COMM_WORLD wherever a program, a library or the Fortran layer of MPI gives it. Both names
 *        of each function, MPI_X and PMPI_X, have a wrapper: the Fortran layer of Open MPI calls PMPI_X, that of MPICH
 *        MPI_X.
 * End:   the first attribute of MPI_COMM_SELF is deleted last, by the standard. Callbacks of the program that MPI_Finalize
 *        calls still find its world. */
#include "place.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/failure.h"
#include "common/preloaded.h"
#include "reorder/order.h"

struct place place = {.world = MPI_COMM_WORLD};
static int depth;
static const char library[] = "place";

void place_say(const char *text, ...)
{
    char line[PF_MESSAGE_SIZE + 200];
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(line, sizeof line, text, arguments);
    va_end(arguments);
    fprintf(stderr, "pencilmap place: %s\n", line);
}

void place_refuse(MPI_Comm comm, const char *text)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0)
        preloaded_refuse(library, "%s", text);
    for (;;)
        pause();
}

void *place_next(const char *name)
{
    return preloaded_next(library, name);
}

/* ---- begin ------------------------------------------------------------------------------------------------------- */

/* Whether PENCILMAP_PLACEMENT_FOR names topologies rather than the world; rank 0 decides. A status. */
static int read_purpose(bool *for_topologies)
{
    enum { WORLD, TOPOLOGIES, UNKNOWN };
    const char *text = getenv("PENCILMAP_PLACEMENT_FOR");
    int purpose = !text || !*text || !strcmp(text, "world") ? WORLD : !strcmp(text, "topologies") ? TOPOLOGIES : UNKNOWN;
    PF_MPI(MPI_Bcast(&purpose, 1, MPI_INT, 0, MPI_COMM_WORLD));
    *for_topologies = purpose == TOPOLOGIES;
    return purpose == UNKNOWN
               ? pf_fail(PF_REFUSED, "PENCILMAP_PLACEMENT_FOR=%.40s is unknown; known are world and topologies",
                         text ? text : "")
               : 0;
}

static const char *file_of(const char *function)
{
    Dl_info about;
    return dladdr(place_next(function), &about) && about.dli_fname ? about.dli_fname : "?";
}

/* Why these processes cannot be renumbered, the same on all, without a message. A tool behind this library has asked for its
 * rank before the ranks change. */
static int check_processes(void)
{
    MPI_Comm parent;
    const char *next = file_of("MPI_Init"), *mpi = file_of("MPI_Wtick");
    PF_MPI(MPI_Comm_get_parent(&parent));
    if (parent != MPI_COMM_NULL)
        return pf_fail(PF_REFUSED, "these processes were started by MPI_Comm_spawn");
    if (strcmp(next, mpi))
        return pf_fail(PF_REFUSED, "%.200s wraps MPI, too; libpencilmap_place.so must be the last in LD_PRELOAD", next);
    return 0;
}

static int free_world(MPI_Comm self, int key, void *value, void *state)
{
    (void)self, (void)value, (void)state;
    MPI_Comm made = place.world;
    place.world = MPI_COMM_WORLD;
    PMPI_Comm_free_keyval(&key);
    return PMPI_Comm_free(&made);
}

static int make_world(const int *rank_of)
{
    MPI_Comm made;
    MPI_Errhandler handler;
    int key;
    PF_MPI(MPI_Comm_split(MPI_COMM_WORLD, 0, rank_of[place.launched], &made));
    PF_MPI(MPI_Comm_set_name(made, "MPI_COMM_WORLD"));
    PF_MPI(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handler));
    PF_MPI(MPI_Comm_set_errhandler(made, handler));
    PF_MPI(MPI_Errhandler_free(&handler));
    PF_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_world, &key, NULL));
    PF_MPI(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));
    place.world = made;
    return 0;
}

static void say_done(int moved)
{
    const char *text = getenv("PENCILMAP_PLACEMENT");
    if (!moved)
        place_say("nothing changed: every rank already is where %.200s places it", text);
    else
        place_say("%s by %.200s: %d of %d ranks moved",
                  place.for_topologies ? "topologies with reorder are renumbered" : "MPI_COMM_WORLD is renumbered", text,
                  moved, place.ranks);
}

static int use(const int *rank_of)
{
    int moved = 0;
    for (int i = 0; i < place.ranks; i++)
        moved += rank_of[i] != i;
    int status = moved && !place.for_topologies ? make_world(rank_of) : 0;
    place.rank_of = moved && !status ? rank_of : NULL;
    if (!status && place.launched == 0)
        say_done(moved);
    return status;
}

static int begin(void)
{
    PF_MPI(MPI_Comm_size(MPI_COMM_WORLD, &place.ranks));
    PF_MPI(MPI_Comm_rank(MPI_COMM_WORLD, &place.launched));
    int status = check_processes();
    if (status)
        return status;
    preloaded_check_ranks(library);
    if ((status = read_purpose(&place.for_topologies)))
        return status;
    int *rank_of = calloc((size_t)place.ranks, sizeof *rank_of);
    status = pf_agree(rank_of ? 0 : pf_fail(PF_REFUSED, "no memory for %d ranks", place.ranks), MPI_COMM_WORLD);
    if (!status)
        status = order_read(MPI_COMM_WORLD, place.launched ? NULL : getenv("PENCILMAP_PLACEMENT"), place.ranks, rank_of);
    if (!status)
        status = use(rank_of);
    if (!place.rank_of)
        free(rank_of);
    return status;
}

/* MPI_Init may call PMPI_Init_thread: only the outermost call begins. */
static int begun(int status)
{
    static bool done;
    if (--depth || done || status != MPI_SUCCESS)
        return status;
    done = true;
    if (begin() && place.launched == 0)
        place_say("nothing changed: %s", pf_message());
    return status;
}

PRELOADED_STARTS(MPI)
PRELOADED_STARTS(PMPI)

/* ---- sessions ---------------------------------------------------------------------------------------------------- */

#if MPI_VERSION >= 4
static const char no_world[] = "an MPI session has no MPI_COMM_WORLD that could be renumbered; place this program by the "
                               "file of its launcher, and leave libpencilmap_place.so out";

/* Whether this process would have been renumbered. */
static bool is_wanted(void)
{
    const char *text = getenv("PENCILMAP_PLACEMENT"), *purpose = getenv("PENCILMAP_PLACEMENT_FOR");
    int started = 0;
    PMPI_Initialized(&started);
    if (started)
        return place.world != MPI_COMM_WORLD;
    return text && *text && !(purpose && !strcmp(purpose, "topologies"));
}

static void refuse_session(MPI_Session session)
{
    MPI_Group all;
    MPI_Comm comm;
    PMPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    PMPI_Comm_create_from_group(all, "pencilmap", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    place_refuse(comm, no_world);
}

#define SESSION(MPI)                                                                       \
    int MPI##_Session_init(MPI_Info info, MPI_Errhandler errhandler, MPI_Session *session) \
    {                                                                                      \
        preloaded_check_mpi(library);                                                      \
        NEXT(MPI##_Session_init);                                                          \
        bool wanted = !depth && is_wanted();                                               \
        int status = next(info, errhandler, session);                                      \
        if (wanted && status == MPI_SUCCESS)                                               \
            refuse_session(*session);                                                      \
        return status;                                                                     \
    }
SESSION(MPI)
SESSION(PMPI)
#endif
