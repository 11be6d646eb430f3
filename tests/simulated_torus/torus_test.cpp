/* Routes and platform files against pen and paper. Exit status 0 and one line if all hold. */
#include "platform_file.hpp"
#include "torus.hpp"

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>

using namespace pencilmap;

static int failures = 0;

static void expect(bool holds, const std::string &what)
{
    if (!holds) {
        std::cerr << "FAIL " << what << "\n";
        failures++;
    }
}

static Platform platform(const std::string &text)
{
    std::istringstream stream(text);
    return read_platform(stream, "test.txt");
}

static Torus make_torus(const std::string &shape, const std::string &more = "")
{
    return platform("shape = " + shape + "\nbandwidth_bytes_per_s = 1\n" + more).torus;
}

using Coordinate = std::vector<int>;

static ::coordinate packed(const Coordinate &coordinate)
{
    ::coordinate result = {static_cast<int>(coordinate.size()), {}};
    std::copy(coordinate.begin(), coordinate.end(), result.at);
    return result;
}

static int node_of(const Torus &torus, const ::coordinate &coordinate)
{
    return static_cast<int>(torus_node(&torus.shape, &coordinate));
}

/* "0-0:0+ 1-0:0+": the node that each link leaves, its dimension, its direction. */
static std::string route_text(const Torus &torus, const Coordinate &source, const Coordinate &target)
{
    std::string text;
    for (const Hop &hop : route(torus, node_of(torus, packed(source)), node_of(torus, packed(target))))
        text += (text.empty() ? "" : " ") + coordinate_text(torus_coordinate(&torus.shape, hop.node)) + ":" +
                std::to_string(hop.dimension) + (hop.direction > 0 ? "+" : "-");
    return text;
}

static void routes_are_those_drawn_by_hand()
{
    static const struct {
        const char *shape, *more;
        Coordinate source, target;
        const char *route;
    } cases[] = {
        {"8", "", {1}, {1}, ""},
        {"8", "", {6}, {1}, "6:0+ 7:0+ 0:0+"},
        {"8", "", {1}, {6}, "1:0- 0:0- 7:0-"},
        {"4", "", {0}, {2}, "0:0+ 1:0+"}, /* ties */
        {"4", "", {1}, {3}, "1:0- 0:0-"},
        {"4", "", {2}, {0}, "2:0+ 3:0+"},
        {"4", "", {3}, {1}, "3:0- 2:0-"},
        {"4", "tie = plus", {1}, {3}, "1:0+ 2:0+"},
        {"5", "", {4}, {1}, "4:0+ 0:0+"}, /* an odd ring has no tie */
        {"8:mesh", "", {6}, {1}, "6:0- 5:0- 4:0- 3:0- 2:0-"},
        {"4x3", "", {3, 0}, {0, 2}, "3-0:0+ 0-0:1-"}, /* first dimension first */
        {"4x3", "order = 1 0", {3, 0}, {0, 2}, "3-0:1- 3-2:0+"},
        {"4wx3", "", {3, 0}, {0, 2}, "3-0:0+ 0-0:1+ 0-1:1+"}, /* the second is a mesh */
        {"4x4", "", {1, 2}, {3, 0}, "1-2:0- 0-2:0- 3-2:1+ 3-3:1+"}, /* each ring has its own tie */
        {"4x1x3", "", {0, 0, 0}, {1, 0, 2}, "0-0-0:0+ 1-0-0:2-"},
        {"2", "", {0}, {1}, "0:0+"}, /* one cable, there and back, whatever the tie rule */
        {"2", "", {1}, {0}, "1:0-"},
        {"2", "tie = plus", {1}, {0}, "1:0-"},
        {"2x2x2x2x3", "", {1, 1, 1, 1, 0}, {0, 1, 1, 0, 2}, "1-1-1-1-0:0- 0-1-1-1-0:3- 0-1-1-0-0:4-"},
    };
    for (const auto &c : cases) {
        const std::string got = route_text(make_torus(c.shape, c.more), c.source, c.target);
        expect(got == c.route, std::string(c.shape) + " " + c.more + " from " + coordinate_text(packed(c.source)) + " to " +
                                   coordinate_text(packed(c.target)) + ": " + got + ", by hand " + c.route);
    }
}

