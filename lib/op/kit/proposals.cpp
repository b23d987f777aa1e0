#include "op/kit/proposals.hpp"
#include "op/work.hpp"

#include <algorithm>
#include <cmath>

namespace ovir {

void move_box(float (&box)[4], const float (&delta)[4], float max_log, float pixel) {
  const float w = box[2] - box[0] + pixel, h = box[3] - box[1] + pixel;
  const float x = delta[0] * w + (box[0] + 0.5F * w), y = delta[1] * h + (box[1] + 0.5F * h);
  const float new_w = std::exp(std::min(delta[2], max_log)) * w, new_h = std::exp(std::min(delta[3], max_log)) * h;
  box[0] = x - 0.5F * new_w;
  box[1] = y - 0.5F * new_h;
  box[2] = x + 0.5F * new_w - pixel;
  box[3] = y + 0.5F * new_h - pixel;
}

std::vector<Proposal> decode_proposals(const float* anchors, const float* deltas, const float* scores, i64 cells,
                                       i64 count, const ProposalLimits& limits) {
  const float max_log = static_cast<float>(std::log(1000.0 / 16.0));
  const auto inside = [&](float v, float length) { return std::max(0.0F, std::min(v, length - limits.pixel)); };
  std::vector<Proposal> proposals;
  for (i64 i = 0; i < cells; ++i)
    for (i64 a = 0; a < count; ++a) {
      float box[4], delta[4];
      for (int k = 0; k < 4; ++k) {
        box[k] = anchors[(i * count + a) * 4 + k];
        delta[k] = deltas[(a * 4 + k) * cells + i];
      }
      move_box(box, delta, max_log, limits.pixel);
      const float x0 = inside(box[0], limits.image_width), y0 = inside(box[1], limits.image_height),
                  x1 = inside(box[2], limits.image_width), y1 = inside(box[3], limits.image_height);
      const bool large_enough =
          limits.min_width <= x1 - x0 + limits.pixel && limits.min_height <= y1 - y0 + limits.pixel;
      proposals.push_back({x0, y0, x1, y1, scores[a * cells + i], large_enough});
    }
  return proposals;
}

std::vector<Proposal> select_proposals(std::vector<Proposal> proposals, i64 before, i64 after, float threshold,
                                       float eta, float pixel) {
  std::stable_sort(proposals.begin(), proposals.end(),
                   [](const Proposal& x, const Proposal& y) { return x.score > y.score; });
  proposals.resize(std::clamp<i64>(before, 0, std::ssize(proposals)));
  std::erase_if(proposals, [](const Proposal& p) { return !p.large_enough; });
  const auto area = [&](const Proposal& p) { return (p.x1 - p.x0 + pixel) * (p.y1 - p.y0 + pixel); };
  std::vector<Proposal> kept;
  std::vector<bool> dropped(proposals.size(), false);
  for (i64 i = 0; i < std::ssize(proposals) && std::ssize(kept) < after; ++i) {
    if (dropped[i]) continue;
    constexpr i64 kOverlap = 4;
    spend(kOverlap * (std::ssize(proposals) - i));
    const auto& a = proposals[i];
    kept.push_back(a);
    for (auto j = i + 1; j < std::ssize(proposals); ++j) {
      const auto& b = proposals[j];
      if (a.x0 > b.x1 || a.y0 > b.y1 || b.x0 > a.x1 || b.y0 > a.y1) continue;
      const float common = std::max(0.0F, std::min(a.x1, b.x1) - std::max(a.x0, b.x0) + pixel) *
                           std::max(0.0F, std::min(a.y1, b.y1) - std::max(a.y0, b.y0) + pixel);
      if (threshold < common / (area(a) + area(b) - common)) dropped[j] = true;
    }
    if (eta < 1 && threshold > 0.5F) threshold *= eta;
  }
  return kept;
}

}  // namespace ovir
