// What the oneDNN module and the program agree on.
#pragma once
#include <span>

#include "plan/pattern.hpp"

namespace ovir::fast {

inline constexpr const char* kModuleFile = "libovir_onednn.so";
inline constexpr const char* kModuleEntry = "ovir_onednn_patterns";
/// Grows with every change of Pattern, Kernel, Graphlet, View or an attribute struct: a module of another build is not
/// used.
inline constexpr int kModuleVersion = 5;

struct ModulePatterns {
  int version;
  std::span<const Pattern* const> patterns;
};
using ModuleEntry = const ModulePatterns* (*)();

/// The module's own, by name: lib/fast/onednn/<name>.cpp. They read and write f32 in row-major order; a kernel refuses
/// sizes for which oneDNN has only its reference code, which is slower than ours.
namespace onednn {
std::span<const Pattern* const> all();
}

}  // namespace ovir::fast