static int distance(const Torus &torus, const ::coordinate &a, const ::coordinate &b)
{
    int hops = 0;
    for (int d = 0; d < torus.shape.dims; d++) {
        const int straight = std::abs(a.at[d] - b.at[d]);
        hops += torus.shape.wrapped[d] ? std::min(straight, torus.shape.extent[d] - straight) : straight;
    }
    return hops;
}

/* Every pair: follows links that exist, ends at the target, is shortest. */
static void routes_are_shortest_and_use_existing_links(const std::string &shape, const std::string &more)
{
    const Torus t = make_torus(shape, more);
    const std::string name = shape + " " + more + ": ";
    for (int source = 0; source < torus_nodes(&t.shape); source++)
        for (int target = 0; target < torus_nodes(&t.shape); target++) {
            const auto hops = route(t, source, target);
            ::coordinate here = torus_coordinate(&t.shape, source);
            for (const Hop &hop : hops) {
                expect(hop.node == node_of(t, here), name + "the route is connected");
                expect(t.has_link(hop.node, hop.dimension, hop.direction), name + "the link exists");
                int &moved = here.at[hop.dimension];
                moved = (moved + hop.direction + t.shape.extent[hop.dimension]) % t.shape.extent[hop.dimension];
            }
            expect(node_of(t, here) == target, name + "the route ends at its target");
            expect(static_cast<int>(hops.size()) ==
                       distance(t, torus_coordinate(&t.shape, source), torus_coordinate(&t.shape, target)),
                   name + "the route is shortest");
        }
}

/* All to all on a ring of n nodes puts n^2/8 messages on a link on average. Where 4 divides n, the parity rule gives each
 * link just that; elsewhere the average is no whole number of messages, and links differ by one. */
static void parity_loads_the_links_of_a_ring_alike(int extent)
{
    const Torus ring = make_torus(std::to_string(extent));
    std::map<std::pair<int, int>, int> load;
    for (int source = 0; source < extent; source++)
        for (int target = 0; target < extent; target++)
            for (const Hop &hop : route(ring, source, target))
                load[{hop.node, hop.direction}]++;
    expect(static_cast<int>(load.size()) == 2 * extent, "a ring has two links for each node");
    const int least = extent * extent / 8, most = (extent * extent + 7) / 8;
    for (const auto &entry : load)
        expect(entry.second == least || entry.second == most, "ring of " + std::to_string(extent) + " is loaded evenly");
}

static void link_count_is(const std::string &shape, int links)
{
    const Torus t = make_torus(shape);
    int count = 0;
    for (int node = 0; node < torus_nodes(&t.shape); node++)
        for (int d = 0; d < t.shape.dims; d++)
            count += t.has_link(node, d, +1) + t.has_link(node, d, -1);
    expect(count == links, shape + " has " + std::to_string(count) + " links, not " + std::to_string(links));
}

static void node_numbers_run_with_the_first_dimension_fastest()
{
    const Torus t = make_torus("2x3x4");
    expect(node_of(t, packed({1, 0, 0})) == 1 && node_of(t, packed({0, 1, 0})) == 2 && node_of(t, packed({0, 0, 1})) == 6,
           "node numbers");
    for (int node = 0; node < torus_nodes(&t.shape); node++)
        expect(node_of(t, torus_coordinate(&t.shape, node)) == node, "node numbers go round");
}

static void a_platform_file_is_read_whatever_the_order_of_its_lines()
{
    const Platform p = platform("# two dimensions\n"
                                "order = 1 0\n"
                                "bandwidth_bytes_per_s = 148e6 2e9  # x y\n"
                                "cables = 2\n\n"
                                "tie = plus\n"
                                "injection_bytes_per_s = 0\n"
                                "latency_s=1e-7\n"
                                "shape = 4wx3\n");
    expect(p.torus.shape.dims == 2 && p.torus.shape.extent[0] == 4 && p.torus.shape.extent[1] == 3 &&
               p.torus.shape.wrapped[0] && !p.torus.shape.wrapped[1],
           "shape");
    expect(p.torus.order == std::vector<int>{1, 0} && p.torus.tie == Tie::plus, "order and tie");
    expect(p.bandwidth_bytes_per_s == std::vector<double>{148e6, 2e9} && p.cables == std::vector<int>{2, 2}, "links");
    expect(p.latency_s == 1e-7 && p.injection_bytes_per_s == 0, "latency and injection");
}

