#include "torus.hpp"

#include <cstdlib>

namespace pencilmap
{

namespace
{

struct Leg {
    int direction;
    int length;
};

Leg ring_leg(int extent, int from, int to, Tie tie)
{
    const int forward = (to - from + extent) % extent;
    const int backward = extent - forward;
    if (forward == backward)
        return {tie == Tie::plus || from % 2 == 0 ? +1 : -1, forward};
    return forward < backward ? Leg{+1, forward} : Leg{-1, backward};
}

Leg line_leg(int from, int to)
{
    return {to < from ? -1 : +1, std::abs(to - from)};
}

} // namespace

bool Torus::has_link(int node, int dimension, int direction) const
{
    if (is_ring(dimension))
        return true;
    const int neighbour = torus_coordinate(&shape, node).at[dimension] + direction;
    return neighbour >= 0 && neighbour < shape.extent[dimension];
}

std::vector<Hop> route(const Torus &torus, int source, int target)
{
    std::vector<Hop> hops;
    ::coordinate here = torus_coordinate(&torus.shape, source);
    const ::coordinate there = torus_coordinate(&torus.shape, target);
    for (int d : torus.order) {
        const int extent = torus.shape.extent[d];
        const Leg leg = torus.is_ring(d) ? ring_leg(extent, here.at[d], there.at[d], torus.tie)
                                         : line_leg(here.at[d], there.at[d]);
        for (int step = 0; step < leg.length; step++) {
            hops.push_back({d, leg.direction, static_cast<int>(torus_node(&torus.shape, &here))});
            here.at[d] = (here.at[d] + leg.direction + extent) % extent;
        }
    }
    return hops;
}

std::string coordinate_text(const ::coordinate &coordinate)
{
    std::string text;
    for (int d = 0; d < coordinate.dims; d++)
        text += (d ? "-" : "") + std::to_string(coordinate.at[d]);
    return text;
}

} // namespace pencilmap
