// The entry of the oneDNN module.
#include "fast/module.hpp"

#include <omp.h>

#include "fast/dnnl.hpp"
#include "fast/onednn/patterns.hpp"

namespace ovir::fast {

void use_threads(const Runtime& runtime) {
  if (omp_get_max_threads() != runtime.threads()) omp_set_num_threads(runtime.threads());
}

}  // namespace ovir::fast

extern "C" __attribute__((visibility("default"))) const ovir::fast::ModulePatterns* ovir_onednn_patterns() {
  using namespace ovir::fast;
  static constexpr const ovir::Pattern* list[] = {&onednn::kConvolution, &onednn::kMatMul, &onednn::kPool};
  static constexpr ModulePatterns patterns{kModuleVersion, list};
  return &patterns;
}
