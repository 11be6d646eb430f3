// pencilfft.hpp under mpirun, on any number of ranks.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <pencilfft.hpp>

using pencilfft::direction;
using complex = std::complex<double>;

static int failures;

static void expect(bool truth, const char *what)
{
    if (!truth)
        std::printf("not true: %s\n", what), failures++;
}

template <class Function> static void refused(pencilfft_status status, const char *words, Function function)
{
    try {
        function();
        expect(false, words);
    } catch (const pencilfft::error &wrong) {
        if (wrong.status() != status || !std::strstr(wrong.what(), words))
            std::printf("%d, not %d with '%s': %s\n", wrong.status(), status, words, wrong.what()), failures++;
    }
}

template <class Owner> static constexpr bool is_only_moved()
{
    return !std::is_copy_constructible_v<Owner> && !std::is_copy_assignable_v<Owner> &&
           std::is_nothrow_move_constructible_v<Owner> && std::is_nothrow_move_assignable_v<Owner>;
}
static_assert(is_only_moved<pencilfft::plan>() && is_only_moved<pencilfft::halo>() &&
              is_only_moved<pencilfft::line_plan>() && is_only_moved<pencilfft::brick_lines_plan>() &&
              is_only_moved<pencilfft::buffer<float>>());
static_assert(!std::is_convertible_v<int, pencilfft::array_number> && !std::is_convertible_v<int, direction>);

static pencilfft::plan made(const char *type, const char *schedule = nullptr)
{
    pencilfft::description wanted(12, 10, 9);
    wanted.type = type;
    wanted.schedule = schedule;
    wanted.rigor = "estimate", wanted.nonblocking = 1;
    return pencilfft::plan(wanted, MPI_COMM_WORLD);
}

// The derivative of sin(2x) along x, in a new array and in place.
static void a_derivative(const char *schedule)
{
    auto plan = made("c2c", schedule);
    double step = 2 * std::acos(-1.0) / 12;
    auto f = plan.make<complex>(pencilfft::input), f_hat = plan.make<complex>(pencilfft::output);
    std::int64_t elements = 0;
    for (const auto &w : plan.elements(pencilfft::input))
        f[w.at] = std::sin(2 * step * static_cast<double>(w.index[0])), elements++;
    expect(elements == static_cast<std::int64_t>(f.size()) && f.end() - f.begin() == elements, "a walk meets all elements");
    plan.forward(f, f_hat);
    plan.forward(f.data(), f.data());
    for (const auto &w : plan.elements(pencilfft::output)) {
        expect(std::abs(f[w.at] - f_hat[w.at]) < 1e-12, "in place is alike");
        f[w.at] *= complex(0, w.waves[0]) / plan.scale();
    }
    plan.backward(f.data(), f.data());
    for (const auto &w : plan.elements(pencilfft::input))
        expect(std::abs(f[w.at] - 2 * std::cos(2 * step * static_cast<double>(w.index[0]))) < 1e-12, "the derivative");
}

static void plans_are_moved()
{
    auto plan = made("r2c"), other = made("dct");
    pencilfft_plan handle = plan.get();
    other = std::move(plan);
    expect(other.get() == handle && other.box(pencilfft::input).extent[2] == 9, "a plan is moved");
    pencilfft::plan last = std::move(other);
    expect(last.get() == handle && !other, "a plan that was moved away is empty");
    last.reset();
    refused(PENCILFFT_BAD_CALL, "null plan", [&] { last.scale(); });
}

