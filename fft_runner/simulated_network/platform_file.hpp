/* The text files of a simulated network. No SimGrid. Every key and its meaning, and the lines of a table: README.md. Units
 * are part of the key; all are SI. */
#pragma once

#include "torus.hpp"

#include <istream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace pencilmap
{

/* The message gives file, line, the value and the allowed values. */
class PlatformFileError : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/* `key = value` lines; `#` starts a comment. */
struct Platform {
    std::string routes_file; /* file of hosts, links and routes (RouteTable); empty: a torus */
    Torus torus;
    std::vector<double> bandwidth_bytes_per_s; /* of a link, for each dimension */
    std::vector<int> cables; /* between neighbours, for each dimension; they act as a wider cable */
    double latency_s = 0; /* of a hop */
    double injection_bytes_per_s = 0; /* into a node and out of a node, each; 0: no limit */
    double loopback_bytes_per_s = 1e15; /* of a message between two ranks of a node */
    double speed_flops = 1e9;
    std::map<double, double> message_s; /* time of a rank to start a message, from so many bytes on */
    int ports = 1; /* messages that a rank starts at a time */
    std::string usage_file; /* file for the bytes of every link at the end; empty: none */
};

Platform read_platform(std::istream &text, const std::string &name);

/* A network as a table: hosts, links, and the links that the messages between each two hosts use. */
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
