#include "op/kit/embedding_bags.hpp"

#include <fmt/core.h>

#include "op/ports.hpp"

namespace ovir {

void fail_row(const Version& version, int port, i64 row, const Dim& rows) {
  fail_at(version, port, Code::E0507,
          fmt::format("input \"{}\" must name one of {} rows of \"emb_table\", but holds {}", port_name(version, port),
                      to_string(rows), row));
}

void fail_offset(const Version& version, i64 place, i64 offset, i64 indices) {
  fail_at(version, kOffsetBags.segments, Code::E0508,
          fmt::format("element {} of input \"offsets\" must be in 0..{}, as there are so many \"indices\", but is {}",
                      place, indices, offset));
}

}  // namespace ovir
