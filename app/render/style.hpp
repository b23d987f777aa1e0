// How text is written to a stream: with colour or without, and how wide.
#pragma once
#include <string>
#include <string_view>

namespace ovir::app {

enum class Paint { error, warning, note, help, place, bold, dim };

struct Style {
  bool colour = false;
  int width = 120;
  std::string operator()(Paint paint, std::string_view text) const;
};

/// `wish` is auto, always or never. Colour is automatic on a terminal, unless NO_COLOR is set or TERM is "dumb".
Style style_of(int descriptor, std::string_view wish);

/// "1 error", "2 errors".
std::string count(std::size_t n, std::string_view singular, std::string_view plural = {});

}  // namespace ovir::app
