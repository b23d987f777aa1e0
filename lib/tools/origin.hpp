// Where a length comes from: walks an axis of an output back, step by step, to the Parameter or the constant that
// decides it.
#pragma once
#include <cstdint>
#include <list>
#include <optional>
#include <string_view>
#include <vector>

#include "model/model.hpp"

namespace ovir::tools {

/// A model and what is inferred of it; of a body also where it is: body `body` of node `node` of `outer`.
struct Frame {
  const Model* model = nullptr;
  const Facts* facts = nullptr;
  const Frame* outer = nullptr;
  int node = 0;
  std::size_t body = 0;
};
/// The model and all bodies within that are inferred, outer ones first. Frames point at each other: do not copy the
/// list.
std::list<Frame> frames_of(const Model& model, const Facts& facts);

/// One axis of one output, or, with `element`, an element of an integer value that is a length.
struct Spot {
  const Frame* frame = nullptr;
  ValueRef at;
  i64 axis = 0;
  bool element = false;

  const Node& node() const { return (*frame->model)[at.node]; }
  const Fact& fact() const { return frame->facts->of(at); }
};

struct Origin {
  std::vector<Spot> spots;  ///< one or more, the likeliest first
  bool computed = false;    ///< the length is not that of `spots`, but changes with each of them
};

/// What the length at `spot`, which must have a known rank, comes from: an axis or an element of an input of its layer,
/// or of the layer around its body. Nothing for a Parameter of the whole model, and where the layer itself decides. An
/// open length never comes from one that is known.
std::optional<Origin> origin(const Spot& spot);

/// Where the walk from origin to origin ends: each place once.
struct Roots {
  std::vector<Spot> spots;
  bool computed = false;  ///< in some step
};
Roots roots(const Spot& spot);

/// An output by its layer's name (with its path, in a body) or by a tensor name.
std::optional<Spot> find_output(const std::list<Frame>& frames, std::string_view name);

}  // namespace ovir::tools
