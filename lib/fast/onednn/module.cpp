// The entry of the oneDNN module.
#include "fast/module.hpp"

#include <omp.h>

#include "base/float_mode.hpp"
#include "fast/dnnl.hpp"

namespace ovir::fast {

void use_threads(const Runtime& runtime) {
  if (omp_get_max_threads() != runtime.threads()) omp_set_num_threads(runtime.threads());
  // The same bits for any number of threads: OpenMP's compute as their caller does.
  const auto mode = FloatMode::of_this_thread();
#pragma omp parallel
  mode.use();
}

}  // namespace ovir::fast

extern "C" __attribute__((visibility("default"))) const ovir::fast::ModulePatterns* ovir_onednn_patterns() {
  using namespace ovir::fast;
  static const ModulePatterns patterns{kModuleVersion, onednn::all()};
  return &patterns;
}
