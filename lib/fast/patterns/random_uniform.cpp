// RandomUniform of f32, i32 and i64 by Philox, between limits that are known.
#include <array>

#include "fast/isa/lines.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/types.hpp"
#include "op/kit/random.hpp"
#include "plan/pattern.hpp"

namespace ovir::fast::patterns::random_uniform {
namespace {

constexpr i64 kFew = 512;     // numbers that the reference kernel gives as fast
constexpr i64 kPiece = 1024;  // words that are made at a time, a multiple of four

/// [least, least + range) of the output's type.
struct Limits {
  float least = 0, range = 0;
  i64 first = 0;
  std::uint64_t count = 0;
};

/// Integers are words modulo `count`, which all words may be below.
void take_words(const Limits& limits, ElementType type, std::uint32_t* words, std::byte* y, i64 n) {
  constexpr auto kWord = whole_type(ElementType::u32);
  if (limits.count <= UINT32_MAX) {
    const auto count = static_cast<std::uint32_t>(limits.count);
    line_isa().whole(Whole::mod, kWord, words, 1, &count, 0, words, n);
  }
  if (type == ElementType::i32) {
    const auto first = static_cast<std::int32_t>(limits.first);
    line_isa().whole(Whole::add, kWord, words, 1, &first, 0, y, n);
  } else {
    auto* const to = reinterpret_cast<std::uint64_t*>(y);
    for (i64 i = 0; i < n; ++i) to[i] = static_cast<std::uint64_t>(limits.first) + words[i];
  }
}

class RandomUniform final : public Kernel {
 public:
  RandomUniform(const RandomUniformAttrs& attrs, const Limits& limits) : attrs_(attrs), limits_(limits) {}

  std::string name() const override { return "random_uniform"; }

  std::unique_ptr<KernelState> prepare(const Sizes& sizes, Runtime&) const override {
    return sizes.out[0].size() < kFew ? nullptr : std::make_unique<KernelState>();
  }

  void run(KernelState&, std::span<const View>, std::span<const View> out, Runtime& runtime) const override {
    const auto& y = out[0];
    const auto width = byte_width(y.type);
    const auto size = y.size();
    parallel_ranges(runtime.pool(), ceil_div(size, kPiece), static_cast<double>(kPiece), [&](i64 begin, i64 end) {
      alignas(64) std::array<std::uint32_t, kPiece> words;
      for (auto piece = begin; piece < end; ++piece) {
        const auto first = piece * kPiece, n = std::min(kPiece, size - first);
        line_isa().philox(random_key(attrs_.global_seed, attrs_.op_seed), attrs_.op_seed,
                          static_cast<std::uint64_t>(first / 4), words.data(), ceil_div(n, i64{4}));
        if (y.type == ElementType::f32)
          line_isa().uniform(words.data(), limits_.range, limits_.least, y.as<float>() + first, n);
        else take_words(limits_, y.type, words.data(), y.data + first * width, n);
      }
    });
  }

 private:
  RandomUniformAttrs attrs_;
  Limits limits_;
};

std::optional<Match> match(const Graphlet& graph, int root) {
  const auto& attrs = graph.attrs<RandomUniformAttrs>(root);
  const auto type = graph.stored({root, 0});
  const auto *low = graph.constant(graph.input(root, 1)), *high = graph.constant(graph.input(root, 2));
  if (attrs.alignment != RandomAlignment::tensorflow || type != attrs.output_type || !low || !high ||
      low->size() != 1 || high->size() != 1 || low->type() != type || high->type() != type)
    return std::nullopt;
  Limits limits;
  if (type == ElementType::f32) {
    limits.least = *low->data<float>();
    limits.range = *high->data<float>() - limits.least;
  } else if (contains(kIndex, type)) {
    limits.first = to_i64(*low)[0];
    limits.count = static_cast<std::uint64_t>(to_i64(*high)[0]) - static_cast<std::uint64_t>(limits.first);
  } else {
    return std::nullopt;
  }
  return Match{{root}, {graph.input(root, 0)}, std::make_unique<RandomUniform>(attrs, limits)};
}

constexpr std::string_view kRoots[] = {"RandomUniform"};

}  // namespace

extern constinit const Pattern pattern{.name = "random_uniform", .roots = kRoots, .match = match};

}  // namespace ovir::fast::patterns::random_uniform
