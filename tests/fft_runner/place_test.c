/* Everything that a program may see of MPI_COMM_WORLD, as lines "RANK AS LAUNCHED: NAME VALUE". With the ranks of a split as
 * arguments, the program makes the split itself and uses it everywhere in place of MPI_COMM_WORLD: a renumbered run must
 * print the same lines. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static MPI_Comm world;
static int ranks, rank, launched;
static char lines[1 << 14];

static void tell(const char *name, long long value)
{
    size_t used = strlen(lines);
    snprintf(lines + used, sizeof lines - used, "%d: %s %lld\n", launched, name, value);
}

static int from_launcher(void)
{
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"};
    for (int i = 0; i < 2; i++)
        if (getenv(names[i]))
            return atoi(getenv(names[i]));
    return -1;
}

/* x -> a x + b, in the order of the ranks. */
static void compose(void *first, void *second, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i += 2) {
        long long *a = (long long *)first + i, *b = (long long *)second + i;
        b[1] = (b[0] * a[1] + b[1]) % 1000003;
        b[0] = a[0] * b[0] % 1000003;
    }
}

static void numbers(void)
{
    int size, same, others[2] = {0, ranks - 1}, mine[2], name_length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Group group, of_dup, last;
    MPI_Comm dup, one, parent;
    MPI_Comm_size(world, &size);
    MPI_Comm_dup(world, &dup);
    MPI_Comm_group(world, &group);
    MPI_Comm_group(dup, &of_dup);
    tell("size", size);
    MPI_Group_rank(group, &same);
    tell("rank in the group", same);
    MPI_Group_translate_ranks(group, 2, others, of_dup, mine);
    tell("first and last in a dup", mine[0] * 100 + mine[1]);
    MPI_Comm_compare(world, dup, &same);
    tell("compare with a dup", same == MPI_CONGRUENT);
    MPI_Comm_compare(world, world, &same);
    tell("compare with itself", same == MPI_IDENT);
    MPI_Comm_get_name(world, name, &name_length);
    tell("name", !strcmp(name, "MPI_COMM_WORLD"));
    MPI_Group_incl(group, 1, &others[1], &last);
    MPI_Comm_create(world, last, &one);
    tell("communicator of the last", one != MPI_COMM_NULL);
    if (rank == ranks - 1)
        MPI_Comm_create_group(world, last, 3, &one);
    MPI_Comm_get_parent(&parent);
    tell("no parent", parent == MPI_COMM_NULL);
    MPI_Comm_split(world, rank % 2, -rank, &one);
    MPI_Comm_rank(one, &same);
    tell("rank in a split", same);
    MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &one);
    MPI_Comm_rank(one, &same);
    tell("rank in a node", same);
    MPI_Comm_free(&dup);
}

static void messages(void)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, got = -1, there;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Sendrecv(&rank, 1, MPI_INT, next, 1, &got, 1, MPI_INT, before, 1, world, &status);
    tell("sendrecv", got * 100 + status.MPI_SOURCE);
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 2, world, &requests[0]);
    MPI_Send_init(&rank, 1, MPI_INT, next, 2, world, &requests[1]);
    MPI_Start(&requests[1]);
    MPI_Wait(&requests[0], &status);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[1]);
    tell("any source", got * 100 + status.MPI_SOURCE);
    MPI_Isend(&rank, 1, MPI_INT, before, 4, world, &requests[0]);
    MPI_Probe(next, 4, world, &status);
    MPI_Iprobe(next, 4, world, &there, MPI_STATUS_IGNORE);
    MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, 4, world, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    tell("probed", got * 100 + there);
#if MPI_VERSION >= 4
    MPI_Psend_init(&rank, 1, 1, MPI_INT, next, 5, world, MPI_INFO_NULL, &requests[0]);
    MPI_Precv_init(&got, 1, 1, MPI_INT, before, 5, world, MPI_INFO_NULL, &requests[1]);
    MPI_Startall(2, requests);
    MPI_Pready(0, requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    tell("partitioned", got);
#endif
}

static long long digest(const int *values, int n)
{
    long long found = 0;
    for (int i = 0; i < n; i++)
        found = (found * 31 + values[i]) % 1000003;
    return found;
}

