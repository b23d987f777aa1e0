// Reshape: the same elements under another shape.
// Spec: operation-sets/operation-specs/shape/reshape-1
#include <numeric>

#include "op/kit/ranks.hpp"
#include "op/op.hpp"

namespace ovir::ops::reshape {
namespace {

enum Input { data, shape };

struct Attrs {
  bool special_zero = false;
};

/// What an element of `shape` asks for.
struct Entry {
  enum Kind { given, copied, rest } kind = given;  ///< a length; 0: the input's; -1: what is left
  Dim dim;
};

std::vector<Entry> entries_of(const InferContext& c, const std::vector<Interval>& pattern) {
  const auto& in = c.shape(data);
  const bool special_zero = c.attrs<Attrs>().special_zero;
  std::vector<Entry> entries;
  for (i64 i = 0; i < std::ssize(pattern); ++i) {
    const auto& v = pattern[i];
    if (v.is_known() && v.lo == -1) {
      entries.push_back({Entry::rest, Dim()});
    } else if (v.is_known() && v.lo == 0 && special_zero) {
      c.require(!in.has_rank() || i < in.rank(), shape, Code::E0507,
                "element {} of input \"shape\" of Reshape is 0 and copies a dim of \"data\", but \"data\" has shape {}",
                i, to_string(in));
      entries.push_back({Entry::copied, in.has_rank() ? in[i] : Dim()});
    } else {
      // A value that may turn out to be -1 says nothing of the length.
      entries.push_back({Entry::given, v.lo < 0 ? Dim() : v.to_dim()});
    }
  }
  c.require(std::count_if(entries.begin(), entries.end(), [](const Entry& e) { return e.kind == Entry::rest; }) <= 1,
            shape, Code::E0508, "input \"shape\" of Reshape must hold one -1 at most");
  return entries;
}

/// The lengths whose product one unknown dim must make equal: `in` of data and `out` of the rest of the output,
/// without those that both have.
struct Balance {
  std::vector<Dim> in, out;

