// How text is written to a stream: with color or without, and how wide.
#pragma once
#include <string>
#include <string_view>

namespace ovir::app {

enum class Paint { error, warning, note, help, place, bold, dim };

struct Style {
  bool color = false;
  int width = 120;
  std::string operator()(Paint paint, std::string_view text) const;
};

/// `wish` is auto, always or never. Color is automatic on a terminal, unless NO_COLOR is set or TERM is "dumb".
/// `width`: the one to assume where neither COLUMNS nor a terminal gives it.
Style style_of(int descriptor, std::string_view wish, int width = 120);

}  // namespace ovir::app
