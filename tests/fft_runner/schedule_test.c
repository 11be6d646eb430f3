/* Schedules without a transform: their texts, the cut rule, the choices by rule, and the order of their moves. */
#include <string.h>

#include "check.h"
#include "common/message.h"
#include "pencilfft.h"
#include "schedule/schedule.h"

/* 12 indices along x, 6 along z, 3 fields; 40 planes over 4 ranks of a row and 8 of a column. */
static const struct pf_shape shape = {
    .most = {12, 6, 3},
    .message_bytes = 5 << 15,
    .enough_bytes = 1 << 15,
    .decomposition = "pencil",
    .two_routes = true,
    .over = {4, 8},
    .nz = 40,
    .fields = 3,
};
static const struct pf_shape slabs = {.most = {12, 6, 3}, .enough_bytes = 1, .decomposition = "slab", .nz = 40, .fields = 3};

/* Of 17 planes over 4 and 8: 9 lower planes fill 12 and 8 upper planes 8, and any other number fills 16 on one side. */
static const struct pf_shape uneven = {.two_routes = true, .over = {4, 8}, .nz = 17, .fields = 1};

static const struct {
    const struct pf_shape *shape;
    const char *text, *settled;
} texts[] = {
    {&shape, "sequence", "sequence"},
    {&shape, "overlap", "overlap:5:x"},
    {&shape, "overlap:12", "overlap:12:x"},
    {&shape, "overlap:4:z", "overlap:4:z"},
    {&shape, "overlap:1,2,4,8", "overlap:1,2,4,8:x"},
    {&shape, "overlap:3:field", "overlap:3:field"},
    {&shape, "pipelined", "pipelined:4"},
    {&shape, "pipelined:7", "pipelined:7"},
    {&shape, "two-way", "two-way:16"},
    {&shape, "two-way:39", "two-way:39"},
    {&uneven, "two-way", "two-way:9"},
    {&shape, "opposite", "opposite"},
};

static void texts_read_and_settle(void)
{
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct pf_choice choice;
        char text[PF_SCHEDULE_TEXT];
        CHECK_INT(pf_choice_read(texts[i].text, "xz", &choice), PENCILFFT_OK);
        pf_choice_write(&choice, text);
        CHECK(!strcmp(text, texts[i].text));
        CHECK_INT(pf_choice_settle(texts[i].shape, &choice), PENCILFFT_OK);
        pf_choice_write(&choice, text);
        CHECK_CONTAINS(text, texts[i].settled);
        CHECK_INT((int)strlen(text), (int)strlen(texts[i].settled));
    }
}

/* z if it is long enough, then x, then the fields; overlap begins with x. */
static void chunks_are_cut_along_the_first_axis_that_is_long_enough(void)
{
    static const struct pf_shape fields = {.most = {3, 2, 9}, .enough_bytes = 1, .decomposition = "pencil", .fields = 9};
    static const struct {
        const struct pf_shape *shape;
        const char *text;
        enum pf_cut_axis axis;
    } cases[] = {{&shape, "pipelined", PF_CUT_Z},        {&shape, "pipelined:6", PF_CUT_Z},
                 {&shape, "pipelined:7", PF_CUT_X},      {&shape, "pipelined:12", PF_CUT_X},
                 {&fields, "pipelined:2", PF_CUT_Z},     {&fields, "pipelined:3", PF_CUT_X},
                 {&fields, "pipelined:9", PF_CUT_FIELD}, {&shape, "overlap:6", PF_CUT_X}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct pf_choice choice;
        CHECK_INT(pf_choice_read(cases[i].text, "xz", &choice), PENCILFFT_OK);
        CHECK_INT(pf_choice_settle(cases[i].shape, &choice), PENCILFFT_OK);
        CHECK_INT(choice.axis, cases[i].axis);
    }
}

