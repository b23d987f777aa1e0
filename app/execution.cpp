#include "execution.hpp"

namespace ovir::app {

void add_precision(Flags& flags, std::string& precision) {
  flags.choice("--precision", precision, {"f32", "declared"}, "PRECISION",
               "compute narrower floats in f32, or round every value to its declared type");
}

void add_execution(Flags& flags, ExecutionOptions& options, const std::string& kernels) {
  flags.choice("--tier", options.tier, {"fast", "reference"}, "TIER", kernels).env("OVIR_TIER");
  add_precision(flags, options.precision);
  flags.number("--threads", options.threads, "N", "use at most N processors; the results do not depend on it", 1)
      .env("OVIR_THREADS");
}

Options compile_options(const ExecutionOptions& options, const Common& common, i64 expected_runs) {
  Options how;
  how.tier = options.tier == "reference" ? Tier::reference : Tier::fast;
  how.precision = options.precision == "declared" ? Precision::declared : Precision::f32;
  how.expected_runs = expected_runs;
  how.runtime = {static_cast<int>(options.threads), common.budget.memory, common.budget.time};
  return how;
}

}  // namespace ovir::app
