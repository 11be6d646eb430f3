/* A network for `smpirun -platform libnetwork_platform.so`. The file named by PENCILMAP_PLATFORM describes it: a torus or
 * mesh, or a table of routes.
 *
 * SimGrid's own TORUS cluster sends nearly all messages that go half way round a ring in the + direction, which costs up to
 * twice the time, depending on the mapping (figures in README.md). Its other clusters do not split messages over paths. Its
 * classes cannot be extended from outside, except NetZoneImpl. So the zones below are our own: one gets every route from
 * torus.cpp, the other from the table.
 *
 * Links of a torus:
 *   0-3-2:0+           leaves node (0, 3, 2) in dimension 0 upwards; one link in each direction of each cable
 *   0-3-2:injection    shared by all messages from the node, :ejection by all messages to the node; only with a limit
 * Links of a table have the names of the table. In both:
 *   loopback           between ranks of a host; as fast for many messages as for one */
#include "platform_file.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <simgrid/kernel/resource/NetworkModelIntf.hpp>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>

namespace
{

namespace s4u = simgrid::s4u;
namespace routing = simgrid::kernel::routing;
using simgrid::kernel::resource::StandardLinkImpl;

constexpr const char *platform_variable = "PENCILMAP_PLATFORM";
constexpr int cores = 1024; /* of a node: each of its ranks computes at the full speed */

[[noreturn]] void give_up(const std::string &message)
{
    std::cerr << "network_platform: " << message << std::endl;
    /* No destructors: SimGrid is only half built, and its destructors would bury the message under a backtrace. */
    std::_Exit(EXIT_FAILURE);
}

/* Messages and bytes that each link carries, by the time at which the messages start: the ranks start an exchange together,
 * so an exchange has one start time. SimGrid asks for the bandwidth factor of every message once; this is the only public
 * call with both the size and the links, so the counting happens there. */
class LinkUsage
{
    struct Traffic {
        long long messages = 0;
        long long bytes = 0; /* with the envelope that SMPI adds to each message */
    };
    std::map<double, std::map<std::string, Traffic>> traffic_; /* start -> link -> traffic */

  public:
    void count(double size_bytes, const std::vector<s4u::Link *> &links)
    {
        auto &now = traffic_[s4u::Engine::get_clock()];
        for (const s4u::Link *link : links) {
            Traffic &traffic = now[link->get_name()];
            traffic.messages++;
            traffic.bytes += std::llround(size_bytes);
        }
    }

    void write(const std::string &path) const
    {
        std::ofstream out(path);
        out << "# start_s link messages bytes\n" << std::setprecision(12);
        for (const auto &[start_s, links] : traffic_)
            for (const auto &[link, traffic] : links)
                out << start_s << ' ' << link << ' ' << traffic.messages << ' ' << traffic.bytes << '\n';
        if (!out.flush())
            give_up("usage_file '" + path + "' cannot be written: " + std::strerror(errno));
    }
};

/* Hosts are created first and in the order of their numbers, so that a NetPoint's id is the number of its host. */
class Zone : public routing::NetZoneImpl
{
  protected:
    const pencilmap::Platform platform_;

    StandardLinkImpl *make_link(const std::string &name, double bandwidth_bytes_per_s, double latency_s)
    {
        return get_iface()->create_link(name, bandwidth_bytes_per_s)->set_latency(latency_s)->seal()->get_impl();
    }

    void make_host(const std::string &name)
    {
        get_iface()->create_host(name, platform_.speed_flops)->set_core_count(cores)->seal();
    }

    void make_loopback()
    {
        loopback_ = get_iface()
                        ->create_link("loopback", platform_.loopback_bytes_per_s)
                        ->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)
                        ->seal()
                        ->get_impl();
    }

    StandardLinkImpl *loopback_ = nullptr;

  public:
    Zone(const std::string &name, const pencilmap::Platform &platform) : NetZoneImpl(name), platform_(platform)
    {
    }

    virtual void build() = 0;

    void get_graph(const s_xbt_graph_t *, std::map<std::string, xbt_node_t, std::less<>> *,
                   std::map<std::string, xbt_edge_t, std::less<>> *) override
    {
        /* only SimGrid's drawings of platforms ask for this */
    }
};

class TorusZone : public Zone
{
    const pencilmap::Torus &torus_ = platform_.torus;
    std::vector<StandardLinkImpl *> cables_; /* links along the cables, at cable_index() */
    std::vector<StandardLinkImpl *> injections_, ejections_;

    int node_count() const
    {
        return static_cast<int>(torus_nodes(&torus_.shape));
    }

    size_t cable_index(int node, int dimension, int direction) const
    {
        return (static_cast<size_t>(node) * torus_.shape.dims + dimension) * 2 + (direction > 0);
    }

    void make_cables(int node, const std::string &name)
    {
        for (int d = 0; d < torus_.shape.dims; d++)
            for (int direction : {-1, +1})
                if (torus_.has_link(node, d, direction))
                    cables_[cable_index(node, d, direction)] =
                        make_link(name + ":" + std::to_string(d) + (direction > 0 ? "+" : "-"),
                                  platform_.bandwidth_bytes_per_s[d] * platform_.cables[d], platform_.latency_s);
    }

