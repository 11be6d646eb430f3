/* A network as a table: hosts, links, and the links that the messages between each two hosts use. No SimGrid. The text file:
 * README.md. */
#pragma once

#include "values.hpp"

#include <istream>
#include <string>
#include <vector>

namespace pencilmap
{

struct RouteTable {
    struct Link {
        std::string name;
        double bandwidth_bytes_per_s;
    };
    struct Route {
        bool given = false;
        double latency_s = 0;
        std::vector<int> links; /* numbers; a link that is used several times comes several times */
    };
    std::vector<std::string> hosts;
    std::vector<Link> links;
    std::vector<Route> routes; /* at source * hosts + target */

    const Route &route(size_t source, size_t target) const
    {
        return routes[source * hosts.size() + target];
    }
};

RouteTable read_route_table(std::istream &text, const std::string &name);

} // namespace pencilmap
