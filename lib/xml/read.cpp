#include "xml/read.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <new>
#include <pugixml.hpp>
#include <system_error>

#include "base/bytes.hpp"
#include "base/near_file.hpp"
#include "base/text.hpp"
#include "diag/diagnostic.hpp"
#include "xml/builder.hpp"
#include "xml/kind.hpp"
#include "xml/malformed.hpp"

namespace ovir::xml {

namespace {

Note note(std::string_view message) { return {std::string(message), {}, "", ""}; }

/// The first line of a file that is not what it should be. Nothing of it is shown where it is no text.
SourceLoc file_start(const std::string& path, const Bytes& bytes = {}) {
  std::string_view line = bytes.text().substr(0, std::min<std::size_t>(bytes.size(), 80));
  line = line.substr(0, line.find_first_of("\r\n"));
  const bool shown = std::all_of(line.begin(), line.end(), [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); });
  return {std::make_shared<SourceFile>(SourceFile{path, bytes.owner, shown ? line : ""}), 0, 1};
}

std::string with_extension(const std::string& path, std::string_view extension) {
  return std::filesystem::path(path).replace_extension(extension).string();
}

/// What the system says of a file that cannot be opened; nothing where it can.
std::optional<std::string> try_map(const std::string& path, Bytes& bytes) {
  try {
    bytes = map_file(path);
    return std::nullopt;
  } catch (const std::system_error& error) {
    return error.code().message();
  }
}

Note model_note(const std::string& file) {
  return note(fmt::format("a model is given by its .xml file, here {}", printable(file)));
}

/// The .xml file where it was left out, or the only one of a folder.
std::optional<std::string> model_meant(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::is_regular_file(path + ".xml", error)) return path + ".xml";
  std::optional<std::string> found;
  for (fs::directory_iterator at(path, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() != ".xml") continue;
    if (found) return std::nullopt;
    found = at->path().string();
  }
  return found;
}

Diagnostic not_a_model(const std::string& path, const Kind& kind, const Bytes& bytes) {
  auto d = diagnose(Code::E0102, fmt::format("{} is {}", printable(path), kind.what), file_start(path, bytes));
  if (!kind.hint.empty()) d.notes.push_back(note(kind.hint));
  const std::string extension = lower(std::filesystem::path(path).extension().string());
  Bytes other;
  if (extension == ".xml" && !try_map(with_extension(path, ".bin"), other) && other.text().starts_with("<?xml"))
    d.notes.push_back(note("the .bin beside it is an XML document: the two names may be swapped"));
  const bool convertible =
      extension == ".onnx" || extension == ".pb" || extension == ".tflite" || extension == ".pdmodel";
  if (kind.hint.empty() && convertible)
    d.notes.push_back(note(fmt::format("convert it with OpenVINO: `ovc {}`", printable(path))));
  if (extension == ".bin" && !try_map(with_extension(path, ".xml"), other))
    d.notes.push_back(model_note(with_extension(path, ".xml")));
  return d;
}

/// A layer with an offset and a size refers to bytes of the .bin.
bool has_bytes(const Layer& layer) {
  const auto* const size = layer.attribute("size");
  return !layer.value && layer.attribute("offset") != nullptr && size != nullptr && trim(size->value) != "0";
}

/// The first layer, in file order and bodies included, whose value lies in the .bin; `count` counts them all.
const Layer* first_constant(const Graph& graph, std::size_t& count) {
  const Layer* first = nullptr;
  for (const auto& layer : graph.layers) {
    if (has_bytes(layer)) {
      ++count;
      if (first == nullptr) first = &layer;
    }
    for (const auto& body : layer.bodies) {
      const Layer* const inner = first_constant(*body.graph, count);
      if (first == nullptr) first = inner;
    }
  }
  return first;
}

/// The .bin, or why there is none.
struct Weights {
  std::string path;
  std::shared_ptr<const Bytes> bytes;
  std::optional<Diagnostic> fault;
};

/// The one .bin in the folder of `path`; nothing where there are none or several.
std::optional<std::string> only_weights_beside(const std::string& path) {
  std::optional<std::string> found;
  std::error_code error;
  const auto folder = std::filesystem::path(path).parent_path();
  for (std::filesystem::directory_iterator at(folder.empty() ? "." : folder, error), end; !error && at != end;
       at.increment(error)) {
    if (at->path().extension() != ".bin") continue;
    if (found) return std::nullopt;
    found = (folder / at->path().filename()).string();
  }
  return found;
}

/// The .bin of a model: beside it, or, where the model is a symbolic link, beside what the link leads to.
std::string weights_of(const std::string& model) {
  auto beside = with_extension(model, ".bin");
  std::error_code error;
  if (std::filesystem::exists(beside, error) || !std::filesystem::is_symlink(model, error)) return beside;
  const auto target = std::filesystem::canonical(model, error);
  auto other = with_extension(target.string(), ".bin");
  return !error && std::filesystem::exists(other, error) ? other : beside;
}

