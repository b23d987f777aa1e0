// Convert-1 between any two element types. Every type is read into one of four carriers (i64, u64, f32, f64) and
// written from there, a block at a time, so that N types need 5 N loops and not N * N.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tensor/copy.hpp"
#include "tensor/dispatch.hpp"
#include "tensor/tensor.hpp"

namespace ovir {

namespace {

/// An integer of fewer bits than its byte; `Signed` ones are sign-extended.
template <int Bits, bool Signed = false>
struct Narrow {
  std::uint8_t bits;
};

template <class T>
inline constexpr bool is_narrow_float = std::is_class_v<T>&& std::is_convertible_v<T, float>;

struct Truth {
  std::uint8_t bits;
};

using All = decltype(Numbers{} +
                     TypeList<TypeEntry<ElementType::f16, f16>, TypeEntry<ElementType::bf16, bf16>,
                              TypeEntry<ElementType::f8e4m3, f8e4m3>, TypeEntry<ElementType::f8e5m2, f8e5m2>,
                              TypeEntry<ElementType::f8e8m0, f8e8m0>, TypeEntry<ElementType::f4e2m1, f4e2m1>,
                              TypeEntry<ElementType::nf4, nf4>, TypeEntry<ElementType::i4, Narrow<4, true>>,
                              TypeEntry<ElementType::u6, Narrow<6>>, TypeEntry<ElementType::u4, Narrow<4>>,
                              TypeEntry<ElementType::u3, Narrow<3>>, TypeEntry<ElementType::u2, Narrow<2>>,
                              TypeEntry<ElementType::u1, Narrow<1>>, TypeEntry<ElementType::boolean, Truth>>{});
using Carriers = TypeList<TypeEntry<ElementType::i64, i64>, TypeEntry<ElementType::u64, std::uint64_t>,
                          TypeEntry<ElementType::f32, float>, TypeEntry<ElementType::f64, double>>;

ElementType carrier_of(ElementType t) {
  if (t == ElementType::f64 || t == ElementType::u64) return t;
  return is_float(t) ? ElementType::f32 : ElementType::i64;
}

template <class T, class C>
void load(const T* from, C* to, i64 n) {
  if constexpr (std::is_same_v<C, float> && (std::is_same_v<T, f16> || std::is_same_v<T, bf16>)) to_f32(from, to, n);
  else if constexpr (is_narrow_float<T>)
    std::transform(from, from + n, to, [](T x) { return static_cast<C>(static_cast<float>(x)); });
  else if constexpr (std::is_class_v<T>) {
    constexpr bool is_signed = std::is_same_v<T, Narrow<4, true>>;
    std::transform(from, from + n, to, [](T x) {
      return is_signed ? static_cast<C>(static_cast<std::int8_t>(x.bits)) : static_cast<C>(x.bits);
    });
  } else std::transform(from, from + n, to, [](T x) { return static_cast<C>(x); });
}

/// Truncated towards zero, saturated to 64 bits; NaN is 0. What lies outside is left open by the specification.
template <class C>
i64 truncate(C x) {
  if constexpr (std::is_integral_v<C>) return static_cast<i64>(x);
  else {
    constexpr C limit = static_cast<C>(9223372036854775808.0);
    if (!(x < limit)) return x >= limit ? std::numeric_limits<i64>::max() : 0;
    return x >= -limit ? static_cast<i64>(x) : std::numeric_limits<i64>::min();
  }
}

template <class C>
std::uint64_t truncate_unsigned(C x) {
  if constexpr (!std::is_integral_v<C>) {
    constexpr C limit = static_cast<C>(9223372036854775808.0);
    if (x >= 2 * limit) return std::numeric_limits<std::uint64_t>::max();
    if (x >= limit) return static_cast<std::uint64_t>(x);
  }
  return static_cast<std::uint64_t>(truncate(x));
}

template <class C, class T>
T write_as(C x) {
  // "congruent to the source integer modulo 2^N"
  if constexpr (is_narrow_float<T>) return T(static_cast<float>(x));
  else if constexpr (std::is_same_v<T, Truth>) return {static_cast<std::uint8_t>(x != C{0})};
  else if constexpr (std::is_floating_point_v<T>) return static_cast<T>(x);
  else if constexpr (std::is_same_v<T, std::uint64_t>) return truncate_unsigned(x);
  else if constexpr (std::is_integral_v<T>) return static_cast<T>(truncate(x));
  else {
    const auto low = []<int Bits, bool Signed>(i64 v, Narrow<Bits, Signed>) {
      constexpr int drop = 64 - Bits;
      const auto up = static_cast<std::uint64_t>(v) << drop;
      return static_cast<std::uint8_t>(Signed ? static_cast<std::uint64_t>(static_cast<i64>(up) >> drop) : up >> drop);
    };
    return {low(truncate(x), T{})};
  }
}

template <class C, class T>
void store(const C* from, T* to, i64 n) {
  if constexpr (std::is_same_v<C, float> && (std::is_same_v<T, f16> || std::is_same_v<T, bf16>)) from_f32(from, to, n);
  else std::transform(from, from + n, to, write_as<C, T>);
}

}  // namespace

void convert_into(const Tensor& given, Tensor& out) {
  const Tensor in = given.unpacked();
  const auto from = in.type(), to = out.type(), via = carrier_of(from);
  if (from == to) {
    if (in.byte_size() > 0) std::memcpy(out.mutable_bytes(), in.bytes(), in.byte_size());
    return;
  }
  dispatch(via, Carriers{}, [&]<class C>() {
    std::array<C, 512> block;
    for (i64 at = 0; at < in.size(); at += std::ssize(block)) {
      const auto n = std::min(in.size() - at, std::ssize(block));
      const C* read = from == via ? in.data<C>() + at : block.data();
      C* const written = to == via ? out.mutable_data<C>() + at : block.data();
      if (from != via) {
        dispatch(from, All{}, [&]<class T>() {
          if constexpr (!std::is_same_v<T, C>) load(in.data<T>() + at, written, n);
        });
        read = written;
      }
      if (to != via) {
        dispatch(to, All{}, [&]<class T>() {
          if constexpr (!std::is_same_v<T, C>) store(read, out.mutable_data<T>() + at, n);
        });
      }
    }
  });
}

Tensor convert(const Tensor& given, ElementType to) {
  if (given.type() == to) return given;
  Tensor out(to, given.shape());
  convert_into(given, out);
  return out;
}

void to_i64(const Tensor& t, std::vector<i64>& to) {
  to.resize(t.size());
  if (t.size() == 0) return;
  if (t.type() == ElementType::i64) {
    std::copy_n(t.data<i64>(), t.size(), to.begin());
    return;
  }
  const std::shared_ptr<const void> here(std::shared_ptr<void>(), to.data());
  Tensor wide(ElementType::i64, t.shape(), here, reinterpret_cast<const std::byte*>(to.data()));
  convert_into(t, wide);
  if (t.type() == ElementType::u64)  // here, unlike in Convert, what is too large saturates
    for (auto& v : to) v = v < 0 ? std::numeric_limits<i64>::max() : v;
}

std::vector<i64> to_i64(const Tensor& t) {
  std::vector<i64> values;
  to_i64(t, values);
  return values;
}

std::vector<double> to_f64(const Tensor& t) {
  std::vector<double> values(t.size());
  if (t.size() == 0) return values;
  const std::shared_ptr<const void> here(std::shared_ptr<void>(), values.data());
  Tensor wide(ElementType::f64, t.shape(), here, reinterpret_cast<const std::byte*>(values.data()));
  convert_into(t, wide);
  return values;
}

}  // namespace ovir
