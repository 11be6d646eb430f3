/* A torus or mesh and the routes of messages. No SimGrid, no files: geometry only.
 *
 * Routing: dimension-ordered, in the shorter direction round each ring. A message half way round can go in either direction;
 *   Tie::parity  + from even and - from odd coordinates of that ring, so that both directions carry the same load
 *   Tie::plus    always +
 * Source:  W. J. Dally, C. L. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks",
 *          IEEE Transactions on Computers 36 (1987), for the order of dimensions; the tie rule is ours.
 * Cost:    one step per hop. */
#pragma once

#include "common/torus.h"

#include <string>
#include <vector>

namespace pencilmap
{

enum class Tie { parity, plus };

/* One link of a route: the link that leaves `node` in `dimension`, `direction` +1 or -1. */
struct Hop {
    int dimension;
    int direction;
    int node;
};

struct Torus {
    ::torus shape = {};     /* wraps as given; is_ring() gives the result */
    std::vector<int> order; /* dimensions in the order in which a message is routed */
    Tie tie = Tie::parity;

    /* Two nodes share a cable with or without wrap; a single node has none. Only this function decides. */
    bool is_ring(int dimension) const
    {
        return shape.wrapped[dimension] && shape.extent[dimension] > 2;
    }
    bool has_link(int node, int dimension, int direction) const;
};

/* The links from source to target in the order of travel; none if they are the same node. */
std::vector<Hop> route(const Torus &torus, int source, int target);

/* Coordinates joined by '-': "0-3-2". */
std::string coordinate_text(const ::coordinate &coordinate);

} // namespace pencilmap
