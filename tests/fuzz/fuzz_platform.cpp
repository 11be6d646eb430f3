/* A platform file of the simulated torus: what is read has a rate and cables for each dimension. */
#include "simulated_network/platform_file.hpp"

#include "target.h"

#include <sstream>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    std::istringstream text(std::string(reinterpret_cast<const char *>(data), size));
    try {
        const pencilmap::Platform platform = pencilmap::read_platform(text, "input");
        const size_t dims = static_cast<size_t>(platform.torus.shape.dims);
        target_hold(platform.bandwidth_bytes_per_s.size() == dims && platform.cables.size() == dims &&
                        platform.torus.order.size() == dims,
                    "each dimension has its values");
        for (size_t i = 0; i < dims; i++)
            target_hold(platform.bandwidth_bytes_per_s[i] > 0 && platform.cables[i] > 0, "a link has a rate");
    } catch (const pencilmap::PlatformFileError &) {
    }
    return 0;
}
