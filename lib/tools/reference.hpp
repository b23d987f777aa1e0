// Reference: saved tensors that a model's values are held against, by place: a layer's output, in one iteration.
#pragma once
#include <compare>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_budget.hpp"
#include "model/model.hpp"

namespace ovir::tools {

/// An output of a node; in a body, in one iteration of the loops around it.
struct TensorPlace {
  const Model* model = nullptr;
  int node = -1;
  int port = 0;
  std::vector<i64> iterations;  ///< outermost first

  const Node& at() const { return (*model)[node]; }
  auto operator<=>(const TensorPlace&) const = default;
};

/// What a saved tensor may belong to.
struct Alias {
  std::string name;             ///< of a layer, with the path of its body, or of a tensor
  std::optional<int> port;      ///< of the layer
  std::vector<i64> iterations;  ///< of the loops around it
};
/// The aliases that a file name or key may stand for, the most literal first: "12_conv1@it=3.0", "block/conv:0",
/// "conv1".
std::vector<Alias> aliases_of(std::string_view key);

/// A tensor as it was saved, not yet read.
struct Saved {
  std::string name;            ///< for messages: the file or the key
  std::vector<Alias> aliases;  ///< the best first
  std::optional<int> result;   ///< it is this output of the model
  std::function<Tensor()> read;
};

class Reference {
 public:
  /// The tensor for a place; empty where there is none. Throws Failure where it cannot be read.
  Tensor at(const TensorPlace& place) const;
  bool has(const TensorPlace& place) const { return tensors_.contains(place); }
  void put(TensorPlace place, std::function<Tensor()> read) {
    tensors_.insert_or_assign(std::move(place), std::move(read));
  }
  void put(TensorPlace place, Tensor tensor) {
    share_.add_entry();
    put(std::move(place), [tensor = std::move(tensor)] { return tensor; });
  }
  /// Every place that has one, in no order that matters to people.
  const std::map<TensorPlace, std::function<Tensor()>>& tensors() const { return tensors_; }

  std::vector<std::string> unmatched;  ///< what was saved and belongs to no layer, for messages
  std::vector<std::string> unused;     ///< lines of the NameMap that found nothing, for messages

 private:
  std::map<TensorPlace, std::function<Tensor()>> tensors_;
  MemoryBudget::Share share_;
};

/// Names of the reference that mean other names in the model.
using NameMap = std::map<std::string, std::string, std::less<>>;
/// Lines `name in the reference = name in the model`, or with a tab between; # begins a comment. Throws Failure
/// (E0705).
NameMap parse_name_map(std::string_view text, std::string_view where);

/// Finds the place of every tensor: by layer name or tensor name (in files, with other bytes than letters, digits, "."
/// and "-" as "_"), for a module of PyTorch's its last layer. A model's output is also that of its producer.
Reference match(const Model& model, std::vector<Saved> saved, const NameMap& names);

/// Gives an output of the model the tensor of its producer, and the other way round, where one of them has none.
void share_with_results(const Model& model, Reference& reference);

}  // namespace ovir::tools