Weights open_weights(const std::string& model, const ReadOptions& options) {
  Weights result;
  if (options.no_weights) return result;
  result.path = options.weights.empty() ? weights_of(model) : options.weights;
  if (options.bytes) {
    result.bytes = options.bytes;
    return result;
  }
  Bytes bytes;
  if (const auto error = try_map(result.path, bytes)) {
    result.fault = diagnose(Code::E0301, fmt::format("cannot open {}: {}", printable(result.path), *error),
                            file_start(result.path));
    if (const auto other = only_weights_beside(result.path); other && *other != result.path && options.weights.empty())
      result.fault->notes.push_back(
          note(fmt::format("{} exists; if it belongs to this model, pass it with --weights", printable(*other))));
  } else if (const Kind kind = kind_of_weights(bytes.text())) {
    result.fault = diagnose(Code::E0304, fmt::format("{} is {}", printable(result.path), kind.what),
                            file_start(result.path, bytes));
    if (!kind.hint.empty()) result.fault->notes.push_back(note(kind.hint));
  } else {
    result.bytes = std::make_shared<const Bytes>(std::move(bytes));
  }
  if (result.fault) result.path.clear();
  return result;
}

/// A missing .bin is a fault where something lies in it, or where the user named it.
void judge_weights(Weights weights, const Graph& graph, bool named, Diagnostics& diagnostics) {
  std::size_t count = 0;
  const Layer* const first = first_constant(graph, count);
  if (!weights.fault || (first == nullptr && !named)) return;
  if (first != nullptr) {
    const std::string others =
        count == 1 ? "" : fmt::format(" and of {} more layer{}", count - 1, count == 2 ? "" : "s");
    const std::string what = fmt::format("it holds the values of constant layer {} \"{}\"{}", first->id_text,
                                         printable(first->name), others);
    weights.fault->notes.push_back({what, first->at, "", ""});
  }
  diagnostics.add(std::move(*weights.fault));
}

std::shared_ptr<const Graph> read_text(const std::shared_ptr<const SourceFile>& source, const ReadOptions& options,
                                       Diagnostics& diagnostics) {
  const std::string_view text = source->text;
  if (const auto nul = text.find('\0'); nul != text.npos) {
    diagnostics.add(diagnose(Code::E0101, "malformed XML: NUL byte; XML text cannot contain one", {source, nul, 1}));
    return nullptr;
  }
  // The parser writes ends of strings and decoded entities into its text, so it gets a copy; places stay the same.
  const auto copy = std::make_unique_for_overwrite<char[]>(text.size());
  std::memcpy(copy.get(), text.data(), text.size());
  pugi::xml_document document;
  const auto parsed = document.load_buffer_inplace(copy.get(), text.size(),
                                                   pugi::parse_default | pugi::parse_embed_pcdata, pugi::encoding_utf8);
  if (parsed.status == pugi::status_out_of_memory) throw std::bad_alloc();
  if (!parsed) {
    diagnostics.add(malformed(source, parsed));
    return nullptr;
  }
  const auto root = document.document_element();
  const SourceLoc at{source, static_cast<std::size_t>(root.name() - copy.get()) - 1, std::strlen(root.name()) + 1};
  if (!equals_ignoring_case(root.name(), "net")) {
    auto d = diagnose(
        Code::E0102,
        fmt::format("the outermost element of an OpenVINO model must be <net>, but is <{}>", printable(root.name())),
        at);
    d.label = "expected <net>";
    diagnostics.add(std::move(d));
    return nullptr;
  }
  for (auto next = root.next_sibling(); next; next = next.next_sibling()) {
    if (next.type() != pugi::node_element) continue;
    const auto place = static_cast<std::size_t>(next.name() - copy.get()) - 1;
    auto d = diagnose(Code::E0101, "malformed XML: something follows the end of the outermost element",
                      {source, place, std::strlen(next.name()) + 1});
    d.label = "a document has one outermost element";
    diagnostics.add(std::move(d));
    return nullptr;
  }
  warn_of_characters(source, diagnostics);
  auto weights = open_weights(source->path, options);
  Builder builder(source, copy.get(), diagnostics);
  builder.set_weights(weights.path, weights.bytes);
  const auto graph = builder.net(root);
  if (graph != nullptr) judge_weights(std::move(weights), *graph, !options.weights.empty(), diagnostics);
  return graph;
}

}  // namespace

std::shared_ptr<const Graph> read(const std::shared_ptr<const SourceFile>& source, const ReadOptions& options,
                                  Diagnostics& diagnostics) {
  return read_text(source, options, diagnostics);
}

std::shared_ptr<const Graph> read(const std::string& path, const ReadOptions& options, Diagnostics& diagnostics) {
  try {
    Bytes bytes;
    if (const auto error = try_map(path, bytes)) {
      const auto meant = model_meant(path);
      auto d =
          diagnose(Code::E0001,
                   fmt::format("cannot open {}: {}{}", printable(path), *error, meant ? "" : did_you_mean_file(path)),
                   file_start(path));
      if (meant) d.notes.push_back(model_note(*meant));
      if (path == "-") d.notes.push_back(note("a model is read from a file; \"/dev/stdin\" is what was piped in"));
      diagnostics.add(std::move(d));
      return nullptr;
    }
    if (const Kind kind = kind_of_model(bytes.text())) {
      diagnostics.add(not_a_model(path, kind, bytes));
      return nullptr;
    }
    return read_text(std::make_shared<SourceFile>(SourceFile{path, bytes.owner, bytes.text()}), options, diagnostics);
  } catch (const std::bad_alloc&) {
    diagnostics.add(
        diagnose(Code::E0003, fmt::format("not enough memory to read {}", printable(path)), file_start(path)));
    return nullptr;
  }
}

}  // namespace ovir::xml