static void what_a_plan_tells(int rank, int ranks)
{
    auto plan = made("r2c");
    expect(plan.grid()[0] * plan.grid()[1] == ranks && plan.threads() == 1, "the grid");
    expect(plan.exchanges() == std::vector<std::string>{"row", "column"} && plan.exchange_chosen(0) == "alltoallv",
           "exchanges");
    expect(plan.schedule_chosen() == "sequence" && plan.text().find("DFT") != std::string::npos, "texts");
    expect(plan.box(pencilfft::output, rank).extent[1] == plan.box(pencilfft::output).extent[1], "boxes");
    expect(plan.parts(pencilfft::output).size() == 1 && plan.format(pencilfft::output).n[2] == 5, "parts and format");
    expect(plan.line(2).kind == PENCILFFT_LINE_R2C && plan.waves(0, 11) == -1 && plan.scale() == 12 * 10 * 9, "numbers");
    auto sent = plan.traffic(PENCILFFT_ROW, direction::forward);
    expect(static_cast<int>(sent.bytes.size()) == ranks && sent.bytes[static_cast<std::size_t>(rank)] == 0, "traffic");
    expect(pencilfft::names_of(pencilfft_type_name).front() == "c2c", "names");
    expect(pencilfft::names_of(pencilfft_line_kind_name).front() == "none", "kinds along an axis");
    expect(made("dst1,c2c,r2c").line(0).kind == PENCILFFT_LINE_SINE, "a kind for each axis");
    auto f = plan.make<double>(pencilfft::input);
    auto f_hat = plan.make<complex>(pencilfft::output);
    std::fill(f.begin(), f.end(), 1.0);
    plan.forward(f, f_hat);
    auto phases = plan.phase_seconds();
    expect(phases.front().first == "fft_z" && phases.size() == 14, "phases");
    pencilfft::description rounded(12, 10, 9);
    rounded.exchange_precision = "single", rounded.rigor = "estimate";
    double error = pencilfft::plan(rounded, MPI_COMM_WORLD).exchange_error();
    expect(error <= 2 * std::ldexp(1.0, -24) && (error > 0) == (ranks > 1) && plan.exchange_error() == 0, "its error");
}

// Interleaved components of arrays of two dimensions, in work memory of the program.
static void two_dimensions()
{
    pencilfft::description wanted(12, 10);
    wanted.fields = 2, wanted.interleaved = 1, wanted.caller_work = 1, wanted.rigor = "estimate";
    pencilfft::plan plan(wanted, MPI_COMM_WORLD);
    std::vector<complex> work(static_cast<std::size_t>(plan.work_bytes(true)) / sizeof(complex) + 1);
    auto f = plan.make<complex>(pencilfft::input), f_hat = plan.make<complex>(pencilfft::output);
    if (plan.work_bytes() > 0)
        refused(PENCILFFT_BAD_CALL, "pencilfft_set_work() with memory", [&] { plan.forward(f, f_hat); });
    plan.set_work(work.data(), plan.work_bytes(true));
    expect(plan.format(pencilfft::input).field_stride == 1 && plan.format(pencilfft::input).n[2] == 1, "the format");
    for (const auto &w : plan.elements(pencilfft::input))
        f[w.at] = complex(static_cast<double>(w.index[0]), w.field);
    plan.forward(f, f_hat);
    plan.set_norm(direction::backward, PENCILFFT_NORM_N);
    plan.backward(f_hat.data(), f_hat.data());
    for (const auto &w : plan.elements(pencilfft::input))
        expect(std::abs(f_hat[w.at] - f[w.at]) < 1e-12 && w.waves[0] == 0, "two dimensions and back, in place");
}

static void pairs_transposes_and_halos(int ranks)
{
    auto plan = made("c2c", "opposite");
    auto a = plan.make<complex>(pencilfft::input), c = plan.make<complex>(pencilfft::output);
    auto d = plan.make<complex>(pencilfft::output), e = plan.make<complex>(pencilfft::input);
    for (const auto &w : plan.elements(pencilfft::input))
        a[w.at] = complex(static_cast<double>(w.index[0]), static_cast<double>(w.index[2]));
    plan.forward(a, d);
    plan.execute_pair(a.data(), c.data(), d.data(), e.data());
    auto again = plan.make<complex>(pencilfft::output), back = plan.make<complex>(pencilfft::input);
    plan.set_norm(direction::backward, PENCILFFT_NORM_N);
    plan.start_pair(a.data(), again.data(), d.data(), back.data());
    plan.progress();
    plan.wait();
    expect(std::equal(c.begin(), c.end(), again.begin()), "a pair in flight");
    plan.start_backward(d.data(), back.data());
    plan.wait();
    for (const auto &w : plan.elements(pencilfft::input))
        expect(std::abs(back[w.at] - a[w.at]) < 1e-12, "backward, divided by N");
    expect(plan.grid_trials().empty(), "no grid was tried");
    for (const auto &w : plan.elements(pencilfft::input))
        expect(std::abs(e[w.at] / plan.scale() - a[w.at]) < 1e-12, "backward in a pair");
    plan.transpose(PENCILFFT_ROW, direction::forward, d.data(), c.data());
    MPI_Comm column = plan.group(PENCILFFT_COLUMN);
    int members;
    MPI_Comm_size(column, &members);
    expect(members == plan.grid()[1], "the ranks of a column");
    MPI_Comm_free(&column);
    auto walled = plan.make_halo(pencilfft::input, {1, 0, 0}, {0, 0, 0}, "x");
    auto ghosts = walled.make<complex>();
    std::fill(ghosts.begin(), ghosts.end(), complex(-1, 0));
    walled.exchange(a.data(), ghosts.data());
    expect(ghosts.size() == 0 || std::abs(ghosts[0].real() - static_cast<double>(walled.part().box.offset[0])) < 1e-15,
           "behind the wall at x = -1 nothing is written");
    auto halo = plan.make_halo(pencilfft::input, {1, 0, 2}, {0, 1, 0});
    auto wide = halo.make<complex>();
    halo.exchange(a.data(), wide.data());
    pencilfft_box box = halo.part().box;
    expect(wide.size() == 0 || std::abs(wide[0] - complex(static_cast<double>((box.offset[0] + 12) % 12),
                                                          static_cast<double>((box.offset[2] + 9) % 9))) < 1e-15,
           "a corner of the halo");
    refused(PENCILFFT_BAD_CALL, "the given type is real of 8 bytes", [&] { halo.make<double>(); });
    refused(PENCILFFT_BAD_CALL, "the given type is complex of 8 bytes",
            [&] { halo.exchange<std::complex<float>>(nullptr, nullptr); });
    halo.accumulate(wide.data(), a.data());
    expect(static_cast<int>(halo.traffic(direction::backward).messages.size()) == ranks, "the traffic of a halo");
}

