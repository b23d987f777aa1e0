#include "fast/kernels.hpp"

#include <dlfcn.h>

#include "fast/module.hpp"

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

Kernel prepare_by_module(const NodeView& node) {
  for (const auto& kernel : module())
    if (kernel.type == node.op.type) return kernel.prepare(node);
  return {};
}

}  // namespace

std::span<const FastKernel> kernels() {
  static constexpr FastKernel list[] = {
      {"Convolution", prepare_by_module}, {"GroupConvolution", prepare_by_module}, {"MatMul", prepare_by_module},
      {"MaxPool", prepare_by_module},     {"AvgPool", prepare_by_module},
  };
  return list;
}

}  // namespace ovir::fast
