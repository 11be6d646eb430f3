/* The text file that describes a simulated network: `key = value` lines, `#` starts a comment. No SimGrid. Every key and its
 * meaning: README.md. Units are part of the key; all are SI. */
#pragma once

#include "torus.hpp"
#include "values.hpp"

#include <istream>
#include <map>
#include <string>
#include <vector>

namespace pencilmap
{

struct Platform {
    std::string routes_file; /* file of hosts, links and routes (route_table.hpp); empty: a torus */
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

} // namespace pencilmap
