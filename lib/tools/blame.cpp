// blamed: delta debugging on the elements of a layer's operands.
#include <chrono>
#include <cmath>

#include "tensor/dispatch.hpp"
#include "tools/element.hpp"

namespace ovir::tools {
namespace {

using Clock = std::chrono::steady_clock;

/// Larger sets say nothing to a reader.
constexpr std::size_t kMaxElements = 4;
constexpr int kTrials = 400;
constexpr auto kTime = std::chrono::milliseconds(1500);

bool is_wide_float(ElementType type) { return type == ElementType::f32 || type == ElementType::f64; }

class Search {
 public:
  Search(const Call& call, int port, i64 at, const std::function<bool(double)>& bad)
      : call_(call), port_(port), at_(at), bad_(bad), until_(Clock::now() + kTime) {
    for (const auto& t : call.in) neutral_.push_back(is_wide_float(t.type()) ? filled(t) : t);
  }

  std::vector<OperandElement> run() {
    std::vector<OperandElement> all, unusual;
    for (int p = 0; p < std::ssize(call_.in); ++p) {
      if (!is_wide_float(call_.in[p].type())) continue;
      for (i64 i = 0; i < call_.in[p].size(); ++i) all.push_back({p, i});
      for (const auto i : not_finite(call_.in[p])) unusual.push_back({p, i});
    }
    if (!unusual.empty() && still_bad(unusual)) return reduce(std::move(unusual));
    return still_bad(all) ? reduce(std::move(all)) : std::vector<OperandElement>{};
  }

 private:
  static Tensor filled(const Tensor& like) {
    Tensor t(like.type(), like.shape());
    dispatch(t.type(), Floats{}, [&]<class T>() {
      for (auto& x : t.mutable_values<T>()) x = T{1};
    });
    return t;
  }

  /// Whether the output's element is still bad when only these keep their values.
  bool still_bad(const std::vector<OperandElement>& kept) {
    if (++trials_ > kTrials || Clock::now() > until_) return false;
    for (const auto& e : kept) put(e, call_.in[e.port]);
    const auto outputs = outputs_for(call_, neutral_);
    for (const auto& e : kept) restore(e);
    return port_ < outputs.size() && outputs[port_] && at_ < outputs[port_].size() &&
           bad_(element(outputs[port_], at_));
  }

  void put(const OperandElement& e, const Tensor& from) {
    dispatch(from.type(), Floats{},
             [&]<class T>() { neutral_[e.port].mutable_data<T>()[e.at] = from.data<T>()[e.at]; });
  }
  void restore(const OperandElement& e) {
    dispatch(neutral_[e.port].type(), Floats{}, [&]<class T>() { neutral_[e.port].mutable_data<T>()[e.at] = T{1}; });
  }

  /// Leaves out ever smaller pieces, as long as what remains is bad.
  std::vector<OperandElement> reduce(std::vector<OperandElement> set) {
    for (auto piece = (set.size() + 1) / 2; piece > 0 && set.size() > 1; piece = piece == 1 ? 0 : (piece + 1) / 2) {
      for (std::size_t begin = 0; begin < set.size() && set.size() > 1;) {
        const auto end = std::min(begin + piece, set.size());
        std::vector<OperandElement> rest(set.begin(), set.begin() + begin);
        rest.insert(rest.end(), set.begin() + end, set.end());
        if (!rest.empty() && still_bad(rest)) set = std::move(rest);
        else begin = end;
      }
      if (trials_ > kTrials || Clock::now() > until_) break;
    }
    return set.size() <= kMaxElements ? set : std::vector<OperandElement>{};
  }

  const Call& call_;
  std::size_t port_;
  i64 at_;
  const std::function<bool(double)>& bad_;
  std::vector<Tensor> neutral_;
  Clock::time_point until_;
  int trials_ = 0;
};

}  // namespace

std::vector<OperandElement> blamed(const Call& call, int port, i64 at, const std::function<bool(double)>& bad) {
  return Search(call, port, at, bad).run();
}

}  // namespace ovir::tools
