// A node to try: what the check accepts runs, or ends with a Failure, alike in every way to run; the inferred type and
// shape hold the actual ones; and what inference computes from constants is what a run computes.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "harness/graph_text.hpp"
#include "harness/spec.hpp"
#include "op/op_def.hpp"
#include "tensor/tensor.hpp"
#include "values.hpp"

namespace fuzz {

/// An operation's case of a .spec file: a node that is valid.
struct Case {
  const ovir::OpDef* op;
  int opset;
  const ovir::Version* version;
  const ovir::spec::Item* item;
};

/// Those of all .spec files with values.
const std::vector<Case>& cases();

struct Input {
  std::string name;
  std::string variable;  // inputs of one type variable change type together
  ovir::TypeSet domain{};
  ovir::ElementType type{};
  ovir::Shape shape;
  ovir::Tensor value;  // once it is made
  bool constant = false;
};

struct Trial {
  const ovir::OpDef* op = nullptr;
  const ovir::Version* version = nullptr;
  int opset = 1;
  ovir::spec::AttributeTexts attributes;
  std::vector<Input> inputs;
  std::vector<ovir::spec::BodyText> bodies;
  std::size_t outputs = 1;
};

Trial trial_of(const Case& c);
std::string variable_of(const ovir::PortDef& def, std::size_t position);

/// Runs the node with values, given and constant, with shapes known and open, in every way, and calls broken() where
/// two of them disagree. Inputs whose value does not fit get one; nodes with large ones are left alone. Returns how
/// many runs came to an end without a fault.
std::size_t judge(Trial& n, Choices& choices);

}  // namespace fuzz
