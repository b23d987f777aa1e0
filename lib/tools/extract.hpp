// extract: a part of a model, or of a body within it, as a model of its own that gives the same values.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ovir.hpp"
#include "tools/cut.hpp"

namespace ovir::tools {

/// A model in memory.
struct SubModel {
  std::string xml;
  std::vector<Bytes> bin;           ///< its .bin, in pieces: what it had before is not copied
  std::vector<std::string> added;   ///< the names of the layers that are new
  std::vector<int> parameters;      ///< nodes of the part: its own Parameters, which the outputs need as well
  std::vector<ValueRef> unreached;  ///< of Cut::inputs: no output needs them
};

/// Cuts out what `cut` says. The text keeps every byte of the layers and edges that stay, and of what stands around
/// them (<rt_info>), but for the offsets of Constants, the ends of cut edges, and what a body's Parameters declare. The
/// .bin holds the bytes of the Constants that stay. A ReadValue brings the Assign of its variable along.
/// `facts`, those of the whole model, give the types and shapes of the new Parameters; where nothing was inferred, the
/// declared ones do. The new layers are named after what they stand for: a Parameter after the layer that computed the
/// value (`split.1`, where it computes several), a Result `relu1/sink_port_0`.
/// Throws Failure E0302 where a Constant that stays lies outside the .bin, E0103 where the text has no layers.
SubModel extract(const Model& whole, const Facts& facts, const Cut& cut);

/// A model from memory; `name` stands for its path in messages.
std::shared_ptr<const Model> load(const SubModel& model, const std::string& name, Diagnostics& diagnostics);

}  // namespace ovir::tools
