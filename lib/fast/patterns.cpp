#include "fast/patterns.hpp"

#include <dlfcn.h>

#include <vector>

#include "fast/module.hpp"

namespace ovir::fast {
namespace {

/// Empty where the module is not installed, does not load or belongs to another build.
std::span<const Pattern* const> module_patterns() {
  static const auto loaded = []() -> std::span<const Pattern* const> {
    auto* library = dlopen(kModuleFile, RTLD_NOW | RTLD_LOCAL);
    if (!library) return {};
    const auto entry = reinterpret_cast<ModuleEntry>(dlsym(library, kModuleEntry));
    if (!entry || entry()->version != kModuleVersion) return {};
    return entry()->patterns;
  }();
  return loaded;
}

/// For a single run only our own: it is over before oneDNN has compiled its kernels and brought the weights into its
/// layouts.
constexpr const Pattern* kOwn[] = {&kConvolution, &kMatMul};

}  // namespace

std::span<const Pattern* const> patterns(const PlanOptions& options) {
  if (!options.steady()) return kOwn;
  static const auto all = [] {
    std::vector<const Pattern*> list;
    for (const auto* p : module_patterns()) list.push_back(p);
    for (const auto* p : kOwn) list.push_back(p);
    return list;
  }();
  return all;
}

}  // namespace ovir::fast
