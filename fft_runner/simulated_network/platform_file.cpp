#include "platform_file.hpp"

#include "common/message.h"
#include "common/torus.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>

namespace pencilmap
{

namespace
{

constexpr long max_nodes = 1L << 20; /* keeps node numbers and link names far from any overflow */

/* One value for each dimension, or a single value for all. */
template <typename T, typename Reader>
std::vector<T> for_each_dimension(const std::string &text, int dimension_count, Reader read_one)
{
    std::vector<T> values;
    for (const std::string &word : words(text))
        values.push_back(read_one(word));
    if (values.size() == 1)
        values.resize(dimension_count, values[0]);
    if (static_cast<int>(values.size()) != dimension_count)
        throw ValueError("'" + text + "' has " + std::to_string(values.size()) + " values; give 1 or " +
                         std::to_string(dimension_count) + ", as shape has dimensions");
    return values;
}

void read_shape(Platform &platform, const std::string &text)
{
    ::torus &shape = platform.torus.shape;
    if (torus_parse(text.c_str(), &shape))
        throw ValueError("of " + std::string(pf_message()));
    if (torus_nodes(&shape) > max_nodes)
        throw ValueError("'" + text + "' has more than " + std::to_string(max_nodes) + " nodes");
}

void read_bandwidth(Platform &platform, const std::string &text)
{
    platform.bandwidth_bytes_per_s = for_each_dimension<double>(text, platform.torus.shape.dims, positive);
}

void read_cables(Platform &platform, const std::string &text)
{
    platform.cables = for_each_dimension<int>(text, platform.torus.shape.dims,
                                              [](const std::string &word) { return whole(word, 1, 1000); });
}

void read_order(Platform &platform, const std::string &text)
{
    const int dimensions = platform.torus.shape.dims;
    std::vector<int> order;
    for (const std::string &word : words(text))
        order.push_back(whole(word, 0, dimensions - 1));
    std::vector<int> sorted = order, all(dimensions);
    std::sort(sorted.begin(), sorted.end());
    std::iota(all.begin(), all.end(), 0);
    if (sorted != all)
        throw ValueError("'" + text + "' must name each dimension from 0 to " + std::to_string(dimensions - 1) + " once");
    platform.torus.order = order;
}

void read_tie(Platform &platform, const std::string &text)
{
    if (text != "parity" && text != "plus")
        throw ValueError("'" + text + "' must be parity or plus");
    platform.torus.tie = text == "plus" ? Tie::plus : Tie::parity;
}

/* "2e-6", or with other costs from some bytes on "2e-6 8192:5e-6". */
void read_message_cost(Platform &platform, const std::string &text)
{
    for (const std::string &word : words(text)) {
        const size_t colon = word.find(':');
        const double from = colon == std::string::npos ? 0 : positive(word.substr(0, colon));
        if (!platform.message_s.insert({from, not_negative(word.substr(colon + 1))}).second)
            throw ValueError("'" + text + "' has two costs of one size");
    }
    if (!platform.message_s.count(0))
        throw ValueError("'" + text + "' lacks the cost of the smallest messages, a number without a colon");
}

/* Values are read in this order, for any order of the lines: shape sets the number of values of the others. */
const struct Key {
    const char *name;
    void (*read)(Platform &, const std::string &);
} keys[] = {
    {"shape", read_shape},
    {"bandwidth_bytes_per_s", read_bandwidth},
    {"cables", read_cables},
    {"latency_s", [](Platform &p, const std::string &text) { p.latency_s = not_negative(text); }},
    {"injection_bytes_per_s", [](Platform &p, const std::string &text) { p.injection_bytes_per_s = not_negative(text); }},
    {"loopback_bytes_per_s", [](Platform &p, const std::string &text) { p.loopback_bytes_per_s = positive(text); }},
    {"speed_flops", [](Platform &p, const std::string &text) { p.speed_flops = positive(text); }},
    {"message_s", read_message_cost},
    {"ports", [](Platform &p, const std::string &text) { p.ports = whole(text, 1, 1000); }},
    {"tie", read_tie},
    {"order", read_order},
    {"usage_file", [](Platform &p, const std::string &text) { p.usage_file = text; }},
    {"routes", [](Platform &p, const std::string &text) { p.routes_file = text; }},
};

std::string key_names()
{
    std::string names;
    for (const Key &key : keys)
        names += (names.empty() ? "" : ", ") + std::string(key.name);
    return names;
}

bool is_key(const std::string &name)
{
    return std::any_of(std::begin(keys), std::end(keys), [&](const Key &key) { return name == key.name; });
}

struct Line {
    int number;
    std::string value;
};

std::map<std::string, Line> read_lines(std::istream &text, const std::string &name)
{
    std::map<std::string, Line> lines;
    int line_number = 0;
    for (std::string line; std::getline(text, line);) {
        const std::string where = name + " line " + std::to_string(++line_number) + ": ";
        line = trimmed(line.substr(0, line.find('#')));
        if (line.empty())
            continue;
        const size_t equals = line.find('=');
        const std::string key = trimmed(line.substr(0, equals));
        const std::string value = equals == std::string::npos ? "" : trimmed(line.substr(equals + 1));
        if (equals == std::string::npos || value.empty())
            throw PlatformFileError(where + "'" + line + "' is not of the form 'key = value'");
        if (!is_key(key))
            throw PlatformFileError(where + "unknown key '" + key + "'; known are " + key_names());
        if (!lines.insert({key, {line_number, value}}).second)
            throw PlatformFileError(where + key + " is given twice, first in line " + std::to_string(lines[key].number));
    }
    if (text.bad())
        throw PlatformFileError(name + ": cannot be read to its end");
    return lines;
}

/* A network is a shape, or a file of routes. */
void check_network(const std::map<std::string, Line> &lines, const std::string &name)
{
    if (!lines.count("routes")) {
        for (const char *needed : {"shape", "bandwidth_bytes_per_s"})
            if (!lines.count(needed))
                throw PlatformFileError(name + ": " + needed + " is missing");
        return;
    }
    for (const char *key :
         {"shape", "cables", "latency_s", "injection_bytes_per_s", "bandwidth_bytes_per_s", "tie", "order"})
        if (lines.count(key))
            throw PlatformFileError(name + " line " + std::to_string(lines.at(key).number) + ": " + key +
                                    " belongs to a shape, and routes are given; leave one of the two out");
}

} // namespace

Platform read_platform(std::istream &text, const std::string &name)
{
    const std::map<std::string, Line> lines = read_lines(text, name);
    check_network(lines, name);
    Platform platform;
    for (const Key &key : keys) {
        const auto line = lines.find(key.name);
        if (line == lines.end())
            continue;
        try {
            key.read(platform, line->second.value);
        } catch (const ValueError &error) {
            throw PlatformFileError(name + " line " + std::to_string(line->second.number) + ": " + key.name + " " +
                                    error.what());
        }
    }
    if (platform.cables.empty())
        platform.cables.assign(platform.torus.shape.dims, 1);
    if (platform.torus.order.empty()) {
        platform.torus.order.resize(platform.torus.shape.dims);
        std::iota(platform.torus.order.begin(), platform.torus.order.end(), 0);
    }
    return platform;
}

} // namespace pencilmap
