#include "platform_file.hpp"

#include "common/message.h"
#include "common/torus.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <sstream>
#include <unordered_map>

namespace pencilmap
{

namespace
{

/* ---- words, numbers and lines ----------------------------------------------------------------------------------------- */

/* A value that cannot be read; the reader of the file adds file and line. */
class ValueError : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

double number(const std::string &text)
{
    size_t used = 0;
    double value = NAN;
    try {
        value = std::stod(text, &used);
    } catch (const std::logic_error &) { /* not a number, or outside double: refused below */
    }
    if (used != text.size() || !std::isfinite(value))
        throw ValueError("'" + text + "' is not a number");
    return value;
}

std::string trimmed(const std::string &text)
{
    const char *blank = " \t\r\v\f"; /* the blanks of words() in a line */
    const size_t first = text.find_first_not_of(blank);
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::vector<std::string> words(const std::string &text)
{
    std::istringstream stream(text);
    std::vector<std::string> result;
    for (std::string word; stream >> word;)
        result.push_back(word);
    return result;
}

double not_negative(const std::string &text)
{
    const double value = number(text);
    if (value < 0)
        throw ValueError("'" + text + "' must be 0 or above");
    return value;
}

double positive(const std::string &text)
{
    const double value = number(text);
    if (value <= 0)
        throw ValueError("'" + text + "' must be above 0");
    return value;
}

int whole(const std::string &text, long least, long most)
{
    const bool digits = !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
    const long value = digits ? std::stol(text) : least - 1;
    if (value < least || value > most)
        throw ValueError("'" + text + "' must be a whole number from " + std::to_string(least) + " to " +
                         std::to_string(most));
    return static_cast<int>(value);
}

/* Gives each line without its comment, unless it is empty, and adds file and line to what is wrong with it. */
void for_each_line(std::istream &text, const std::string &name, const std::function<void(const std::string &, int)> &take)
{
    int number = 0;
    for (std::string line; std::getline(text, line);) {
        number++;
        line = trimmed(line.substr(0, line.find('#')));
        try {
            if (!line.empty())
                take(line, number);
        } catch (const ValueError &error) {
            throw PlatformFileError(name + " line " + std::to_string(number) + ": " + error.what());
        }
    }
    if (text.bad())
        throw PlatformFileError(name + ": cannot be read to its end");
}

/* ---- the description -------------------------------------------------------------------------------------------------- */

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
    for_each_line(text, name, [&lines](const std::string &line, int number) {
        const size_t equals = line.find('=');
        const std::string key = trimmed(line.substr(0, equals));
        const std::string value = equals == std::string::npos ? "" : trimmed(line.substr(equals + 1));
        if (equals == std::string::npos || value.empty())
            throw ValueError("'" + line + "' is not of the form 'key = value'");
        if (!is_key(key))
            throw ValueError("unknown key '" + key + "'; known are " + key_names());
        if (!lines.insert({key, {number, value}}).second)
            throw ValueError(key + " is given twice, first in line " + std::to_string(lines[key].number));
    });
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

/* ---- a table of routes ------------------------------------------------------------------------------------------------ */

constexpr size_t max_hosts = 4096; /* a route for each pair of them */
constexpr long max_uses = 1L << 20; /* of links in a route */

using Numbers = std::unordered_map<std::string, int>;

struct Reader {
    RouteTable table;
    Numbers host_numbers, link_numbers;

    void line(const std::vector<std::string> &line);
    void finish() const;

  private:
    void host(const std::vector<std::string> &line);
    void link(const std::vector<std::string> &line);
    void route(const std::vector<std::string> &line);
};

void check_words(const std::vector<std::string> &line, size_t words, const char *form)
{
    if (line.size() != words)
        throw ValueError("'" + line[0] + "' with " + std::to_string(line.size() - 1) + " words is not of the form " + form);
}

void add_name(Numbers &numbers, const std::vector<std::string> &line)
{
    if (!numbers.insert({line[1], static_cast<int>(numbers.size())}).second)
        throw ValueError(line[0] + " '" + line[1] + "' is given twice");
}

int number_of(const Numbers &numbers, const char *kind, const std::string &name)
{
    const auto found = numbers.find(name);
    if (found == numbers.end())
        throw ValueError(kind + (" '" + name + "' is not in an earlier line"));
    return found->second;
}

void Reader::host(const std::vector<std::string> &line)
{
    check_words(line, 2, "host NAME");
    if (!table.routes.empty())
        throw ValueError("host '" + line[1] + "' follows a route; give all hosts before the first route");
    if (table.hosts.size() == max_hosts)
        throw ValueError("there are more than " + std::to_string(max_hosts) + " hosts");
    add_name(host_numbers, line);
    table.hosts.push_back(line[1]);
}

void Reader::link(const std::vector<std::string> &line)
{
    check_words(line, 3, "link NAME BYTES_PER_S");
    add_name(link_numbers, line);
    table.links.push_back({line[1], positive(line[2])});
}

void Reader::route(const std::vector<std::string> &line)
{
    if (line.size() < 4)
        check_words(line, 0, "route SOURCE TARGET LATENCY_S LINK...");
    const size_t source = number_of(host_numbers, "host", line[1]), target = number_of(host_numbers, "host", line[2]);
    table.routes.resize(table.hosts.size() * table.hosts.size());
    RouteTable::Route &route = table.routes[source * table.hosts.size() + target];
    if (route.given)
        throw ValueError("the route from '" + line[1] + "' to '" + line[2] + "' is given twice");
    route.given = true;
    route.latency_s = not_negative(line[3]);
    for (size_t i = 4; i < line.size(); i++) {
        const size_t star = line[i].find('*');
        const int times = star == std::string::npos ? 1 : whole(line[i].substr(star + 1), 1, max_uses);
        if (route.links.size() + times > max_uses)
            throw ValueError("the route from '" + line[1] + "' to '" + line[2] + "' uses links more than " +
                             std::to_string(max_uses) + " times");
        route.links.insert(route.links.end(), times, number_of(link_numbers, "link", line[i].substr(0, star)));
    }
}

void Reader::line(const std::vector<std::string> &line)
{
    if (line[0] == "host")
        host(line);
    else if (line[0] == "link")
        link(line);
    else if (line[0] == "route")
        route(line);
    else
        throw ValueError("'" + line[0] + "' is unknown; a line begins with host, link or route");
}

void Reader::finish() const
{
    if (table.hosts.empty())
        throw ValueError("there is no host");
    for (size_t source = 0; source < table.hosts.size(); source++)
        for (size_t target = 0; target < table.hosts.size(); target++)
            if (source != target && (table.routes.empty() || !table.route(source, target).given))
                throw ValueError("the route from '" + table.hosts[source] + "' to '" + table.hosts[target] + "' is missing");
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

RouteTable read_route_table(std::istream &text, const std::string &name)
{
    Reader reader;
    for_each_line(text, name, [&reader](const std::string &line, int) { reader.line(words(line)); });
    try {
        reader.finish();
    } catch (const ValueError &error) {
        throw PlatformFileError(name + ": " + error.what());
    }
    return std::move(reader.table);
}

} // namespace pencilmap
