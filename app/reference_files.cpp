#include "reference_files.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/text.hpp"
#include "base/word_list.hpp"
#include "io/files.hpp"
#include "io/npz.hpp"
#include "names.hpp"
#include "render/json.hpp"
#include "tensor_files.hpp"

namespace ovir::app {
namespace {

namespace fs = std::filesystem;
using tools::Alias;
using tools::Saved;

std::function<Tensor()> reader(const std::string& file) {
  return [file] { return io::read_tensor(file); };
}

/// The members of an object that may be missing, or of another type: a manifest is data from outside.
template <class T>
T member(const Json& object, const char* key, T otherwise) {
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  try {
    return found->get<T>();
  } catch (const Json::exception&) {
    return otherwise;
  }
}

Saved of_entry(const Json& entry, const fs::path& folder, bool output) {
  const auto file = member<std::string>(entry, "file", "");
  if (file.empty()) fail(Code::E0705, "{}/manifest.json: an entry names no file", printable(folder.string()));
  Saved saved{file, {}, {}, reader((folder / fs::path(file).filename()).string())};
  if (output) saved.result = member<int>(entry, "index", -1);
  const auto iterations = member<std::vector<i64>>(entry, "iterations", {});
  if (const auto layer = member<std::string>(entry, "layer", ""); !layer.empty())
    saved.aliases.push_back({layer, member<int>(entry, "port", 0), iterations});
  for (const auto& name : member<std::vector<std::string>>(entry, "tensor_names", {}))
    saved.aliases.push_back({name, {}, iterations});
  return saved;
}

std::vector<Saved> of_manifest(const fs::path& folder, const std::string& manifest) {
  const auto file = io::open_file(manifest);
  const auto json = Json::parse(file.text(), nullptr, false);
  if (!json.is_object()) fail(Code::E0705, "{}: it is not a manifest", printable(manifest));
  std::vector<Saved> list;
  for (const bool output : {true, false})
    if (const auto entries = json.find(output ? "outputs" : "dumped"); entries != json.end() && entries->is_array())
      for (const auto& entry : *entries)
        if (entry.is_object()) list.push_back(of_entry(entry, folder, output));
  return list;
}

std::vector<Saved> of_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (const auto ending = at->path().extension(); ending == ".npy" || ending == ".pb") files.push_back(at->path());
  if (error) fail(Code::E0001, "cannot read the folder {}: {}", printable(folder.string()), error.message());
  std::sort(files.begin(), files.end());
  const auto number = [](const fs::path& file) { return parse_number<int>(file.stem().string()); };
  const bool numbered =
      std::all_of(files.begin(), files.end(), [&](const fs::path& f) { return number(f).has_value(); });
  std::vector<Saved> list;
  for (const auto& file : files)
    list.push_back({file.filename().string(), tools::aliases_of(file.stem().string()),
                    numbered ? number(file) : std::nullopt, reader(file.string())});
  return list;
}

std::vector<Saved> of_archive(const std::string& path) {
  const auto archive = std::make_shared<const io::Npz>(io::Npz::open(path));
  std::vector<Saved> list;
  for (const auto& key : archive->keys())
    list.push_back({key, tools::aliases_of(key), {}, [archive, key] { return archive->read(key); }});
  return list;
}

}  // namespace

std::vector<Saved> read_reference(const std::string& path) {
  std::vector<Saved> list;
  std::error_code ignored;
  if (is_folder(path)) {
    const auto manifest = fs::path(path) / "manifest.json";
    list = fs::exists(manifest, ignored) ? of_manifest(path, manifest.string()) : of_folder(path);
  } else if (lower(fs::path(path).extension().string()) == ".npz") {
    list = of_archive(path);
  } else {
    list.push_back({path, {}, 0, reader(path)});
  }
  if (list.empty()) fail(Code::E0705, "{}: it holds no tensors", printable(path));
  return list;
}

tools::Reference saved_reference(const Common& common, const Model& model, const std::string& path,
                                 const std::string& map) {
  tools::NameMap names;
  if (!map.empty()) names = tools::parse_name_map(io::open_file(map).text(), printable(map));
  auto reference = tools::match(model, read_reference(path), names);
  constexpr std::size_t listed = 10, longest = 200;  // of a file that is no map there may be millions
  const auto shown = std::min(listed, reference.unused.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string_view line = reference.unused[i];
    note(common, fmt::format("--map: '{}{}' has no effect: the reference or the model has no such name",
                             printable(line.substr(0, longest)), line.size() > longest ? "..." : ""));
  }
  if (const auto more = reference.unused.size() - shown; more > 0)
    note(common, fmt::format("--map: {} no effect either",
                             more == 1 ? "1 more line has" : fmt::format("{} more lines have", more)));
  if (!reference.tensors().empty()) return reference;
  auto unmatched = reference.unmatched;
  const auto all = unmatched.size();
  unmatched.resize(std::min<std::size_t>(all, 3));
  for (auto& name : unmatched) name = fmt::format("\"{}\"", printable(name));
  fail(Code::E0705, "{}: nothing to compare: no layer and no tensor of the model is called {}{}", printable(path),
       word_list(std::move(unmatched), "or"), all > 3 ? " or like the others" : "");
}

}  // namespace ovir::app
