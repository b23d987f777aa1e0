#include "tools/pairing.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/text.hpp"

namespace ovir::tools {
namespace {

struct Use {
  int node, port;
};

class Pairing {
 public:
  Pairing(const Model& first, const Model& second) : a_(first), b_(second) {
    pairs.of_first.assign(a_.nodes.size(), -1);
    pairs.of_second.assign(b_.nodes.size(), -1);
    uses_.resize(a_.nodes.size());
    for (int i = 0; i < std::ssize(a_.nodes); ++i)
      for (int p = 0; p < std::ssize(a_[i].inputs); ++p)
        if (const auto from = a_[i].inputs[p].node; from >= 0) uses_[from].push_back({i, p});
    users_.resize(b_.nodes.size());
    for (int j = 0; j < std::ssize(b_.nodes); ++j)
      for (const auto& v : b_[j].inputs)
        if (v.node >= 0) users_[v.node].push_back(j);
  }

  Pairs pairs;

  void run() {
    by_name([](const Layer& x, const Layer& y) { return same_type(x, y) && !is_made_up(x.name); });
    by_neighbors();
    by_name(same_type);
    by_position(a_.parameters, b_.parameters);
    by_position(a_.results, b_.results);
    by_neighbors();
    by_name([](const Layer&, const Layer&) { return true; });
    by_neighbors();
  }

 private:
  const Model &a_, &b_;
  std::vector<std::vector<Use>> uses_;   // of a's nodes
  std::vector<std::vector<int>> users_;  // of b's nodes

  static bool same_type(const Layer& x, const Layer& y) { return equals_ignoring_case(x.type, y.type); }
  static bool is_made_up(std::string_view name) { return !name.empty() && name.back() >= '0' && name.back() <= '9'; }

  void pair(int i, int j) {
    pairs.of_first[i] = j;
    pairs.of_second[j] = i;
  }

  template <class Fits>
  void by_name(Fits&& fits) {
    std::multimap<std::string_view, int> named;
    for (int i = 0; i < std::ssize(a_.nodes); ++i)
      if (pairs.of_first[i] < 0) named.emplace(a_[i].layer->name, i);
    for (int j = 0; j < std::ssize(b_.nodes); ++j) {
      if (pairs.of_second[j] >= 0) continue;
      const auto [begin, end] = named.equal_range(b_[j].layer->name);
      const auto found = std::find_if(begin, end, [&](const auto& entry) {
        return pairs.of_first[entry.second] < 0 && fits(*a_[entry.second].layer, *b_[j].layer);
      });
      if (found != end) pair(found->second, j);
    }
  }

  void by_position(const std::vector<int>& of_a, const std::vector<int>& of_b) {
    if (of_a.size() != of_b.size()) return;
    for (std::size_t k = 0; k < of_a.size(); ++k)
      if (pairs.of_first[of_a[k]] < 0 && pairs.of_second[of_b[k]] < 0) pair(of_a[k], of_b[k]);
  }

  bool may_pair(int i, int j) const {
    return pairs.of_first[i] < 0 && pairs.of_second[j] < 0 && same_type(*a_[i].layer, *b_[j].layer);
  }

  /// Forward and back until nothing more is found: each round pairs whole chains.
  void by_neighbors() {
    for (bool found = true; found;) {
      found = false;
      for (int i = 0; i < std::ssize(a_.nodes); ++i)
        if (pairs.of_first[i] < 0) found |= by_inputs(i);
      for (auto i = static_cast<int>(std::ssize(a_.nodes)) - 1; i >= 0; --i)
        if (pairs.of_first[i] < 0) found |= by_use(i);
    }
  }

  /// The one layer of the type that takes the same at all inputs; of several the first with the same attributes.
  bool by_inputs(int i) {
    const auto& inputs = a_[i].inputs;
    if (inputs.empty() || inputs[0].node < 0 || pairs.of_first[inputs[0].node] < 0) return false;
    int candidate = -1, count = 0;
    for (const auto j : users_[pairs.of_first[inputs[0].node]]) {
      if (j == candidate || !may_pair(i, j) || !same_inputs(i, j)) continue;
      if (same_attributes(*a_[i].layer, *b_[j].layer)) {
        pair(i, j);
        return true;
      }
      candidate = j;
      ++count;
    }
    if (count == 1) pair(i, candidate);
    return count == 1;
  }

  bool same_inputs(int i, int j) const {
    const auto &x = a_[i].inputs, &y = b_[j].inputs;
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [&](const ValueRef& v, const ValueRef& w) {
      return v.node >= 0 && pairs.of_first[v.node] == w.node && v.port == w.port;
    });
  }

  static bool same_attributes(const Layer& x, const Layer& y) {
    return std::equal(x.attributes.begin(), x.attributes.end(), y.attributes.begin(), y.attributes.end(),
                      [](const Attribute& p, const Attribute& q) { return p.name == q.name && p.value == q.value; });
  }

  /// What a paired layer takes at the same input.
  bool by_use(int i) {
    for (const auto& use : uses_[i]) {
      const auto user = pairs.of_first[use.node];
      if (user < 0 || use.port >= std::ssize(b_[user].inputs)) continue;
      const auto& v = b_[user].inputs[use.port];
      if (v.node < 0 || v.port != a_[use.node].inputs[use.port].port || !may_pair(i, v.node)) continue;
      pair(i, v.node);
      return true;
    }
    return false;
  }
};

}  // namespace

Pairs pair_layers(const Model& first, const Model& second) {
  Pairing pairing(first, second);
  pairing.run();
  return std::move(pairing.pairs);
}

}  // namespace ovir::tools
