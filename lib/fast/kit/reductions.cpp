#include "fast/kit/reductions.hpp"

#include <algorithm>

namespace ovir::fast {

std::optional<Reduction> reduction_of(std::string_view type) {
  struct Entry {
    std::string_view type;
    Reduction what;
  };
  static constexpr Entry kEntries[] = {{"ReduceMean", Reduction::mean},   {"ReduceSum", Reduction::sum},
                                       {"ReduceMax", Reduction::maximum}, {"ReduceMin", Reduction::minimum},
                                       {"ReduceL1", Reduction::absolute}, {"ReduceL2", Reduction::norm}};
  const auto* entry = std::ranges::find(kEntries, type, &Entry::type);
  return entry == std::end(kEntries) ? std::nullopt : std::optional(entry->what);
}

}  // namespace ovir::fast
