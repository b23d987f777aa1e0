// Files that are not mapped but read: pipes, which have no size to go by.
#pragma once
#include <cstddef>
#include <string>

#include "base/bytes.hpp"

namespace ovir {

/// What map_file reads from a pipe at most.
inline constexpr std::size_t kPipeLimit = std::size_t{4} << 30;

/// map_file, where a pipe may deliver no more than `pipe_limit` bytes: std::system_error (EFBIG) beyond.
Bytes map_file(const std::string& path, std::size_t pipe_limit);

}  // namespace ovir
