// What the oneDNN module and the program agree on.
#pragma once
#include <span>

#include "op/fast.hpp"

namespace ovir::fast {

inline constexpr const char* kModuleFile = "libovir_onednn.so";
inline constexpr const char* kModuleEntry = "ovir_onednn_kernels";
/// Grows with every change of FastKernel, NodeView or EvalContext: a module of another build is not used.
inline constexpr int kModuleVersion = 1;

struct ModuleKernels {
  int version;
  std::span<const FastKernel> kernels;
};
using ModuleEntry = const ModuleKernels* (*)();

}  // namespace ovir::fast
