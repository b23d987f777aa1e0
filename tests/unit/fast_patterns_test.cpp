// The list of patterns: the oneDNN module loads where it was built.
#include <algorithm>

#include "catch.hpp"
#include "fast/patterns.hpp"

using namespace ovir;

namespace {

bool has_onednn(i64 runs) {
  PlanOptions options;
  options.expected_runs = runs;
  const auto list = fast::patterns(options);
  return std::any_of(list.begin(), list.end(), [](const Pattern* p) { return p->name.starts_with("onednn."); });
}

}  // namespace

TEST_CASE("the oneDNN module loads where it was built, for plans that run often") {
  CHECK(has_onednn(100) == (OVIR_ONEDNN != 0));
  CHECK_FALSE(has_onednn(1));
}
