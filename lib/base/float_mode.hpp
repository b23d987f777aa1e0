// How a thread computes with floats: Intel's processors take a hundred times as long for results below the least normal
// number, which values that die away through a net become.
#pragma once
#include <cstdint>

namespace ovir {

/// The thread's mode, for another to take over. On other processors than x86 there is one only.
class FloatMode {
 public:
  static FloatMode of_this_thread();
  void use() const;
  /// The same, but results below the least normal number are 0.
  FloatMode flushing() const;
  bool operator==(const FloatMode&) const = default;

 private:
  std::uint32_t control_ = 0;
};

/// While it lives its thread, and those of a ThreadPool that help it, flush to zero.
class FlushToZero {
 public:
  FlushToZero() : before_(FloatMode::of_this_thread()) { before_.flushing().use(); }
  ~FlushToZero() { before_.use(); }
  FlushToZero(const FlushToZero&) = delete;
  FlushToZero& operator=(const FlushToZero&) = delete;

 private:
  FloatMode before_;
};

}  // namespace ovir
