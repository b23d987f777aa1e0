#include "base/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "base/checked.hpp"
#include "base/text.hpp"

namespace ovir {

namespace {

constexpr auto kNone = std::numeric_limits<i64>::max();

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The least number in the files called `name` from `folder` up to `root`. Version 2 writes "max" for none.
i64 min_upwards(const std::filesystem::path& root, std::filesystem::path folder, const char* name) {
  auto limit = kNone;
  for (folder = folder.relative_path();; folder = folder.parent_path()) {
    limit = std::min(limit, parse_number<i64>(text_of(root / folder / name)).value_or(kNone));
    if (folder.empty()) return limit;
  }
}

i64 own_limit(int resource) {
  rlimit limit{};
  if (::getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return kNone;
  return static_cast<i64>(std::min<rlim_t>(limit.rlim_cur, static_cast<rlim_t>(kNone)));
}

}  // namespace

i64 control_group_limit(std::string_view memberships, const std::string& root) {
  auto limit = kNone;
  for (const auto line : split(memberships, '\n')) {  // "4:memory:/path" in version 1, "0::/path" in version 2
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) continue;
    const auto controllers = split(line.substr(first + 1, second - first - 1), ',');
    const std::filesystem::path folder = line.substr(second + 1);
    if (controllers.empty()) limit = std::min(limit, min_upwards(root, folder, "memory.max"));
    if (std::find(controllers.begin(), controllers.end(), "memory") != controllers.end())
      limit = std::min(limit, min_upwards(root + "/memory", folder, "memory.limit_in_bytes"));
  }
  return limit;
}

i64 memory_available() {
  const i64 pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGE_SIZE);
  const auto machine = pages > 0 && page > 0 ? checked_mul(pages, page).value_or(kNone) : kNone;
  return std::min({machine, control_group_limit(text_of("/proc/self/cgroup"), "/sys/fs/cgroup"), own_limit(RLIMIT_AS),
                   own_limit(RLIMIT_DATA)});
}

}  // namespace ovir
