// The random numbers behind RandomUniform and Multinomial, and the attributes of the former.
#pragma once
#include <array>
#include <cstdint>

#include "op/attributes.hpp"
#include "tensor/element_type.hpp"

namespace ovir {

/// The key of both random operations. "If both seed values are equal to zero, RandomUniform generates a
/// non-deterministic sequence": any will do, and one that is the same in every run can be compared.
constexpr std::uint64_t random_key(std::uint64_t global_seed, std::uint64_t op_seed) {
  return global_seed == 0 && op_seed == 0 ? 0x6f766972 : global_seed;
}

enum class RandomAlignment { tensorflow, pytorch };
constexpr auto words(RandomAlignment) {
  using enum RandomAlignment;
  return std::to_array<Word<RandomAlignment>>({{"tensorflow", tensorflow}, {"pytorch", pytorch}});
}

struct RandomUniformAttrs {
  ElementType output_type = ElementType::dynamic;
  std::uint64_t global_seed = 0, op_seed = 0;
  RandomAlignment alignment = RandomAlignment::tensorflow;
};

/// Philox 4x32-10: the n-th four words are a function of the seeds and n alone.
class Philox {
 public:
  Philox(std::uint64_t global_seed, std::uint64_t op_seed)
      : key_(random_key(global_seed, op_seed)), counter_(op_seed) {}

  std::uint32_t next() {
    if (used_ == 4) {
      block_ = block(n_++);
      used_ = 0;
    }
    return block_[used_++];
  }
  /// In [0, 1): 52 bits of two words as the fraction of a double.
  double next_double() {
    const auto high = next(), low = next();
    return static_cast<double>((static_cast<std::uint64_t>(high & 0xfffffu) << 32) | low) / 4503599627370496.0;
  }

 private:
  std::array<std::uint32_t, 4> block(std::uint64_t n) const {
    auto n_low = static_cast<std::uint32_t>(n), n_high = static_cast<std::uint32_t>(n >> 32);
    auto c_low = static_cast<std::uint32_t>(counter_), c_high = static_cast<std::uint32_t>(counter_ >> 32);
    auto k_low = static_cast<std::uint32_t>(key_), k_high = static_cast<std::uint32_t>(key_ >> 32);
    for (int round = 0; round < 10; ++round) {
      const auto for_n = std::uint64_t{0xD2511F53} * n_low, for_c = std::uint64_t{0xCD9E8D57} * c_low;
      n_low = static_cast<std::uint32_t>(for_c >> 32) ^ k_low ^ n_high;
      n_high = static_cast<std::uint32_t>(for_c);
      c_low = static_cast<std::uint32_t>(for_n >> 32) ^ k_high ^ c_high;
      c_high = static_cast<std::uint32_t>(for_n);
      k_low += 0x9E3779B9u;
      k_high += 0xBB67AE85u;
    }
    return {n_low, n_high, c_low, c_high};
  }

  std::uint64_t key_, counter_, n_ = 0;
  std::array<std::uint32_t, 4> block_{};
  std::size_t used_ = 4;
};

}  // namespace ovir
