#include "plan/kernel.hpp"

#include <algorithm>
#include <new>

#include "base/checked.hpp"

namespace ovir {

Scratch KernelState::reserve(i64 floats) {
  constexpr i64 kLine = 64;
  const auto bytes = checked_mul(floats, i64{sizeof(float)});
  const auto end = bytes ? checked_add(scratch_bytes, *bytes) : std::nullopt;
  if (floats < 0 || !end || *end > i64{1} << 60) throw std::bad_alloc();
  const Scratch result{scratch_bytes, *bytes};
  scratch_bytes = (*end + kLine - 1) / kLine * kLine;
  return result;
}

std::unique_ptr<KernelState> prepare_for(const Kernel& kernel, const Sizes& sizes, Runtime& runtime) {
  // By its dims: beside one of 0 the product of others may be beyond 64 bits.
  const auto is_empty = [](const View& view) { return std::ranges::find(view.dims, 0) != view.dims.end(); };
  if (std::ranges::any_of(sizes.in, is_empty) || std::ranges::any_of(sizes.out, is_empty)) return nullptr;
  // Kernels make tables as long as axes are: not of outputs that there is no memory for.
  const auto most = runtime.memory()->limit();
  for (const auto& view : sizes.out) {
    i64 bytes = byte_width(view.type);
    for (const auto d : view.dims) bytes = saturating_mul(bytes, d);
    if (bytes > most) throw OverBudget(most);
  }
  return kernel.prepare(sizes, runtime);
}

}  // namespace ovir
