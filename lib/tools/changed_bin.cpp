#include "tools/changed_bin.hpp"

#include <algorithm>
#include <map>

#include "base/text.hpp"
#include "xml/tags.hpp"

namespace ovir::tools {
namespace {

struct Stored {
  const Model* model;
  const Layer* layer;
  ByteRange bytes;
};

/// Where the Constants lie in the .bin, those of bodies too.
void collect(const Model& model, std::vector<Stored>& list) {
  for (const auto& node : model.nodes) {
    for (const auto& body : node.bodies) collect(*body, list);
    if (const auto bytes = stored_bytes(node)) list.push_back({&model, node.layer, *bytes});
  }
}
std::vector<Stored> stored_in(const Model& model) {
  std::vector<Stored> list;
  collect(model, list);
  return list;
}

/// The Constant that is changed; null where its bytes are not in the .bin.
const Stored* find(const std::vector<Stored>& stored, const Graph& graph, const ConstantChange& change) {
  const auto own = std::find_if(stored.begin(), stored.end(), [&](const Stored& s) {
    return s.model->path == change.path && s.layer->id == change.id;
  });
  const bool there = own != stored.end() && graph.weights && own->bytes.end <= std::ssize(graph.weights->view);
  return there ? &*own : nullptr;
}

bool is_shared(const std::vector<Stored>& stored, const Stored& own) {
  return std::any_of(stored.begin(), stored.end(), [&](const Stored& s) {
    return s.layer != own.layer && s.bytes.begin < own.bytes.end && own.bytes.begin < s.bytes.end;
  });
}

/// The value as it is stored.
Bytes bytes_of(const Tensor& value) {
  const auto packed = pack(value);
  const std::size_t size = packed_size(value.type(), value.size()).value_or(0);
  return {packed.owner(), {packed.bytes(), size}};
}

}  // namespace

std::optional<Replacement> in_place(const Model& model, const ConstantChange& change) {
  const auto& graph = *model.graph;
  const auto stored = stored_in(model);
  const auto* own = find(stored, graph, change);
  if (!own || is_shared(stored, *own)) return std::nullopt;
  const auto value = bytes_of(change.value);
  if (std::ssize(value) > own->bytes.end - own->bytes.begin) return std::nullopt;
  const auto file =
      std::make_shared<const SourceFile>(SourceFile{graph.weights_path, graph.weights, graph.weights->text()});
  const std::size_t begin = own->bytes.begin;
  return Replacement{{file, begin, value.size()}, std::string(value.text())};
}

ChangedBin changed_bin(const Model& model, std::span<const ConstantChange> changes) {
  const auto& graph = *model.graph;
  const auto stored = stored_in(model);
  const Bytes old = graph.weights ? *graph.weights : Bytes();
  std::map<std::size_t, Bytes> inside;  // by where they begin
  std::vector<Bytes> behind;
  ChangedBin changed;
  auto end = old.size();
  for (const auto& change : changes) {
    const auto* own = find(stored, graph, change);
    if (!own) fail(Code::E0302, "the bytes of constant \"{}\" are not in the .bin", printable(change.name));
    auto value = bytes_of(change.value);
    const std::size_t begin = own->bytes.begin, room = own->bytes.end - own->bytes.begin;
    value.view = value.view.first(std::min(value.size(), room));
    if (!is_shared(stored, *own)) {
      inside.emplace(begin, std::move(value));
      continue;
    }
    const auto tag = xml::tag_around(graph.source->text, own->layer->attribute("offset")->at.offset);
    const auto range = xml::find_attribute(graph.source->text, tag, "offset")->value;
    changed.offsets.push_back({{graph.source, range.begin, range.end - range.begin}, std::to_string(end)});
    end += value.size();
    behind.push_back(std::move(value));
  }
  std::size_t done = 0;
  for (auto& [begin, value] : inside) {
    changed.pieces.push_back({old.owner, old.view.subspan(done, begin - done)});
    done = begin + value.size();
    changed.pieces.push_back(std::move(value));
  }
  changed.pieces.push_back({old.owner, old.view.subspan(done)});
  changed.pieces.insert(changed.pieces.end(), behind.begin(), behind.end());
  return changed;
}

}  // namespace ovir::tools
