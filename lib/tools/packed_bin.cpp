#include "tools/packed_bin.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

#include "base/text.hpp"
#include "model/report.hpp"

namespace ovir::tools {
namespace {

constexpr i64 kAlignment = 64;

/// Strings are stored as their count, the offsets of their ends (each 32 bits) and their text.
std::string packed_strings(const Tensor& value) {
  std::string words, text;
  const auto put = [&](std::size_t n) {
    const auto word = static_cast<std::uint32_t>(n);
    words.append(reinterpret_cast<const char*>(&word), sizeof word);
  };
  put(value.size());
  put(0);
  for (const auto s : value.values<std::string_view>()) {
    text += s;
    put(text.size());
  }
  return words + text;
}

Bytes packed_bytes(const Tensor& value) {
  if (value.type() == ElementType::string) {
    const auto text = std::make_shared<const std::string>(packed_strings(value));
    return {text, std::as_bytes(std::span(*text))};
  }
  const auto packed = pack(value);
  const auto size = packed_size(value.type(), value.size()).value_or(0);
  return {packed.owner(), std::span(packed.bytes(), size)};
}

}  // namespace

void PackedBin::keep(const Model& model, const Node& node) {
  for (const auto& body : node.bodies)
    for (const auto& inner : body->nodes) keep(*body, inner);
  const auto bytes = stored_bytes(node);
  if (!bytes || bytes->begin == bytes->end) return;
  if (!old_ || bytes->end > std::ssize(old_->view)) {
    auto d = diagnose(Code::E0302, fmt::format("the bytes [{}..{}) of {} are not in the .bin", bytes->begin, bytes->end,
                                               describe(*node.layer)));
    d.attribute = "offset";
    locate(d, model, *node.layer);
    fail(std::move(d));
  }
  stored_.push_back({*bytes, node.layer});
}

std::vector<Replacement> PackedBin::place() {
  std::vector<Replacement> moved;
  std::sort(stored_.begin(), stored_.end(), [](const Stored& a, const Stored& b) {
    return std::pair(a.bytes.begin, a.bytes.end) < std::pair(b.bytes.begin, b.bytes.end);
  });
  for (auto first = stored_.begin(); first != stored_.end();) {
    auto [begin, end] = first->bytes;
    auto last = first;
    for (; last != stored_.end() && last->bytes.begin <= end; ++last) end = std::max(end, last->bytes.end);
    align(std::gcd(begin, kAlignment));
    for (; first != last; ++first) {
      const auto* const offset = first->layer->attribute("offset");
      const auto now = first->bytes.begin - begin + end_;
      if (offset && now != first->bytes.begin) moved.push_back({offset->at, std::to_string(now)});
    }
    append({old_->owner, old_->view.subspan(begin, end - begin)});
  }
  return moved;
}

ByteRange PackedBin::add(const Tensor& value) {
  align(kAlignment);
  const auto begin = end_;
  append(packed_bytes(value));
  return {begin, end_};
}

void PackedBin::align(i64 to) {
  static constexpr std::array<std::byte, kAlignment> zeros{};
  const auto gap = (to - end_ % to) % to;
  append({nullptr, std::span(zeros).first(gap)});
}

void PackedBin::append(Bytes piece) {
  if (piece.view.empty()) return;
  end_ += std::ssize(piece);
  pieces_.push_back(std::move(piece));
}

}  // namespace ovir::tools
