// What a file is that was given as a model or as weights and is neither.
#pragma once
#include <string_view>

namespace ovir::xml {

struct Kind {
  std::string_view what;  ///< "a web page"; empty: nothing known
  std::string_view hint;  ///< what to do, may be empty
  explicit operator bool() const { return !what.empty(); }
};

/// Judges by the first bytes. Nothing where `content` may be an XML document.
Kind kind_of_model(std::string_view content);
/// Text that is certainly no weights: an LFS pointer, a web page, an XML document.
Kind kind_of_weights(std::string_view content);

}  // namespace ovir::xml