static void lines(int ranks)
{
    pencilfft::line_plan line(pencilfft::line_description(60), MPI_COMM_WORLD);
    pencilfft::brick_lines_plan bricks(pencilfft::brick_lines_description(12, 5, 1, {ranks, 1, 1}), MPI_COMM_WORLD);
    auto a = line.make<double>(), b = bricks.make<double>();
    std::fill(a.begin(), a.end(), 1.0);
    std::fill(b.begin(), b.end(), 1.0);
    line.execute(direction::forward, a.data(), a.data());
    line.execute(direction::backward, a.data(), a.data());
    bricks.execute(direction::forward, b.data(), b.data());
    bricks.execute(direction::backward, b.data(), b.data());
    expect(std::abs(a[0] - 60.0) < 1e-12 && std::abs(b[0] - 60.0) < 1e-12, "lines and bricks go forth and back");
    std::complex<float> *no = nullptr;
    refused(PENCILFFT_BAD_CALL, "precision double", [&] { line.execute(direction::forward, no, no); });
}

static void what_is_refused()
{
    refused(PENCILFFT_UNKNOWN_NAME, "type 'wish'", [] { made("wish"); });
    auto plan = made("r2c");
    auto f = plan.make<double>(pencilfft::input);
    refused(PENCILFFT_BAD_CALL, "has real elements of 8 bytes; the given type is complex of 16 bytes",
            [&] { plan.make<complex>(pencilfft::input); });
    refused(PENCILFFT_BAD_CALL, "has complex elements of 16 bytes", [&] { plan.forward(f, f); });
    auto f_hat = plan.make<complex>(pencilfft::output);
    pencilfft::buffer<double> small(1, 8);
    refused(PENCILFFT_BAD_CALL, "a buffer has 8 bytes, and the array has", [&] { plan.forward(small, f_hat); });
    refused(PENCILFFT_BAD_CALL, "a buffer has 8 bytes, and the array has", [&] { plan.backward(f_hat, small); });
    refused(PENCILFFT_BAD_CALL, "array", [&] { plan.box(pencilfft::array_number(9)); });
    refused(PENCILFFT_BAD_CALL, "/nowhere", [] { pencilfft::save_wisdom("/nowhere/wisdom", MPI_COMM_WORLD); });
    expect(!pencilfft::load_wisdom("/nowhere/wisdom", MPI_COMM_WORLD), "there is no wisdom");
    try { // a destructor is not collective while an exception unwinds the stack
        auto alone = made("c2c");
        throw 1;
    } catch (int) {
    }
}

int main(int argc, char **argv)
{
    int rank, ranks;
    refused(PENCILFFT_BAD_CALL, "MPI", [] { made("c2c"); });
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (const char *schedule : {"sequence", "two-way"})
        a_derivative(schedule);
    plans_are_moved();
    what_a_plan_tells(rank, ranks);
    two_dimensions();
    pairs_transposes_and_halos(ranks);
    lines(ranks);
    what_is_refused();
    MPI_Finalize();
    std::printf("%d failures\n", failures);
    return failures > 0;
}
