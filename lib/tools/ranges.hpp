// Ranges: how much room a narrower float type leaves for the values of a layer.
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "exec/observer.hpp"
#include "tools/watched.hpp"

namespace ovir::tools {

/// What decides whether a type holds values of that kind.
struct FloatLimits {
  ElementType type;
  double largest;  ///< finite
  double beyond;   ///< the least magnitude that is rounded to infinity
  double normal;   ///< the least normal number: below it, precision is lost
  double zero;     ///< the largest magnitude that is rounded to 0
};
/// Of f16 and bf16.
const FloatLimits& limits_of(ElementType type);

/// The finite values of one output of a layer, over all iterations.
struct ValueRange {
  const Model* model = nullptr;
  int node = -1;
  int port = 0;
  double largest = 0;   ///< magnitude
  double smallest = 0;  ///< magnitude that is not 0; 0: there is none
  i64 count = 0;        ///< finite elements
  struct Share {
    i64 too_large = 0, subnormal = 0, to_zero = 0;  ///< elements
  };
  std::vector<Share> shares;  ///< by type that was asked for

  /// How often the largest value fits into the type's largest; infinite where all values are 0.
  double headroom(const FloatLimits& limits) const;
};

/// Watches the floating-point outputs of the layers that are wanted.
class RangeWatch final : public Observer {
 public:
  RangeWatch(Watched& what, std::vector<ElementType> types) : what_(what), types_(std::move(types)) {}
  bool wants(const Model& model, int node) override { return what_.wants(model, node); }
  Verdict after(Event& event) override;

  const std::vector<ElementType>& types() const { return types_; }
  /// In the order in which the layers were first computed.
  const std::vector<ValueRange>& ranges() const { return ranges_; }

 private:
  Watched& what_;
  std::vector<ElementType> types_;
  std::vector<ValueRange> ranges_;
  std::map<std::pair<const Node*, int>, std::size_t> place_;
};

}  // namespace ovir::tools
