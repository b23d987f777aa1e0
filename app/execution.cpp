#include "execution.hpp"

namespace ovir::app {
namespace {

Precision precision_of(const std::string& word) {
  if (word == "bf16") return Precision::bf16;
  if (word == "int8") return Precision::int8;
  return word == "declared" ? Precision::declared : Precision::f32;
}

}  // namespace

void add_precision(Flags& flags, std::string& precision) {
  flags.choice("--precision", precision, {"f32", "declared", "bf16", "int8"}, "PRECISION",
               "f32 computes narrower floats in f32; declared rounds every value to its declared type; bf16 computes "
               "products and convolutions in bf16; int8 computes quantized ones in integers; one of");
}

void settle_precision(std::string& precision, const Common& common) {
  if (is_fast(precision_of(precision))) return;
  note(common, fmt::format("this processor has no instructions for {}: computed in f32", precision));
  precision = "f32";
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
  how.precision = precision_of(options.precision);
  how.expected_runs = expected_runs;
  how.runtime = {static_cast<int>(options.threads), common.budget.memory, common.budget.time, common.budget.work};
  return how;
}

}  // namespace ovir::app