static void collectives(void)
{
    int *all = calloc((size_t)ranks, sizeof(int)), *ones = calloc((size_t)ranks, sizeof(int)), got = rank;
    long long pair[2] = {rank + 2, rank + 1}, result[2] = {0, 0};
    MPI_Request request;
    MPI_Op op;
    for (int i = 0; i < ranks; i++)
        ones[i] = 10 * rank + i;
    MPI_Bcast(&got, 1, MPI_INT, 1, world);
    tell("bcast", got);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, world);
    tell("allgather", digest(all, ranks));
    MPI_Alltoall(ones, 1, MPI_INT, all, 1, MPI_INT, world);
    tell("alltoall", digest(all, ranks));
    MPI_Op_create(compose, 0, &op);
    MPI_Allreduce(pair, result, 2, MPI_LONG_LONG, op, world);
    tell("allreduce in order", result[0] * 1000003 + result[1]);
    MPI_Scan(pair, result, 2, MPI_LONG_LONG, op, world);
    tell("scan", result[0] * 1000003 + result[1]);
    MPI_Op_free(&op);
    MPI_Reduce_scatter_block(ones, &got, 1, MPI_INT, MPI_SUM, world);
    tell("reduce-scatter", got);
    MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, 2, world);
    tell("gather", rank == 2 ? digest(all, ranks) : 0);
    MPI_Iscatter(ones, 1, MPI_INT, &got, 1, MPI_INT, 1, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    tell("iscatter", got);
#if MPI_VERSION >= 4
    got = rank;
    MPI_Bcast_c(&got, (MPI_Count)1, MPI_INT, 2, world);
    tell("bcast with a large count", got);
    MPI_Bcast_init(&got, 1, MPI_INT, 0, world, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
#endif
    free(all);
    free(ones);
}

static void tell_neighbours(const char *name, MPI_Comm graph)
{
    int n_in, n_out, weighted, in[16], out[16], weight_in[16] = {0}, weight_out[16] = {0}, got[16] = {0}, me;
    char text[64];
    MPI_Comm_rank(graph, &me);
    MPI_Dist_graph_neighbors_count(graph, &n_in, &n_out, &weighted);
    MPI_Dist_graph_neighbors(graph, n_in, in, weight_in, n_out, out, weight_out);
    MPI_Neighbor_allgather(&me, 1, MPI_INT, got, 1, MPI_INT, graph);
    snprintf(text, sizeof text, "%s, rank", name);
    tell(text, me);
    snprintf(text, sizeof text, "%s, in", name);
    tell(text, digest(in, n_in) * 1000 + n_in);
    snprintf(text, sizeof text, "%s, out", name);
    tell(text, digest(out, n_out) * 1000 + n_out);
    snprintf(text, sizeof text, "%s, weights", name);
    tell(text, weighted ? digest(weight_in, n_in) * 1000003 + digest(weight_out, n_out) : -1);
    snprintf(text, sizeof text, "%s, received", name);
    tell(text, digest(got, n_in));
}

/* Rank i sends to i + 1 and i + 2; rank 0 also to its neighbours backwards. With reorder these are ranks of the result. */
static void topologies(int reorder)
{
    int extents[2] = {0, 0}, periodic[2] = {1, 0}, at[2], before, after, me = -1, edges[64], index[32], n = 0;
    MPI_Comm cart, row, graph;
    MPI_Dims_create(ranks, 2, extents);
    MPI_Cart_create(world, 2, extents, periodic, reorder, &cart);
    MPI_Comm_rank(cart, &me);
    MPI_Cart_coords(cart, me, 2, at);
    MPI_Cart_shift(cart, 0, 1, &before, &after);
    tell("cart, rank", me);
    tell("cart, place", at[0] * 100 + at[1]);
    tell("cart, neighbours", before * 100 + after);
    MPI_Cart_create(world, 2, extents, periodic, 0, &row);
    MPI_Comm_rank(row, &me);
    tell("cart without reorder, rank", me);
    MPI_Cart_sub(cart, (int[]){1, 0}, &row);
    MPI_Comm_rank(row, &me);
    tell("cart, rank in a row", me);
    MPI_Cart_create(world, 1, (int[]){ranks - 1}, periodic, reorder, &row);
    me = -1;
    if (row != MPI_COMM_NULL)
        MPI_Comm_rank(row, &me);
    tell("smaller cart, rank", me);
    for (int i = 0; i < ranks; i++) {
        edges[n++] = (i + 1) % ranks;
        edges[n++] = (i + ranks - 1) % ranks;
        index[i] = n;
    }
    MPI_Graph_create(world, ranks, index, edges, reorder, &graph);
    MPI_Comm_rank(graph, &me);
    MPI_Graph_neighbors(graph, me, 2, at);
    tell("graph, rank", me);
    tell("graph, neighbours", at[0] * 100 + at[1]);

    int degree = 2, to[2] = {(rank + 1) % ranks, (rank + 2) % ranks}, weights[2] = {rank + 1, 50 + rank};
    MPI_Dist_graph_create(world, 1, &rank, &degree, to, weights, MPI_INFO_NULL, reorder, &graph);
    int n_in, n_out, weighted;
    MPI_Dist_graph_neighbors_count(graph, &n_in, &n_out, &weighted);
    tell("distributed graph, in and out", n_in * 100 + n_out);
    MPI_Dist_graph_neighbors(graph, n_in, index, edges, n_out, at, weights);
    MPI_Comm_rank(graph, &me);
    tell("distributed graph, rank", me);
    tell("distributed graph, sum of out", at[0] + at[1]);
    tell("distributed graph, sum of weights", weights[0] + weights[1]);

    /* rank 0 has no edges */
    int from[2] = {(rank + ranks - 1) % ranks, (rank + ranks - 2) % ranks}, weight_in[2] = {7 * from[0] + rank, from[1]};
    int weight_out[2] = {7 * rank + to[0], rank}, have_in = 0, have_out = 0;
    for (int i = 0; i < 2 && rank; i++) {
        if (from[i]) {
            weight_in[have_in] = i ? from[i] : 7 * from[i] + rank;
            from[have_in++] = from[i];
        }
        if (to[i]) {
            weight_out[have_out] = i ? rank : 7 * rank + to[i];
            to[have_out++] = to[i];
        }
    }
    MPI_Dist_graph_create_adjacent(world, have_in, from, weight_in, have_out, to, weight_out, MPI_INFO_NULL, reorder,
                                   &graph);
    tell_neighbours("adjacent", graph);
    MPI_Dist_graph_create_adjacent(world, have_in, from, MPI_UNWEIGHTED, have_out, to, MPI_UNWEIGHTED, MPI_INFO_NULL,
                                   reorder, &graph);
    tell_neighbours("adjacent without weights", graph);
    MPI_Comm_split(world, rank % 2, rank, &row);
    MPI_Comm_size(row, &n);
    MPI_Cart_create(row, 1, &n, periodic, reorder, &cart);
    MPI_Comm_rank(cart, &me);
    tell("cart of a half, rank", me);
}

static void intercommunicator(void)
{
    MPI_Comm half, inter, merged;
    int size, sum, leader = 1 - rank % 2;
    MPI_Comm_split(world, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, world, leader, 6, &inter);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter);
    tell("sum of the other group", sum);
    MPI_Intercomm_merge(inter, rank % 2, &merged);
    MPI_Comm_rank(merged, &size);
    tell("rank in both groups", size);
}

