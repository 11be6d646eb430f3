/* The text file that describes a simulated network: `key = value` lines, `#` starts a comment. No SimGrid.
 * Every key and its meaning: README.md. Units are part of the key; all are SI.
 */
#pragma once

#include "torus.hpp"

#include <istream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace pencilmap
{

struct Platform {
    Torus torus;
    std::vector<double> bandwidth_bytes_per_s; /* of one link, for each dimension */
    std::vector<int> cables;                   /* between neighbours, for each dimension; they act as one wider cable */
    double latency_s = 0;                      /* of one hop */
    double injection_bytes_per_s = 0;          /* into a node and out of it, each; 0: no limit */
    double loopback_bytes_per_s = 1e15;        /* of one message between two ranks of a node */
    double speed_flops = 1e9;
    std::map<double, double> message_s;        /* what a rank takes to start a message, from so many bytes on */
    int ports = 1;                             /* messages that a rank starts at a time */
    std::string usage_file; /* where the bytes of every link are written at the end; empty: nowhere */
};

/* The message says file, line, what was given and what is allowed. */
class PlatformFileError : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

Platform read_platform(std::istream &text, const std::string &name);

} // namespace pencilmap
