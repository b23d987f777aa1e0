// The commands: options as parsed, and a function each that gives the exit code. Described in README.md.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli.hpp"

namespace ovir::app {

struct CheckOptions : ModelOptions {
  std::string format = "human";
  std::vector<std::string> deny, allow;
  std::size_t max_errors = 0;
  bool strict = false, ops = false, reshapeable = false;
};
int check(const CheckOptions&, const Common&);

struct EditOptions : ModelOptions {
  std::vector<std::string> constants;  ///< NAME=VALUES
  std::string output;
  bool fix = false;
};
int edit(const EditOptions&, const Common&);

struct ShapesOptions : ModelOptions {
  std::string format = "human", why;
  bool only_dynamic = false;
};
int shapes(const ShapesOptions&, const Common&);

struct RunOptions : ModelOptions {
  std::string format = "human";
  std::vector<std::string> inputs, layouts, means, scales;
  std::string output, dump, dump_to, tier = "fast", precision = "f32", labels, resize, save_state, load_state;
  std::int64_t steps = 1, top = 0, threads = 0;
  std::uint64_t seed = 0;
  bool random = false, cast = false, raw = false, digest = false, reverse_channels = false;
};
int run(const RunOptions&, const Common&);

struct InfoOptions : ModelOptions {
  std::string format = "human";
};
int info(const InfoOptions&, const Common&);

struct ShowOptions : ModelOptions {
  std::string format = "text", select;
};
int show(const ShowOptions&, const Common&);

struct OpsOptions {
  std::string format = "human", name;
};
int ops(const OpsOptions&, const Common&);

struct ExplainOptions {
  std::string format = "human", code;
};
int explain(const ExplainOptions&, const Common&);

}  // namespace ovir::app
