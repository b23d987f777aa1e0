// What ovir has to say about a model: a stable code, a place in the file, a layer and port, and notes.
// The library collects diagnostics; the app renders them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "base/int.hpp"
#include "diag/codes.hpp"

namespace ovir {

/// The text of a model file, kept for snippets and for turning offsets into line:column.
struct SourceFile {
  std::string path;
  std::shared_ptr<const void> owner;
  std::string_view text;
};

/// A byte range of a source file (or of the .bin, where `file` is null and `path` says which).
struct SourceLoc {
  std::shared_ptr<const SourceFile> file;
  std::size_t offset = 0;
  std::size_t length = 1;
  explicit operator bool() const { return file != nullptr; }
};

struct LineColumn {
  std::size_t line, column;  ///< 1-based; columns count code points, a tab is one
};
LineColumn line_column(const SourceLoc&);
/// Lines and columns of many places of one file: `line_column` looks through the text each time.
class LineIndex {
 public:
  explicit LineIndex(const SourceFile& file);
  LineColumn operator()(std::size_t offset) const;

 private:
  std::string_view text_;
  std::vector<std::size_t> starts_;
  std::vector<std::size_t> counts_;  ///< code points before every 4096th byte: a line may be the whole file
  std::size_t points_before(std::size_t offset) const;
};
/// The whole line (without its end) that `at` lies in.
std::string_view source_line(const SourceLoc& at);

/// The layer a diagnostic is about, as the file spells it.
struct LayerRef {
  std::string id, name, type, version;
  std::string path;  ///< "loop1/body/" where the layer is in a body, else empty
};

struct PortRef {
  bool input = true;
  i64 index = 0;          ///< 0-based position
  std::optional<i64> id;  ///< the file's own port id
  std::string name;       ///< the specification's word: "data", "axes"
};

struct Note {
  std::string message;
  SourceLoc at;       ///< may be empty
  std::string label;  ///< under the caret, may be empty
  std::string where;  ///< a place outside of source text: "stored at model.bin[432..456)"
};

/// A change of the file, in the words of the layer or place at fault.
struct Change {
  enum class What : std::uint8_t {
    layer_attribute,  ///< attribute `name` of the <layer> becomes `value`
    attribute,        ///< attribute `name` of its <data> becomes `value`
    attribute_name,   ///< attribute `name` of its <data> is called `value`
    tag_attribute,    ///< attribute `name` of the tag at Diagnostic::at becomes `value`
    text,             ///< the text at Diagnostic::at becomes `value`
    dims,             ///< the <dim>s of the port at Diagnostic::at become the list `value`
    input,            ///< the constant at input `port` becomes the list `value`
  } what{};
  std::string name, value;
  i64 port = 0;
};
/// Changes that together may cure a fault. Nothing vouches for them until tools/fix has checked the model with them.
using Remedy = std::vector<Change>;

/// A stretch of a file's text and what it becomes.
struct Replacement {
  SourceLoc at;  ///< of length 0 where something is put in
  std::string text;
};

struct Diagnostic {
  Severity severity = Severity::error;
  Code code{};
  std::string message;
  SourceLoc at;
  std::string label;  ///< the words after the caret
  std::optional<LayerRef> layer;
  std::optional<PortRef> port;
  std::string attribute;             ///< the attribute at fault, where it is one: the caret goes there
  std::optional<std::size_t> entry;  ///< of an attribute that is a list: the caret goes to this entry
  std::vector<Note> notes;
  std::vector<Remedy> remedies;  ///< most likely first
  std::string help;              ///< only what has been verified
  std::vector<Replacement> fix;  ///< the change that `help` speaks of, where it is one of the text
};

static_assert(std::is_nothrow_move_constructible_v<Diagnostic>);

/// The one way to begin a diagnostic: with the severity that its code has. Layer, port, notes and remedies are set by
/// who knows them.
Diagnostic diagnose(Code code, std::string message, SourceLoc at = {});

/// Collects diagnostics of one command. Not thread-safe: stages report from the calling thread.
class Diagnostics {
 public:
  /// A code that is a warning or a note is counted as one, whatever `severity` says.
  void add(Diagnostic d);
  /// Makes errors of some warnings (-D, --strict).
  void promote(const std::function<bool(const Diagnostic&)>& which);
  /// Forgets some warnings and notes (-A).
  void drop_warnings(const std::function<bool(const Diagnostic&)>& which);
  const std::vector<Diagnostic>& all() const { return list_; }
  void set_help(std::size_t index, std::string help, std::vector<Replacement> fix);
  void add_note(std::size_t index, Note note);
  std::size_t errors() const { return errors_; }
  std::size_t warnings() const { return list_.size() - errors_ - notes_; }
  /// Layers that could not be judged because one before them failed.
  std::size_t dependents = 0;

 private:
  std::vector<Diagnostic> list_;
  std::size_t errors_ = 0, notes_ = 0;
};

/// One fault, thrown where it is found; a pass catches it, adds the place and the layer, and goes on.
class Failure : public std::exception {
 public:
  explicit Failure(Diagnostic d) : diagnostic(std::move(d)) {}
  const char* what() const noexcept override { return diagnostic.message.c_str(); }
  Diagnostic diagnostic;
};

[[noreturn]] void fail(Diagnostic d);
template <class... A>
[[noreturn]] void fail(Code code, fmt::format_string<A...> text, A&&... args) {
  fail(diagnose(code, fmt::format(text, std::forward<A>(args)...)));
}

}  // namespace ovir