static const struct {
    const struct pf_shape *shape;
    const char *text, *says;
} refused[] = {
    {&shape, "teleport", "unknown schedule 'teleport'"},
    {&shape, "sequence:2", "nothing may follow sequence"},
    {&shape, "overlap:0", "from 1 to 256"},
    {&shape, "overlap:257", "from 1 to 256"},
    {&shape, "overlap:2:y", "an axis, x, z or field"},
    {&shape, "overlap:1,,2", "their sizes"},
    {&shape, "overlap:1,2,", "their sizes"},
    {&shape, "overlap:1,1001", "from 1 to 1000"},
    {&shape, "overlap:13", "x: 12, z: 6, field: 3"},
    {&shape, "overlap:7:z", "too short for 7 chunks"},
    {&shape, "pipelined:x", "as in pipelined:4"},
    {&shape, "two-way:0", "at least 1"},
    {&shape, "two-way:40", "1 to 39"},
    {&shape, "two-way:576460752303423487", "1 to 39"}, /* INT64_MAX / 16 */
    {&shape, "two-way:576460752303423488", "at least 1"},
    {&slabs, "two-way", "decomposition slab cannot go two ways"},
    {&slabs, "opposite", "decomposition slab cannot go two ways"},
};

static void what_cannot_be_is_refused_with_the_reason(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct pf_choice choice;
        int status = pf_choice_read(refused[i].text, "xz", &choice);
        CHECK((status ? status : pf_choice_settle(refused[i].shape, &choice)) != PENCILFFT_OK);
        CHECK_CONTAINS(pf_message(), refused[i].says);
    }
}

/* By hand: sizes 1 2 4 of 10 end at 10/7, 30/7 and 10; an extent beyond 2^53 loses nothing. */
static void blocks_are_cut_by_relative_sizes(void)
{
    struct pf_choice choice;
    CHECK_INT(pf_choice_read("overlap:1,2,4", "xz", &choice), PENCILFFT_OK);
    const int64_t starts[] = {0, 1, 4, 10};
    for (int k = 0; k <= 3; k++)
        CHECK_INT(pf_chunk_start(&choice, 10, k), starts[k]);
    CHECK(pf_chunk_start(&choice, INT64_MAX / 7 * 7, 2) == INT64_MAX / 7 * 3);
}

/* ---- moves ---------------------------------------------------------------------------------------------------------- */

enum { LANES = 3, EXCHANGES = 2 };

struct moves {
    int passes[EXCHANGES + 1][LANES], started[EXCHANGES][LANES], finished[EXCHANGES][LANES], in_flight, most;
};

/* The requirements of a move are done before. */
static void note(void *list, enum pf_move move, int at, int lane)
{
    struct moves *m = list;
    for (int l = lane < 0 ? 0 : lane; l <= (lane < 0 ? LANES - 1 : lane); l++)
        switch (move) {
        case PF_DO_PASS:
            CHECK(at == 0 || m->finished[at - 1][l]);
            m->passes[at][l]++;
            break;
        case PF_DO_START:
            CHECK(m->passes[at][l] && !m->started[at][l]);
            m->started[at][l]++;
            m->in_flight += at == 0;
            m->most = m->in_flight > m->most ? m->in_flight : m->most;
            break;
        default:
            CHECK(m->started[at][l]);
            m->finished[at][l]++;
            m->in_flight -= at == 0;
        }
}

static void all_is_done_once_and_in_order(const char *text, int whole_pass, int most_in_flight)
{
    struct moves m = {.in_flight = 0};
    struct pf_choice choice;
    struct pf_order order = {.lanes = LANES, .exchanges = EXCHANGES, .add = note, .list = &m};
    for (int pass = 0; pass <= EXCHANGES; pass++)
        order.by_lane[pass] = pass != whole_pass;
    CHECK_INT(pf_choice_read(text, "xz", &choice), PENCILFFT_OK);
    choice.schedule->order(&order);
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i <= EXCHANGES; i++) {
            CHECK_INT(m.passes[i][l], 1);
            CHECK(i == EXCHANGES || (m.started[i][l] == 1 && m.finished[i][l] == 1));
        }
    CHECK_INT(m.most, most_in_flight);
}

int main(void)
{
    texts_read_and_settle();
    chunks_are_cut_along_the_first_axis_that_is_long_enough();
    what_cannot_be_is_refused_with_the_reason();
    blocks_are_cut_by_relative_sizes();
    for (int whole = 0; whole <= EXCHANGES; whole += EXCHANGES) {
        all_is_done_once_and_in_order("overlap", whole, 1);
        all_is_done_once_and_in_order("pipelined", whole, 1);
        all_is_done_once_and_in_order("two-way", whole, LANES);
    }
    all_is_done_once_and_in_order("overlap", -1, 1);
    return check_result();
}
