// Plan: the steps that run a Model, in order, with the kernel of each and the last use of every value.
#pragma once
#include <memory>
#include <vector>

#include "model/model.hpp"
#include "op/fast.hpp"

namespace ovir {

struct Plan;
struct Step {
  int node = 0;                        ///< in Model::nodes
  Kernel kernel;                       ///< empty: the reference kernel
  std::vector<int> inputs;             ///< slots; one value an output of a node
  int first_output = 0;                ///< its outputs are slots first_output, first_output + 1, …
  std::vector<int> frees;              ///< slots whose last use this step is
  bool from_constants = false;         ///< all its inputs are constants or such steps: the same in every run
  bool fixed_shapes = false;           ///< every output's shape was inferred static: no inference at run time
  std::vector<std::uint8_t> unwanted;  ///< by output: nobody reads it
  std::vector<Fact> facts;             ///< of its outputs, as inferred
  std::vector<std::shared_ptr<const Plan>> bodies;
};

struct Plan {
  std::shared_ptr<const Model> model;
  std::vector<Step> steps;  ///< Parameters and Results have none
  int slot_count = 0;
  std::vector<Fact> parameters;                   ///< what was planned for, by Parameter in file order
  std::vector<int> parameter_slots;               ///< by Parameter in file order
  std::vector<ElementType> result_types;          ///< as inferred, by Result in file order
  std::vector<int> result_slots;                  ///< the slot each Result receives, in file order
  std::vector<std::pair<int, Tensor>> constants;  ///< slot, value: Constants and what was folded from them
};

}  // namespace ovir
