#include "fast/patterns.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <string>
#include <vector>

#include "fast/module.hpp"

namespace ovir::fast {
namespace {

/// Where the module may lie: beside the program or library that this code is in, or where it is installed with it.
std::vector<std::string> module_paths() {
  Dl_info self{};
  std::vector<std::string> paths;
  if (dladdr(reinterpret_cast<const void*>(&kModuleFile), &self) != 0 && self.dli_fname) {
    std::string folder = self.dli_fname;
    const auto slash = folder.rfind('/');
    folder = slash == folder.npos ? "." : folder.substr(0, slash);
    for (const auto* place : {"/", "/ovir/", "/../lib/ovir/"}) paths.push_back(folder + place + kModuleFile);
  }
  paths.emplace_back(kModuleFile);
  return paths;
}

/// Empty where the module is not installed, does not load or belongs to another build.
std::span<const Pattern* const> module_patterns() {
  static const auto loaded = []() -> std::span<const Pattern* const> {
    void* library = nullptr;
    for (const auto& path : module_paths()) {
      library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library) break;
    }
    if (!library) return {};
    const auto entry = reinterpret_cast<ModuleEntry>(dlsym(library, kModuleEntry));
    if (!entry || entry()->version != kModuleVersion) return {};
    return entry()->patterns;
  }();
  return loaded;
}

/// For a single run only our own: it is over before oneDNN has compiled its kernels and brought the weights into its
/// layouts.
constexpr const Pattern* kOnce[] = {&kCompressedWeights,
                                    &kBlockedConvolution,
                                    &kConvolution,
                                    &kBlockedPooling,
                                    &kAttention,
                                    &kMatMul,
                                    &kLayerNormalization,
                                    &kRmsNormalization,
                                    &kSoftmax,
                                    &kReduction,
                                    &kTranspose,
                                    &kConcat,
                                    &kSplit,
                                    &kElementwise,
                                    &kRecurrent,
                                    &kFakeQuantize,
                                    &kGroupNormalization};

/// For many runs those that pack weights; oneDNN's for what they leave; then the others.
constexpr const Pattern* kPacked[] = {&kCompressedWeights, &kBlockedConvolution, &kBlockedPooling, &kAttention,
                                      &kPackedMatMul};

/// For such a precision these before all others.
constexpr const Pattern* kBf16[] = {&kBf16MatMul, &kBf16Convolution};
constexpr const Pattern* kInt8[] = {&kU8Convolution, &kU8Quantize};

std::vector<const Pattern*> list_of(std::span<const Pattern* const> first, bool steady) {
  std::vector<const Pattern*> list(first.begin(), first.end());
  if (steady) {
    list.insert(list.end(), std::begin(kPacked), std::end(kPacked));
    for (const auto* p : module_patterns()) list.push_back(p);
  }
  for (const auto* p : kOnce)
    if (std::find(list.begin(), list.end(), p) == list.end()) list.push_back(p);
  return list;
}

}  // namespace

std::span<const Pattern* const> patterns(const PlanOptions& options) {
  using List = std::vector<const Pattern*>;
  if (options.precision == Precision::bf16) {
    static const List once = list_of(kBf16, false);
    if (!options.steady()) return once;
    static const List steady = list_of(kBf16, true);
    return steady;
  }
  if (options.precision == Precision::int8) {
    static const List once = list_of(kInt8, false);
    if (!options.steady()) return once;
    static const List steady = list_of(kInt8, true);
    return steady;
  }
  if (!options.steady()) return kOnce;
  static const List steady = list_of({}, true);
  return steady;
}

}  // namespace ovir::fast
