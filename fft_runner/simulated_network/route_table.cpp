#include "route_table.hpp"

#include <unordered_map>

namespace pencilmap
{

namespace
{

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

RouteTable read_route_table(std::istream &text, const std::string &name)
{
    Reader reader;
    int line_number = 0;
    for (std::string line; std::getline(text, line);) {
        line_number++;
        const std::vector<std::string> found = words(line.substr(0, line.find('#')));
        if (found.empty())
            continue;
        try {
            reader.line(found);
        } catch (const ValueError &error) {
            throw PlatformFileError(name + " line " + std::to_string(line_number) + ": " + error.what());
        }
    }
    if (text.bad())
        throw PlatformFileError(name + ": cannot be read to its end");
    try {
        reader.finish();
    } catch (const ValueError &error) {
        throw PlatformFileError(name + ": " + error.what());
    }
    return std::move(reader.table);
}

} // namespace pencilmap