static void bad_files_are_refused_with_line_and_reason()
{
    const std::string good = "shape = 4x4\nbandwidth_bytes_per_s = 1\n";
    static const struct {
        std::string text, message;
    } cases[] = {
        {"bandwidth_bytes_per_s = 1", "test.txt: shape is missing"},
        {"shape = 4", "test.txt: bandwidth_bytes_per_s is missing"},
        {good + "hops = 1", "test.txt line 3: unknown key 'hops'; known are shape, "},
        {good + "shape = 8x8", "test.txt line 3: shape is given twice, first in line 1"},
        {good + "tie", "test.txt line 3: 'tie' is not of the form 'key = value'"},
        {good + "tie =", "test.txt line 3: 'tie =' is not of the form"},
        {good + "tie = even", "line 3: tie 'even' must be parity or plus"},
        {good + "latency_s = fast", "line 3: latency_s 'fast' is not a number"},
        {good + "latency_s = 1us", "line 3: latency_s '1us' is not a number"},
        {good + "latency_s = nan", "line 3: latency_s 'nan' is not a number"},
        {good + "latency_s = -1", "line 3: latency_s '-1' must be 0 or above"},
        {good + "speed_flops = 0", "line 3: speed_flops '0' must be above 0"},
        {good + "order = 0 0", "line 3: order '0 0' must name each dimension from 0 to 1 once"},
        {good + "order = 0 2", "line 3: order '2' must be a whole number from 0 to 1"},
        {good + "cables = 0", "line 3: cables '0' must be a whole number from 1"},
        {"shape = 4x4\nbandwidth_bytes_per_s = 1 2 3", "line 2: bandwidth_bytes_per_s '1 2 3' has 3 values; give 1 or 2"},
        {"shape = 4x\nbandwidth_bytes_per_s = 1", "line 1: shape of torus '4x' is not understood"},
        {"shape = 4x0\nbandwidth_bytes_per_s = 1", "line 1: shape of torus '4x0' is not understood"},
        {"shape = 4x-4\nbandwidth_bytes_per_s = 1", "line 1: shape of torus '4x-4' is not understood"},
        {"shape = 4x4:ring\nbandwidth_bytes_per_s = 1", "shape of torus '4x4:ring' is not understood"},
        {"shape = 4wx4:mesh\nbandwidth_bytes_per_s = 1", "shape of torus '4wx4:mesh' is not understood"},
        {"shape = 2x2x2x2x2x2x2x2x2\nbandwidth_bytes_per_s = 1", "1 to 8 extents"},
        {"shape = 9999x9999\nbandwidth_bytes_per_s = 1", "has more than 1048576 nodes"},
        {"shape = 4x4:axes=xt\nbandwidth_bytes_per_s = 1", "shape of torus '4x4:axes=xt' is not understood"},
    };
    for (const auto &c : cases) {
        std::string message = "no error";
        try {
            platform(c.text);
        } catch (const PlatformFileError &error) {
            message = error.what();
        }
        expect(message.find(c.message) != std::string::npos, "'" + message + "' does not say '" + c.message + "'");
    }
}

int main()
{
    routes_are_those_drawn_by_hand();
    for (const char *shape : {"1", "2", "3x3", "4x3x2", "4x1x5", "6wx3", "5x4:mesh", "2x2x2x2x3"})
        for (const char *tie : {"parity", "plus"})
            routes_are_shortest_and_use_existing_links(shape, std::string("tie = ") + tie);
    for (int extent : {4, 6, 8, 10, 12, 16})
        parity_loads_the_links_of_a_ring_alike(extent);
    link_count_is("1", 0);
    link_count_is("2", 2);
    link_count_is("3", 6);
    link_count_is("3:mesh", 4);
    link_count_is("4x4x4", 384);
    node_numbers_run_with_the_first_dimension_fastest();
    a_platform_file_is_read_whatever_the_order_of_its_lines();
    bad_files_are_refused_with_line_and_reason();
    if (!failures)
        std::cout << "all routes and platform files as expected\n";
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
