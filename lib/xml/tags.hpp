// Finding one's way in the text of an XML document, to change a few characters of it and no more, or to say where it
// ceases to be well-formed.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ovir::xml {

struct TextRange {
  std::size_t begin = 0, end = 0;
};

/// `name="value"` in a tag: the ranges of the name and of the value without its quotes.
struct AttributeText {
  TextRange name, value;
};
/// The attribute of the tag that begins at `tag`, its '<'.
std::optional<AttributeText> find_attribute(std::string_view text, std::size_t tag, std::string_view name);

/// Behind a comment, CDATA section or processing instruction at `at`; `at` itself where there is none.
std::size_t skip_non_element(std::string_view text, std::size_t at);
/// The '>' of the tag that begins at `tag`, quoted text may hold others; the end of the text where there is none.
std::size_t tag_end(std::string_view text, std::size_t tag);
/// The tag that begins at `tag`, to behind its '>'.
TextRange tag_range(std::string_view text, std::size_t tag);
/// The '<' of the tag around `offset`, which lies in an attribute.
std::size_t tag_around(std::string_view text, std::size_t offset);

/// A direct child: from the '<' of its tag to behind its end, and what is between its tags.
struct ElementText {
  TextRange whole, content;
};
/// The direct children called `name` of the element whose tag begins at `tag`, in order.
std::vector<ElementText> children(std::string_view text, std::size_t tag, std::string_view name);

/// The '<' of the outermost element's tag.
std::size_t root_tag(std::string_view text);

/// `value` as it stands between quotes.
std::string escaped(std::string_view value);

}  // namespace ovir::xml
