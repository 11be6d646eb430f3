/* A table of routes of the simulated network: a table that is read has every route, of links that exist. */
#include "simulated_network/route_table.hpp"

#include "target.h"

#include <sstream>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    std::istringstream text(std::string(reinterpret_cast<const char *>(data), size));
    try {
        const pencilmap::RouteTable table = pencilmap::read_route_table(text, "input");
        const size_t hosts = table.hosts.size();
        target_hold(hosts > 0 && (hosts == 1 || table.routes.size() == hosts * hosts), "each pair of hosts has a place");
        for (const auto &link : table.links)
            target_hold(link.bandwidth_bytes_per_s > 0, "a link has a rate");
        for (size_t i = 0; i < table.routes.size(); i++) {
            const auto &route = table.route(i / hosts, i % hosts);
            target_hold(route.given || i / hosts == i % hosts, "a route is given");
            target_hold(route.latency_s >= 0, "a latency is not negative");
            for (const int link : route.links)
                target_hold(link >= 0 && static_cast<size_t>(link) < table.links.size(), "a route has links of the table");
        }
    } catch (const pencilmap::PlatformFileError &) {
    }
    return 0;
}
