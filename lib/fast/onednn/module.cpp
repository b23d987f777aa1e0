// The entry of the oneDNN module.
#include "fast/module.hpp"

#include "fast/dnnl.hpp"
#include "fast/onednn/kernels.hpp"

namespace ovir::fast {

Device& device() {
  static Device d;
  return d;
}

}  // namespace ovir::fast

extern "C" __attribute__((visibility("default"))) const ovir::fast::ModuleKernels* ovir_onednn_kernels() {
  using namespace ovir::fast;
  static constexpr ovir::FastKernel list[] = {
      {"Convolution", onednn::prepare_convolution}, {"GroupConvolution", onednn::prepare_group_convolution},
      {"MatMul", onednn::prepare_matmul},           {"MaxPool", onednn::prepare_max_pool},
      {"AvgPool", onednn::prepare_avg_pool},
  };
  static constexpr ModuleKernels kernels{kModuleVersion, list};
  return &kernels;
}
