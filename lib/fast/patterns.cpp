#include "fast/patterns.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
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
    const auto paths = module_paths();
    void* library = nullptr;
    for (auto path = paths.begin(); path != paths.end() && !library; ++path)
      library = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) return {};
    const auto entry = reinterpret_cast<ModuleEntry>(dlsym(library, kModuleEntry));
    if (!entry || entry()->version != kModuleVersion) return {};
    return entry()->patterns;
  }();
  return loaded;
}

/// What the module's pattern of that name matches. The module, which takes 3 ms to open, is opened for the first node
/// that all others have left.
template <const std::string_view& Name>
std::optional<Match> match_by_module(const Graphlet& graph, int root) {
  for (const auto* pattern : module_patterns())
    if (pattern->name == Name) return pattern->match(graph, root);
  return std::nullopt;
}

template <const std::string_view& Name, const auto& Roots>
constexpr Pattern kOfModule{
    .name = Name, .roots = Roots, .match = match_by_module<Name>, .priority = Priority::library, .steady_only = true};

constexpr std::string_view kConvolutionRoots[] = {"Convolution", "GroupConvolution"};
constexpr std::string_view kPoolRoots[] = {"MaxPool", "AvgPool"};

/// A single run is over before oneDNN has compiled its kernels and brought the weights into its layouts.
constexpr const Pattern* kOfModules[] = {&kOfModule<onednn::kConvolution, kConvolutionRoots>,
                                         &kOfModule<onednn::kPool, kPoolRoots>};

}  // namespace

std::vector<const Pattern*> patterns_for(const PlanOptions& options) {
  std::vector<const Pattern*> list;
  const auto add = [&](std::span<const Pattern* const> patterns) {
    std::copy_if(patterns.begin(), patterns.end(), std::back_inserter(list),
                 [&](const Pattern* p) { return p->serves(options); });
  };
  add(patterns::all());
  add(kOfModules);
  std::sort(list.begin(), list.end(), [](const Pattern* a, const Pattern* b) {
    return std::tuple(a->priority, a->name) < std::tuple(b->priority, b->name);
  });
  return list;
}

}  // namespace ovir::fast
