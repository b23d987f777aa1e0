// What is done while tiles are multiplied (tiles_amx.inl, rows_amx.inl).

/// What stores tiles falls asleep where 2,000 to 2,500 cycles go by without a store, and the next one then takes 1,000
/// longer: a long sum loses up to a third. So a tile is stored to nowhere now and then, which costs next to nothing.
class KeepsAwake {
 public:
  /// To be called after every multiplication of two or four tiles of sums.
  [[gnu::always_inline]] void step() {
    if (++count_ % kEvery == 0) _tile_stored(4, nowhere_, 0);
  }

 private:
  static constexpr unsigned kEvery = 12;  // of up to 64 cycles each, or twice that where operands come late
  alignas(64) float nowhere_[kTileRows];
  unsigned count_ = 0;
};

/// How often two or four tiles of sums are multiplied.
inline i64 multiplications(const NarrowSum& t) {
  const auto lines = [](i64 steps) { return (steps + kTileRows - 1) / kTileRows; };
  return (t.part != 0 ? 6 : 1) * t.tap_count * ((t.blocks - 1) * lines(t.steps) + lines(t.last_steps));
}

/// Pixels whose sums are finished at once.
constexpr int kFinished = 4;

static void finish_some(TileAside& a, int count);

/// Finishes the tile before, some pixels at a time, while tiles are multiplied.
class FinishesOther {
 public:
  /// Tiles will be multiplied in `slots` steps. What was multiplied last is not there yet in the first of them.
  FinishesOther(TileAside& before, i64 slots) : before_(&before) {
    const i64 groups = (before.pixels - before.done + kFinished - 1) / kFinished;
    if (groups == 0) return;
    const i64 wait = slots > 2 ? 1 : 0, left = slots - wait;
    count_ = static_cast<int>((groups + left - 1) / left * kFinished);
    apart_ = left > groups ? left / groups : 1;
    next_ = 1 + wait;
  }
  /// To be called once tiles are being multiplied.
  [[gnu::always_inline]] void step() {
    if (--next_ == 0) some();
  }

 private:
  [[gnu::noinline]] void some() {
    finish_some(*before_, count_);
    if (before_->done < before_->pixels) next_ = apart_;
  }

  TileAside* before_;
  int count_ = 0;
  i64 apart_ = 0, next_ = 0;  // 0: there is nothing to do
};

struct FinishesNone {
  void step() {}
};
