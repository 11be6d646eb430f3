/* The readers of simulated networks, for readers.c. */
#include "simulated_network/platform_file.hpp"

#include <cassert>
#include <sstream>

/* A platform has a rate and cables for each dimension. */
extern "C" void read_platform(const char *bytes, size_t size)
{
    std::istringstream text(std::string(bytes, size));
    try {
        const pencilmap::Platform platform = pencilmap::read_platform(text, "input");
        const size_t dims = static_cast<size_t>(platform.torus.shape.dims);
        assert(platform.bandwidth_bytes_per_s.size() == dims && platform.cables.size() == dims &&
               platform.torus.order.size() == dims);
        for (size_t i = 0; i < dims; i++)
            assert(platform.bandwidth_bytes_per_s[i] > 0 && platform.cables[i] > 0);
    } catch (const pencilmap::PlatformFileError &) {
    }
}

/* A table has every route, of links that exist. */
extern "C" void read_routes(const char *bytes, size_t size)
{
    std::istringstream text(std::string(bytes, size));
    try {
        const pencilmap::RouteTable table = pencilmap::read_route_table(text, "input");
        const size_t hosts = table.hosts.size();
        assert(hosts > 0 && (hosts == 1 || table.routes.size() == hosts * hosts));
        for (const auto &link : table.links)
            assert(link.bandwidth_bytes_per_s > 0);
        for (size_t i = 0; i < table.routes.size(); i++) {
            const auto &route = table.route(i / hosts, i % hosts);
            assert((route.given || i / hosts == i % hosts) && route.latency_s >= 0);
            for (const int link : route.links)
                assert(link >= 0 && static_cast<size_t>(link) < table.links.size());
        }
    } catch (const pencilmap::PlatformFileError &) {
    }
}
