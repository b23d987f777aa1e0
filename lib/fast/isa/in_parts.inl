/// Calls part(first pixel, pixels) for all of them, at most `most` each and about as many.
template <class Part>
[[gnu::always_inline]] inline void in_parts(i64 pixels, int most, Part part) {
  i64 first = 0;
  for (i64 parts = (pixels + most - 1) / most; parts > 0; --parts) {
    const int now = static_cast<int>((pixels - first + parts - 1) / parts);
    part(first, now);
    first += now;
  }
}
