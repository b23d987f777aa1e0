// How much memory the process may use.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/int.hpp"

namespace ovir {

/// Bytes: the least of the machine's memory, the limits of the control groups that the process is in (versions 1 and
/// 2) and its own limits (RLIMIT_AS, RLIMIT_DATA). What other processes use is not taken off. Reads files, so the
/// answer is to be kept.
i64 memory_available();

/// The least limit of the memory controllers. `memberships`: what /proc/self/cgroup holds; `root`: where the groups are
/// mounted, /sys/fs/cgroup. INT64_MAX where there is none.
i64 control_group_limit(std::string_view memberships, const std::string& root);

}  // namespace ovir