    void make_node(int node)
    {
        const std::string name = pencilmap::coordinate_text(torus_coordinate(&torus_.shape, node));
        make_host("node-" + name);
        make_cables(node, name);
        if (platform_.injection_bytes_per_s > 0) {
            injections_.push_back(make_link(name + ":injection", platform_.injection_bytes_per_s, 0));
            ejections_.push_back(make_link(name + ":ejection", platform_.injection_bytes_per_s, 0));
        }
    }

  public:
    TorusZone(const std::string &name, const pencilmap::Platform &platform) : Zone(name, platform)
    {
        cables_.resize(cable_index(node_count(), 0, -1));
    }

    void build() override
    {
        for (int node = 0; node < node_count(); node++)
            make_node(node);
        make_loopback();
        seal();
    }

    void get_local_route(const routing::NetPoint *source, const routing::NetPoint *target, routing::Route *into,
                         double *latency_s) override
    {
        auto &links = into->link_list_;
        if (source == target) {
            links.push_back(loopback_);
            return;
        }
        if (!injections_.empty())
            links.push_back(injections_[source->id()]);
        for (const auto &hop : pencilmap::route(torus_, static_cast<int>(source->id()), static_cast<int>(target->id()))) {
            links.push_back(cables_[cable_index(hop.node, hop.dimension, hop.direction)]);
            if (latency_s)
                *latency_s += platform_.latency_s;
        }
        if (!ejections_.empty())
            links.push_back(ejections_[target->id()]);
    }
};

class TableZone : public Zone
{
    const pencilmap::RouteTable table_;
    std::vector<StandardLinkImpl *> links_;

  public:
    TableZone(const std::string &name, const pencilmap::Platform &platform, pencilmap::RouteTable table)
        : Zone(name, platform), table_(std::move(table))
    {
    }

    void build() override
    {
        for (const std::string &host : table_.hosts)
            make_host(host);
        for (const auto &link : table_.links)
            links_.push_back(make_link(link.name, link.bandwidth_bytes_per_s, 0));
        make_loopback();
        seal();
    }

    void get_local_route(const routing::NetPoint *source, const routing::NetPoint *target, routing::Route *into,
                         double *latency_s) override
    {
        const auto &route = table_.route(source->id(), target->id());
        for (const int link : route.links)
            into->link_list_.push_back(links_[link]);
        if (route.links.empty()) /* the same host, or two hosts without a link between them */
            into->link_list_.push_back(loopback_);
        if (latency_s)
            *latency_s += route.latency_s;
    }
};

std::ifstream opened(const std::string &path, const std::string &named_by)
{
    std::ifstream file(path);
    if (!file)
        give_up(named_by + "='" + path + "' cannot be opened: " + std::strerror(errno));
    return file;
}

pencilmap::Platform platform_from_environment()
{
    const char *path = std::getenv(platform_variable);
    if (!path || !*path)
        give_up(std::string(platform_variable) + " is not set; it must name a platform file, see README.md");
    std::ifstream file = opened(path, platform_variable);
    try {
        return pencilmap::read_platform(file, path);
    } catch (const pencilmap::PlatformFileError &error) {
        give_up(error.what());
    }
}

Zone *zone_of(const pencilmap::Platform &platform)
{
    if (platform.routes_file.empty())
        return new TorusZone("torus", platform);
    std::ifstream file = opened(platform.routes_file, "routes");
    try {
        return new TableZone("table", platform, pencilmap::read_route_table(file, platform.routes_file));
    } catch (const pencilmap::PlatformFileError &error) {
        give_up(error.what());
    }
}

void count_usage(Zone &zone, const std::string &path)
{
    static LinkUsage usage;
    zone.get_iface()->get_network_model()->set_bw_factor_cb([](double size_bytes, const s4u::Host *, const s4u::Host *,
                                                               const std::vector<s4u::Link *> &links,
                                                               const std::unordered_set<s4u::NetZone *> &) {
        usage.count(size_bytes, links);
        return 1.0;
    });
    s4u::Engine::on_simulation_end_cb([path] { usage.write(path); });
}

} // namespace

/* A rank sleeps while it starts its messages. The messages of a batch, at most as many as there are ports, leave together:
 * the first message sleeps, the others leave at its wake-up time. */
void charge_messages(const std::map<double, double> &message_s, int ports)
{
    struct Batch {
        double leaves_s = -1;
        int messages = 0;
    };
    static std::map<aid_t, Batch> batches;
    const auto cost = [message_s, ports](size_t size_bytes, const s4u::Host *, const s4u::Host *) {
        const double now_s = s4u::Engine::get_clock();
        const double start_s = std::prev(message_s.upper_bound(static_cast<double>(size_bytes)))->second;
        Batch &batch = batches[s4u::this_actor::get_pid()];
        if (now_s > batch.leaves_s || batch.messages == ports)
            batch = {now_s + start_s, 0};
        batch.messages++;
        return batch.leaves_s - now_s;
    };
    for (const SmpiOperation call : {SmpiOperation::SEND, SmpiOperation::ISEND})
        smpi_register_op_cost_callback(call, cost);
}

/* SimGrid looks for this symbol, and owns the zone. */
extern "C" void load_platform(const s4u::Engine &);
void load_platform(const s4u::Engine &)
{
    const pencilmap::Platform platform = platform_from_environment();
    Zone *zone = zone_of(platform);
    zone->build();
    if (!platform.usage_file.empty())
        count_usage(*zone, platform.usage_file);
    if (!platform.message_s.empty())
        charge_messages(platform.message_s, platform.ports);
}