  void cancel() {
    for (auto o = out.begin(); o != out.end();) {
      const auto equal = std::find_if(in.begin(), in.end(), [&](const Dim& d) {
        return (o->is_static() && o->length() != 0 && d == *o) || (o->symbol != 0 && d.symbol == o->symbol);
      });
      if (equal == in.end()) {
        ++o;
      } else {
        in.erase(equal);
        o = out.erase(o);
      }
    }
  }
};

struct Factors {
  i64 fixed = 1;          ///< the product of the known lengths
  std::vector<Dim> open;  ///< the others
  bool countable = true;  ///< `fixed` did not overflow
};

Factors factors(const std::vector<Dim>& dims) {
  Factors f;
  Shape known;
  for (const auto& d : dims) {
    if (d.is_static()) known.push_back(d.length());
    else f.open.push_back(d);
  }
  const auto product = checked_product(known);
  f.countable = product.has_value();
  f.fixed = product.value_or(1);
  return f;
}

Dim product(i64 fixed, const std::vector<Dim>& open) {
  Dim d(fixed);
  for (const auto& o : open) d = d * o;
  return d;
}

/// The lengths x can have with x * out = in; nothing where there is none.
std::optional<Dim> solve(const InferContext& c, Balance balance) {
  balance.cancel();
  auto in = factors(balance.in), out = factors(balance.out);
  if (!in.countable || !out.countable) return Dim();
  if (out.fixed == 0) {
    // Any length keeps the count at 0; OpenVINO takes 1.
    if (in.fixed == 0 || !in.open.empty()) return 1;
    return std::nullopt;
  }
  if (const auto common = std::gcd(in.fixed, out.fixed); common > 1) {
    in.fixed /= common;
    out.fixed /= common;
  }
  if (in.open.empty() && out.open.empty()) {
    if (out.fixed != 1) return std::nullopt;
    return in.fixed;
  }
  if (out.fixed == 1 && out.open.empty() && in.fixed == 1 && in.open.size() == 1) return in.open.front();

  const auto above = product(in.fixed, in.open), below = product(out.fixed, out.open);
  Dim rest(above.min > 0 ? 1 : 0, Dim::kUnbounded);
  if (below.is_bounded() && below.max > 0) rest.min = above.min / below.max + (above.min % below.max != 0);
  if (above.is_bounded() && below.min > 0) rest.max = std::max(rest.min, above.max / below.min);
  if (!rest.is_static()) rest.symbol = c.new_symbol();
  return rest;
}

std::string asked_for(const InferContext& c, const std::vector<Interval>& pattern) {
  const auto exact = c.ints(shape);  // a double holds integers up to 2^53 only
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const auto& v = pattern[i];
    text += fmt::format("{}{}", text.empty() ? "" : ",",
                        exact          ? fmt::format("{}", (*exact)[i])
                        : v.is_known() ? fmt::format("{}", v.lo)
                                       : to_string(v.lo < 0 ? Dim() : v.to_dim()));
  }
  return text;
}

/// Targets that keep the number of elements by leaving one dim to it. The first dim that data does not have is the
/// likeliest to have been hard-coded.
std::vector<Remedy> with_one_dim_open(const InferContext& c, const std::vector<Interval>& pattern) {
  const auto& in = c.shape(data);
  const auto exact = c.ints(shape);
  if (!exact) return {};
  std::vector<i64> order(pattern.size());
  std::iota(order.begin(), order.end(), 0);
  const auto kept = [&](i64 i) { return i < in.rank() && in[i].contains(static_cast<i64>(pattern[i].lo)); };
  const auto first = std::find_if_not(order.begin(), order.end(), kept);
  if (first != order.end()) std::rotate(order.begin(), first, first + 1);

  const bool has_rest = std::any_of(pattern.begin(), pattern.end(), [](const Interval& v) { return v.lo == -1; });
  std::vector<Remedy> remedies;
  const auto offer = [&](i64 at, i64 value) {
    std::string list;
    for (i64 i = 0; i < std::ssize(*exact); ++i)
      list += fmt::format("{}{}", i == 0 ? "" : ",", i == at ? value : (*exact)[i]);
    remedies.push_back({{Change::What::input, {}, list, shape}});
  };
  for (const auto i : order)
    if (!has_rest) offer(i, -1);
  // "special_zero controls how zero values in shape are interpreted": a 0 was probably meant to keep its dim.
  if (!c.attrs<Attrs>().special_zero && std::find(exact->begin(), exact->end(), 0) != exact->end())
    remedies.push_back({{Change::What::attribute, "special_zero", "true"}});
  for (const auto i : order)
    if (c.attrs<Attrs>().special_zero && i < in.rank() && pattern[i].lo > 0) offer(i, 0);
  return remedies;
}

/// The length that more elements than 64 bits can count saturate to says nothing.
std::string counted_elements(const Dim& count) {
  if (!count.is_bounded() && count.min >= i64{1} << 53 && count.min < Dim::kUnbounded - 1)
    return fmt::format("{} or more", count.min);
  return count.min >= Dim::kUnbounded - 1 ? "more than 2^63" : to_string(count);
}

void infer(InferContext& c) {
  c.require_rank(shape, 1);
  const auto& in = c.shape(data);
  auto pattern = c.require_at_least(shape, -1);
  const auto& s = c.shape(shape);
  if (!pattern && s == PartialShape{0}) pattern.emplace();  // no entries: a scalar
  if (!pattern) {
    auto out = shape_of_rank(axis_count(s));
    if (out.has_rank() && out.rank() == 1 && in.has_rank()) out[0] = in.rank() == 1 ? in[0] : in.element_count();
    return c.output(0, std::move(out));
  }

  const auto entries = entries_of(c, *pattern);
  PartialShape out;
  Balance balance;
  i64 open = -1;  // the output dim that the element count decides: the -1, else the only unknown one
  int unknown = 0;
  for (i64 i = 0; i < std::ssize(entries); ++i) {
    out.push_back(entries[i].dim);
    if (entries[i].kind == Entry::given && !entries[i].dim.is_static() && unknown++ == 0) open = i;
  }
  if (unknown != 1) open = -1;
  for (i64 i = 0; i < std::ssize(entries); ++i)
    if (entries[i].kind == Entry::rest) open = i;
  if (!in.has_rank()) return c.output(0, std::move(out));

  // A copied dim is on both sides: it is left out, so that [0, -1] works for a length of 0 too.
  for (i64 i = 0; i < in.rank(); ++i)
    if (i >= out.rank() || entries[i].kind != Entry::copied) balance.in.push_back(in[i]);
  for (i64 i = 0; i < out.rank(); ++i)
    if (i != open && entries[i].kind != Entry::copied) balance.out.push_back(out[i]);

  const bool asked = open >= 0 && entries[open].kind == Entry::rest;
  if (asked || (open >= 0 && product(1, balance.out).min > 0)) {
    const auto solved = solve(c, balance);
    const auto found = solved ? intersect(out[open], *solved) : solved;
    if (!found)
      c.fail_at(data, Code::E0512,
                fmt::format("Reshape cannot turn {1} into [{0}]: no length of dim {2} keeps the number of elements",
                            asked_for(c, *pattern), to_string(in), open),
                with_one_dim_open(c, *pattern));
    out[open] = *found;
  }

  // Where there are elements no length is 0.
  const auto before = in.element_count();
  for (auto& d : out.dims())
    if (before.min > 0 && d.min == 0 && d.max > 0) d = Dim(1, d.max, d.max > 1 ? d.symbol : 0);
  const auto after = out.element_count();
  if (!before.compatible(after)) {
    // Of a length that is known to a bound only the constant says more.
    const bool huge = std::any_of(entries.begin(), entries.end(),
                                  [](const Entry& e) { return !e.dim.is_bounded() && e.dim.min >= i64{1} << 53; });
    c.fail_at(data, Code::E0512,
              fmt::format("Reshape cannot turn {1} into {0}: {2} elements in, {3} out",
                          huge ? fmt::format("[{}]", asked_for(c, *pattern)) : to_string(out), to_string(in),
                          counted_elements(before), counted_elements(after)),
              with_one_dim_open(c, *pattern));
  }
  c.output(0, std::move(out));
}

void eval(EvalContext& c) {
  const auto& from = c.stored(data);
  c.set_out(0, from.reshaped(c.out_shape(0).to_shape()));
}

constexpr TypeVar T{"T", kAnyType}, TShape{"T_SHAPE", kInteger};
constexpr PortDef kInputs[] = {{"data", T}, {"shape", TShape}};
constexpr PortDef kOutputs[] = {{"reshaped", T}};
constexpr Version kVersions[] = {
    {.since = 1,
     .inputs = kInputs,
     .outputs = kOutputs,
     .attrs = attributes<Attrs, Attr<"special_zero", &Attrs::special_zero, kRequired>>,
     .infer = infer,
     .reads = ports(shape),
     .eval = eval,
     .lift = Lift::moves,
     .bounds = bounds_by_moving,
     .view = true},
};

}  // namespace

extern constinit const OpDef def{.type = "Reshape", .spec = "shape/reshape", .versions = kVersions};

}  // namespace ovir::ops::reshape
