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

int Torus::node_count() const
{
    int count = 1;
    for (int extent : extents)
        count *= extent;
    return count;
}

Coordinate Torus::coordinate_of(int node) const
{
    Coordinate coordinate;
    for (int extent : extents) {
        coordinate.push_back(node % extent);
        node /= extent;
    }
    return coordinate;
}

int Torus::node_of(const Coordinate &coordinate) const
{
    int node = 0;
    for (int d = dimension_count() - 1; d >= 0; d--)
        node = node * extents[d] + coordinate[d];
    return node;
}

bool Torus::has_link(int node, int dimension, int direction) const
{
    if (is_ring(dimension))
        return true;
    const int neighbour = coordinate_of(node)[dimension] + direction;
    return neighbour >= 0 && neighbour < extents[dimension];
}

std::vector<Hop> route(const Torus &torus, int source, int target)
{
    std::vector<Hop> hops;
    Coordinate here = torus.coordinate_of(source);
    const Coordinate there = torus.coordinate_of(target);
    for (int d : torus.order) {
        const int extent = torus.extents[d];
        const Leg leg = torus.is_ring(d) ? ring_leg(extent, here[d], there[d], torus.tie) : line_leg(here[d], there[d]);
        for (int step = 0; step < leg.length; step++) {
            hops.push_back({d, leg.direction, torus.node_of(here)});
            here[d] = (here[d] + leg.direction + extent) % extent;
        }
    }
    return hops;
}

std::string coordinate_text(const Coordinate &coordinate)
{
    std::string text;
    for (int c : coordinate)
        text += (text.empty() ? "" : "-") + std::to_string(c);
    return text;
}

} // namespace pencilmap
