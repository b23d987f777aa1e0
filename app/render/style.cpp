#include "render/style.hpp"

#include <sys/ioctl.h>
#include <unistd.h>
#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>

#include "base/text.hpp"

namespace ovir::app {

std::string Style::operator()(Paint paint, std::string_view text) const {
  if (!color) return std::string(text);
  constexpr std::string_view codes[] = {"1;31", "1;33", "1;36", "1;32", "34", "1", "2"};
  return fmt::format("\x1b[{}m{}\x1b[0m", codes[static_cast<std::size_t>(paint)], text);
}

Style style_of(int descriptor, std::string_view wish, int width) {
  Style style;
  style.width = width;
  const bool terminal = ::isatty(descriptor) != 0;
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const term = std::getenv("TERM");
  const bool automatic =
      terminal && (no_color == nullptr || *no_color == '\0') && term != nullptr && std::string_view(term) != "dumb";
  style.color = wish == "always" || (wish == "auto" && automatic);
  const char* const columns = std::getenv("COLUMNS");
  winsize size{};
  constexpr int kNarrowest = 40;
  if (const auto given = columns ? parse_number<int>(columns) : std::nullopt; given && *given > 0)
    style.width = std::max(kNarrowest, *given);
  else if (terminal && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.width = std::max<int>(kNarrowest, size.ws_col);
  return style;
}

}  // namespace ovir::app
