#include "op/kit/data_index.hpp"

#include <fmt/core.h>

#include "op/ports.hpp"

namespace ovir {

void fail_index(const Version& version, int port, i64 index, i64 axis, const Dim& length, bool from_end) {
  const auto axis_is = fmt::format("axis {} of \"data\"", axis);
  if (length.max == 0)
    fail_at(version, port, Code::E0507,
            fmt::format("input \"{}\" holds {}, but {} has no elements", port_name(version, port), index, axis_is));
  fail_at(version, port, Code::E0507,
          fmt::format("input \"{}\" must be in {}..{} for {}, but holds {}", port_name(version, port),
                      from_end ? -length.max : 0, length.max - 1, axis_is, index));
}

}  // namespace ovir
