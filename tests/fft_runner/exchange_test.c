/* Every exchange against data whose every word is known, and whole transforms against those by alltoallv.
 * Run under mpirun:  exchange_test R C [EXCHANGE]  with the grid; one exchange, or all. A line for each that refuses. */
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "check.h"
#include "pencilfft.h"

static int R, C, rank, cases;
static const char *exchange;

struct kind {
    const char *type, *precision, *layout;
    int fields;
};

static const struct kind kinds[] = {
    {"c2c", "double", "natural", 1},
    {"c2c", "single", "stride1", 2},
    {"dct", "single", "natural", 3}, /* elements of four bytes */
    {"r2c", "double", "stride1", 1},
};

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* Even, uneven, prime, as thin as the grid allows, and long in one axis; and messages long enough to be cut. r2c halves z. */
static int sizes(int64_t list[8][3])
{
    int64_t all[][3] = {
        {2 * C, 2 * R * C, 2 * R}, {2 * C + 1, 2 * R * C + 1, 4 * R + 1}, {11, 13, 17}, {C, most(R, C), R},
        {C, most(R, C), 2 * R},    {64, most(R, C) + 1, 2 * R + 1},
        {5 * C + 1, 33 * most(R, C), 66 * R},
    };
    int n = sizeof all / sizeof all[0];
    for (int i = 0; i < n; i++)
        memcpy(list[i], all[i], sizeof all[i]);
    return n;
}

static pencilfft_plan make_plan(const struct kind *kind, const int64_t n[3], const char *name)
{
    pencilfft_desc desc;
    pencilfft_plan plan = NULL;
    pencilfft_desc_init(&desc);
    desc.nx = n[0], desc.ny = n[1], desc.nz = n[2];
    desc.R = R, desc.C = C;
    desc.type = kind->type;
    desc.precision = kind->precision;
    desc.layout = kind->layout;
    desc.fields = kind->fields;
    desc.exchange = name;
    desc.rigor = "estimate";
    desc.auto_budget_s = 0.01;
    int status = pencilfft_plan_create(&desc, MPI_COMM_WORLD, &plan);
    if (status != PENCILFFT_OK && status != PENCILFFT_NOT_POSSIBLE && status != PENCILFFT_BAD_GRID) {
        printf("%s %s: %s\n", name, kind->type, pencilfft_error_message());
        check_failures++;
    }
    return plan;
}

static uint32_t word_of(int64_t index, int field, int word)
{
    return (uint32_t)index * 16 + (uint32_t)field * 4 + (uint32_t)word;
}

/* Writes each word of my box, or counts those that differ. */
static int64_t go_through(pencilfft_plan plan, pencilfft_pencil pencil, void *data, int write)
{
    pencilfft_box box;
    pencilfft_format format;
    int64_t wrong = 0;
    CHECK_INT(pencilfft_box_mine(plan, pencil, &box), PENCILFFT_OK);
    CHECK_INT(pencilfft_format_of(plan, pencil, &format), PENCILFFT_OK);
    int words = (int)(format.element_bytes / 4);
    for (int f = 0; f < format.fields; f++)
        for (int64_t x = 0; x < box.extent[0]; x++)
            for (int64_t y = 0; y < box.extent[1]; y++)
                for (int64_t z = 0; z < box.extent[2]; z++) {
                    int64_t index = ((box.offset[0] + x) * 1000 + box.offset[1] + y) * 1000 + box.offset[2] + z;
                    int64_t at = f * format.field_stride + x * box.stride[0] + y * box.stride[1] + z * box.stride[2];
                    for (int word = 0; word < words; word++) {
                        uint32_t *here = (uint32_t *)data + at * words + word;
                        if (write)
                            *here = word_of(index, f, word);
                        else
                            wrong += *here != word_of(index, f, word);
                    }
                }
    return wrong;
}

static void moves_exactly(pencilfft_plan plan, pencilfft_direction direction)
{
    static const pencilfft_pencil ends[2][2] = {{PENCILFFT_Z_PENCIL, PENCILFFT_Y_PENCIL},
                                                {PENCILFFT_Y_PENCIL, PENCILFFT_X_PENCIL}};
    int64_t bytes;
    void *in, *out;
    CHECK_INT(pencilfft_alloc_bytes(plan, &bytes), PENCILFFT_OK);
    CHECK_INT(pencilfft_alloc(plan, &in), PENCILFFT_OK);
    CHECK_INT(pencilfft_alloc(plan, &out), PENCILFFT_OK);
    for (int e = 0; e < 2; e++)
        for (int again = 0; again < 2; again++) { /* what is set up once must work twice */
            int back = direction == PENCILFFT_BACKWARD;
            memset(out, 0xff, (size_t)bytes);
            go_through(plan, ends[e][back], in, 1);
            CHECK_INT(pencilfft_transpose(plan, (pencilfft_exchange)e, direction, in, out), PENCILFFT_OK);
            CHECK_INT(go_through(plan, ends[e][!back], out, 0), 0);
            cases++;
        }
}

