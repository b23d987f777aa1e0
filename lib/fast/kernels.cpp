#include "fast/kernels.hpp"

#include <dlfcn.h>

#include "fast/module.hpp"
#include "fast/own.hpp"

namespace ovir::fast {
namespace {

/// The oneDNN module beside the program, opened when the first node asks for one of its kernels: a start that needs
/// none pays nothing. Empty where it is not installed, does not load or belongs to another build.
std::span<const FastKernel> module() {
  static const auto kernels = []() -> std::span<const FastKernel> {
    auto* library = dlopen(kModuleFile, RTLD_NOW | RTLD_LOCAL);
    if (!library) return {};
    const auto entry = reinterpret_cast<ModuleEntry>(dlsym(library, kModuleEntry));
    if (!entry || entry()->version != kModuleVersion) return {};
    return entry()->kernels;
  }();
  return kernels;
}

/// A single run is over before oneDNN has compiled its kernels and brought the weights into its layouts.
Kernel prepare_by_module(const NodeView& node) {
  if (!node.repeated) return {};
  for (const auto& kernel : module())
    if (kernel.type == node.op.type) return kernel.prepare(node);
  return {};
}

}  // namespace

std::span<const FastKernel> kernels() {
  static constexpr FastKernel list[] = {
      // For a single run our own, which need no preparation; for many, oneDNN's.
      {"Convolution", prepare_convolution},
      {"GroupConvolution", prepare_group_convolution},
      {"MatMul", prepare_matmul},
      {"Convolution", prepare_by_module},
      {"GroupConvolution", prepare_by_module},
      {"MatMul", prepare_by_module},
      {"MaxPool", prepare_by_module},
      {"AvgPool", prepare_by_module},
  };
  return list;
}

}  // namespace ovir::fast