static void windows(void)
{
    int mine = rank, got = -1, same, *shared;
    MPI_Win window;
    MPI_Group group, of_window;
    MPI_Win_create(&mine, sizeof mine, sizeof mine, MPI_INFO_NULL, world, &window);
    MPI_Win_fence(0, window);
    MPI_Get(&got, 1, MPI_INT, (rank + 1) % ranks, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    tell("get", got);
    MPI_Comm_group(world, &group);
    MPI_Win_get_group(window, &of_window);
    MPI_Group_compare(group, of_window, &same);
    tell("group of a window", same == MPI_IDENT);
    MPI_Win_free(&window);
    MPI_Win_allocate_shared(sizeof mine, sizeof mine, MPI_INFO_NULL, world, &shared, &window);
    MPI_Win_fence(0, window);
    *shared = rank;
    MPI_Win_fence(0, window);
    MPI_Aint bytes;
    MPI_Win_shared_query(window, (rank + 2) % ranks, &bytes, &same, &shared);
    tell("shared memory", *shared);
    MPI_Win_free(&window);
}

static void files(const char *path)
{
    MPI_File file;
    int got = -1;
    MPI_File_open(world, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_ordered(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_read_at_all(file, (MPI_Offset)sizeof rank * rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
    tell("ordered write", got);
    MPI_File_close(&file);
}

static int copied(MPI_Comm comm, int key, void *state, void *value, void *to, int *keep)
{
    (void)key, (void)state;
    int me;
    MPI_Comm_rank(comm, &me);
    *(void **)to = (char *)value + me;
    *keep = 1;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    struct {
        const char *name;
        int key;
    } predefined[] = {{"MPI_TAG_UB", MPI_TAG_UB},
                      {"MPI_HOST", MPI_HOST},
                      {"MPI_IO", MPI_IO},
                      {"MPI_WTIME_IS_GLOBAL", MPI_WTIME_IS_GLOBAL},
                      {"MPI_UNIVERSE_SIZE", MPI_UNIVERSE_SIZE},
                      {"MPI_APPNUM", MPI_APPNUM},
                      {"MPI_LASTUSEDCODE", MPI_LASTUSEDCODE}};
    int *value, found, key, code;
    void *own;
    MPI_Comm dup;
    MPI_Add_error_class(&code);
    for (size_t i = 0; i < sizeof predefined / sizeof *predefined; i++) {
        MPI_Comm_get_attr(MPI_COMM_WORLD, predefined[i].key, &value, &found);
        tell(predefined[i].name, found ? *value : -99);
    }
    MPI_Comm_create_keyval(copied, MPI_COMM_NULL_DELETE_FN, &key, NULL);
    MPI_Comm_set_attr(world, key, (void *)0x1000);
    MPI_Comm_dup(world, &dup);
    MPI_Comm_get_attr(dup, key, &own, &found);
    tell("attribute of a dup", found ? (long long)own : -1);
    MPI_Comm_get_attr(world, key, &own, &found);
    tell("attribute", found ? (long long)own : -1);
    MPI_Comm_delete_attr(world, key);
    MPI_Comm_get_attr(world, key, &own, &found);
    tell("deleted attribute", found);
}

static int seen;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    MPI_Comm_rank(*comm, &seen);
}

static void errors(void)
{
    MPI_Errhandler handler, got;
    MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Comm_get_errhandler(world, &got);
    tell("fatal errors first", got == MPI_ERRORS_ARE_FATAL);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    if (world != MPI_COMM_WORLD)
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    tell("error returns", MPI_Send(&rank, 1, MPI_INT, ranks + 5, 3, world) != MPI_SUCCESS);
    MPI_Comm_get_errhandler(world, &got);
    tell("error handler", got == MPI_ERRORS_RETURN);
    tell("error without communicator returns", MPI_Type_commit(&none) != MPI_SUCCESS);
    MPI_Comm_create_errhandler(on_error, &handler);
    MPI_Comm_set_errhandler(world, handler);
    seen = -1;
    MPI_Send(&rank, 1, MPI_INT, ranks + 5, 3, world);
    tell("rank in a handler", seen);
    MPI_Comm_call_errhandler(world, MPI_ERR_OTHER);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}

static int at_the_end(MPI_Comm self, int key, void *value, void *state)
{
    (void)self, (void)key, (void)value, (void)state;
    int me, last = -1, *end = &rank;
    MPI_Comm_rank(world, &me);
    if (me == 0)
        MPI_Send(end, 1, MPI_INT, ranks - 1, 9, world);
    if (me == ranks - 1) {
        MPI_Recv(&last, 1, MPI_INT, 0, 9, world, MPI_STATUS_IGNORE);
        printf("%d: in MPI_Finalize %d\n", launched, last);
        fflush(stdout);
    }
    return MPI_SUCCESS;
}

#if MPI_VERSION >= 4
static void use_session(void)
{
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    printf("a session\n");
    MPI_Session_finalize(&session);
}
#endif

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOFBF, 1 << 20); /* whole lines of a rank stay together */
    int key;
#if MPI_VERSION >= 4
    if (argc > 1 && !strcmp(argv[1], "session")) {
        use_session();
        return 0;
    }
#endif
    MPI_Init(&argc, &argv);
    world = MPI_COMM_WORLD;
    launched = from_launcher();
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char *group = argc > 1 ? argv[1] : "all", *path = argc > 2 ? argv[2] : "place_test.dat";
    if (argc == 3 + ranks) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, atoi(argv[3 + launched]), &world);
        MPI_Comm_set_name(world, "MPI_COMM_WORLD");
    }
    MPI_Comm_rank(world, &rank);
    if (!strcmp(group, "abort")) {
        if (rank == 1)
            MPI_Abort(MPI_COMM_WORLD, 7);
        MPI_Barrier(world);
    }
    if (!strcmp(group, "spawn")) {
        MPI_Comm children;
        MPI_Comm_spawn(argv[0], (char *[]){"rank", NULL}, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children,
                       MPI_ERRCODES_IGNORE);
    }
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_the_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    tell("rank", rank);
    if (!strcmp(group, "all")) {
        numbers();
        messages();
        collectives();
        intercommunicator();
        windows();
        files(path);
        attributes();
        errors();
    }
    if (strcmp(group, "rank"))
        topologies(!strcmp(group, "reorder"));
    for (int i = 0; i < ranks; i++) { /* the lines of each process on its own */
        MPI_Barrier(world);
        if (i == rank)
            fputs(lines, stdout);
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
