// The filters of a convolution by integers, packed for its kernels, and what turns sums into values.
#pragma once
#include "fast/kernels/pair_excess.hpp"
#include "fast/kernels/panels.hpp"
#include "fast/kit/int8_convolution.hpp"

namespace ovir::fast {

enum class U8Way : std::uint8_t { direct, winograd, depthwise };

/// Filters that are packed when the plan is made or, `late`, in each run: for plans that run once.
class U8Filters {
 public:
  /// Only filters for U8Way::direct can be late.
  U8Filters(const U8Layer& layer, bool late);

  U8Way way() const { return way_; }
  /// Those that are not late.
  const Word* words() const { return packed_->words(); }
  const std::int8_t* bytes() const { return reinterpret_cast<const std::int8_t*>(words()); }
  const U8Epilogue& epilogue() const { return epilogue_; }

  /// Floats of scratch memory that use_with() needs.
  i64 scratch_size(const NarrowGeometry& geometry, int threads) const;
  /// use(panels, epilogue)
  template <class Use>
  void use_with(const NarrowGeometry& geometry, float* scratch, ThreadPool& pool, const Use& use) const {
    if (!late_) return use(WordPanels(words()), epilogue_);
    auto epilogue = epilogue_;
    epilogue.shift = scratch;
    const auto make = [&](i64 panel, Word* read, Word* to) { make_panel(geometry, panel, read, to, scratch); };
    once(geometry).run(reinterpret_cast<Word*>(scratch + line_size()), pool, make,
                       [&](const WordPanels& panels) { use(panels, epilogue); });
  }

 private:
  PackedU8 packed(const U8Layer& layer, bool fits) const;
  void set_epilogue(const U8Layer& layer);
  /// Bounds of levels by output, where they differ; false where they don't.
  bool set_bounds(const U8Ending& ending, i64 outputs);
  i64 line_size() const { return lines_.size() / 6; }
  OncePanels once(const NarrowGeometry& geometry) const;
  void make_panel(const NarrowGeometry& geometry, i64 panel, Word* read, Word* to, float* shifts) const;

  bool late_;
  U8Way way_;
  std::shared_ptr<const PackedU8> packed_;
  Buffer lines_;
  U8Epilogue epilogue_{};
  I8Source source_;  // where they are late
  std::vector<SumShift> shifts_;
  std::vector<std::uint8_t> lows_, highs_;
};

}  // namespace ovir::fast
