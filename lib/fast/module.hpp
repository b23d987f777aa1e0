// What the oneDNN module and the program agree on.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "plan/pattern.hpp"

namespace ovir::fast {

inline constexpr const char* kModuleFile = "libovir_onednn.so";
inline constexpr const char* kModuleEntry = "ovir_onednn_patterns";
/// A number that follows from the sizes of classes.
template <class... Classes>
consteval std::uint64_t fingerprint(std::uint64_t of) {
  ((of = of * 1'099'511'628'211 + sizeof(Classes)), ...);
  return of;
}

/// A module of another build is not used. The number grows with every change of a virtual function, or of an attribute
/// struct; the sizes tell of the rest.
inline constexpr std::uint64_t kModuleVersion =
    fingerprint<Pattern, Match, Graphlet, Kernel, KernelState, Sizes, View, Runtime, PlanOptions, Plan, Step, Value,
                Model, Node, Facts, Fact, Tensor, Shape, PartialShape>(6);

struct ModulePatterns {
  std::uint64_t version;
  std::span<const Pattern* const> patterns;
};
using ModuleEntry = const ModulePatterns* (*)();

/// The module's own, by name: lib/fast/onednn/<name>.cpp. They read and write f32 in row-major order; a kernel refuses
/// sizes for which oneDNN has only its reference code, which is slower than ours. The rest of a pattern, as where it
/// begins, is the program's to say, so that it can do without the module.
namespace onednn {

inline constexpr std::string_view kConvolution = "onednn.convolution", kPool = "onednn.pool";

std::span<const Pattern* const> all();

}  // namespace onednn

}  // namespace ovir::fast
