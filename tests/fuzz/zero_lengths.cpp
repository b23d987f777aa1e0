// Every case of the .spec files with a length 0: each axis of each input in turn, once alone and once together with all
// axes as long as it. What the check then accepts must hold as it does for random nodes; see trial.hpp.
#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "fuzz.hpp"
#include "trial.hpp"

using namespace ovir;
using namespace fuzz;

void broken(std::string_view what) { throw std::logic_error(std::string(what)); }

int main() {
  std::size_t made = 0, runs = 0, failed = 0;
  const auto try_one = [&](Trial n) {
    Choices choices("zero");
    ++made;
    try {
      runs += judge(n, choices);
    } catch (const std::exception& error) {
      ++failed;
      fmt::print("broken promise: {}\n\n", error.what());
    }
  };
  for (const auto& c : cases()) {
    const auto valid = trial_of(c);
    for (std::size_t i = 0; i < valid.inputs.size(); ++i)
      for (i64 axis = 0; axis < valid.inputs[i].shape.rank(); ++axis) {
        const auto length = valid.inputs[i].shape[axis];
        if (length == 0) continue;
        auto alone = valid;
        alone.inputs[i].shape[axis] = 0;
        try_one(std::move(alone));
        auto together = valid;
        for (auto& input : together.inputs) std::ranges::replace(input.shape, length, i64{0});
        try_one(std::move(together));
      }
  }
  fmt::print("{} nodes with a length 0, {} runs of valid ones, {} broken promises\n", made, runs, failed);
  return failed == 0 && runs > 0 ? 0 : 1;
}