static void fill(void *data, int64_t bytes, size_t real_bytes)
{
    for (int64_t i = 0; i < bytes / (int64_t)real_bytes; i++) {
        double value = (double)((i * 7919 + rank * 104729) % 1009) / 1009 - 0.5;
        if (real_bytes == 4)
            ((float *)data)[i] = (float)value;
        else
            ((double *)data)[i] = value;
    }
}

static double difference(pencilfft_plan plan, const void *a, const void *b)
{
    pencilfft_box box;
    pencilfft_format format;
    double worst = 0;
    pencilfft_box_mine(plan, PENCILFFT_OUTPUT, &box);
    pencilfft_format_of(plan, PENCILFFT_OUTPUT, &format);
    int64_t n = box.extent[0] * box.extent[1] * box.extent[2] * format.fields;
    for (int64_t i = 0; i < n * (int64_t)(format.element_bytes / format.real_bytes); i++)
        worst = fmax(worst, format.real_bytes == 4 ? fabs((double)((const float *)a)[i] - (double)((const float *)b)[i])
                                                   : fabs(((const double *)a)[i] - ((const double *)b)[i]));
    return worst;
}

/* Out of place and in place, against alltoallv. */
static void transforms_alike(pencilfft_plan plan, pencilfft_plan reference)
{
    int64_t bytes, other;
    void *in, *out, *in2, *out2;
    pencilfft_format format;
    pencilfft_alloc_bytes(plan, &bytes);
    pencilfft_alloc_bytes(reference, &other);
    CHECK_INT(pencilfft_alloc(plan, &in), PENCILFFT_OK);
    CHECK_INT(pencilfft_alloc(plan, &out), PENCILFFT_OK);
    CHECK_INT(pencilfft_alloc(reference, &in2), PENCILFFT_OK);
    CHECK_INT(pencilfft_alloc(reference, &out2), PENCILFFT_OK);
    pencilfft_format_of(plan, PENCILFFT_OUTPUT, &format);
    double allowed = format.real_bytes == 4 ? 1e-2 : 1e-10; /* values are below a few hundred */
    fill(in, bytes, format.real_bytes);
    fill(in2, other, format.real_bytes);
    CHECK_INT(pencilfft_forward(reference, in2, out2), PENCILFFT_OK);
    CHECK_INT(pencilfft_forward(plan, in, out), PENCILFFT_OK);
    CHECK(difference(plan, out, out2) < allowed);
    CHECK_INT(pencilfft_forward(plan, in, in), PENCILFFT_OK);
    CHECK(difference(plan, in, out2) < allowed);
}

/* Sums over all ranks: what leaves arrives, and nothing goes to oneself. */
static void traffic_is_sane(pencilfft_plan plan)
{
    int64_t bytes[64], messages[64];
    for (int e = 0; e < 2; e++) {
        CHECK_INT(pencilfft_traffic(plan, (pencilfft_exchange)e, PENCILFFT_FORWARD, bytes, messages), PENCILFFT_OK);
        CHECK_INT(bytes[rank], 0);
        for (int j = 0; j < R * C; j++) {
            CHECK(bytes[j] >= 0 && (bytes[j] > 0) == (messages[j] > 0));
            CHECK(bytes[j] == 0 || (e == 0 ? j / R == rank / R : j % R == rank % R));
        }
    }
}

static void check_one(const struct kind *kind, const int64_t n[3], const char *name)
{
    pencilfft_plan plan = make_plan(kind, n, name);
    pencilfft_plan reference = plan ? make_plan(kind, n, "alltoallv") : NULL;
    if (plan && reference) {
        moves_exactly(plan, PENCILFFT_FORWARD);
        moves_exactly(plan, PENCILFFT_BACKWARD);
        transforms_alike(plan, reference);
        traffic_is_sane(plan);
    }
    CHECK_INT(pencilfft_plan_destroy(plan), PENCILFFT_OK);
    CHECK_INT(pencilfft_plan_destroy(reference), PENCILFFT_OK);
}

int main(int argc, char **argv)
{
    int64_t list[8][3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    R = argc > 2 ? atoi(argv[1]) : 1;
    C = argc > 2 ? atoi(argv[2]) : 1;
    int n = sizes(list);
    for (int i = 0; (exchange = pencilfft_exchange_name(i)); i++) {
        if (argc > 3 && strcmp(argv[3], exchange))
            continue;
        cases = 0;
        for (int s = 0; s < n; s++)
            for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
                check_one(&kinds[k], list[s], exchange);
        if (rank == 0)
            printf("%s: %d cases\n", exchange, cases);
    }
    MPI_Finalize();
    return check_result();
}
