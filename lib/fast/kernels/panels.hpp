// The right operand of products and convolutions on words (isa/narrow.hpp): panels of 32 columns.
#pragma once
#include <algorithm>
#include <functional>

#include "fast/isa/narrow.hpp"
#include "fast/kernels/chunks.hpp"
#include "fast/kernels/weights.hpp"

namespace ovir::fast {

/// All panels, or, needed once, each made right before it is used: make(panel, room) makes one at the beginning of
/// `room_words` words of its own. Those of all threads lie at `rooms`.
struct WordPanels {
  // NOLINTNEXTLINE(google-explicit-constructor): that they are packed is all that most have to say
  WordPanels(const Word* all) : packed(all) {}
  WordPanels(std::function<void(i64 panel, Word* room)> how, i64 words, Word* memory)
      : make(std::move(how)), room_words(words), rooms(memory) {}
  const Word* packed = nullptr;
  std::function<void(i64 panel, Word* room)> make;
  i64 room_words = 0;
  Word* rooms = nullptr;
};

/// Panels that a single run makes, in memory that stays in the cache.
struct OncePanels {
  i64 count, words;  ///< of panels; of each
  i64 read_words;    ///< that the weights of a panel take, where they are read
  /// Who makes a panel uses it at once; otherwise all are made first, for they are few, or all are read several times.
  bool by_panels;

  i64 room() const { return round_up(read_words, kBlock); }
  i64 scratch_size(int threads) const {
    return by_panels ? threads * (words + room()) : count * words + threads * room();
  }
  /// use(panels), which are made by make(panel, read, to): `read` has room for its weights.
  template <class Make, class Use>
  void run(Word* scratch, ThreadPool& pool, const Make& make, const Use& use) const {
    if (by_panels) {
      const auto make_one = [&](i64 panel, Word* to) { make(panel, to + words, to); };
      return use(WordPanels(std::cref(make_one), words + room(), scratch));
    }
    Slots rooms(reinterpret_cast<float*>(scratch + count * words), room(), slots_for(pool));
    parallel(pool, count, [&](i64 panel) {
      const Slots::Lease read(rooms);
      make(panel, reinterpret_cast<Word*>(read.data()), scratch + panel * words);
    });
    use(WordPanels(scratch));
  }
};

/// Tiles whose place and ending are said once, but where NarrowTable::tiled.
inline constexpr i64 kTilesAtOnce = 5;

/// work(first row, rows) for the tiles of some rows, or pixels of a row, so many at once.
template <class Work>
void each_tiles(const Part& rows, i64 at_once, const Work& work) {
  const auto tiles = ceil_div(rows.size(), i64{narrow_isa().pixels});
  for (i64 i = 0; i < tiles; i += at_once) {
    const auto begin = Part(rows.size(), tiles, i).begin,
               end = Part(rows.size(), tiles, std::min(i + at_once, tiles) - 1).end;
    work(rows.begin + begin, end - begin);
  }
}

}  // namespace ovir::fast
