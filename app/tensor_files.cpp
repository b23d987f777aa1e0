#include "tensor_files.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "base/checked.hpp"
#include "base/quantity.hpp"
#include "base/text.hpp"
#include "cli.hpp"
#include "io/files.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"
#include "io/storable.hpp"
#include "op/work.hpp"
#include "tools/statistics.hpp"

namespace ovir::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDumpTo = "--dump-to";
/// Elementary steps (op/work.hpp) that pass until a file is there.
constexpr i64 kStepsOfAFile = 100'000;

void save_text(const std::string& path, std::string_view text) {
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  io::save_file(path, {&part, 1});
}

void stage_text(StagedFiles& files, const std::string& path, std::string_view text) {
  const std::span<const std::byte> part = std::as_bytes(std::span(text));
  io::stage_file(files, path, {&part, 1});
}

void make_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail(Code::E0002, "cannot create the folder {}: {}", printable(path), error.message());
}

std::vector<io::Named> named(const std::vector<Produced>& list, const FileOptions& options) {
  std::vector<io::Named> tensors;
  for (const auto& p : list) tensors.push_back({p.key, stored(p.value, options)});
  return tensors;
}

/// The tensor files that a manifest lists: names in its own folder.
std::set<std::string> files_of(const Json& manifest) {
  std::set<std::string> files;
  for (const auto* const part : {"outputs", "dumped"}) {
    if (!manifest.is_object() || !manifest.contains(part) || !manifest[part].is_array()) continue;
    for (const auto& entry : manifest[part]) {
      if (!entry.is_object() || !entry.contains("file") || !entry["file"].is_string()) continue;
      const auto file = entry["file"].get<std::string>();
      if (file.ends_with(".npy") && file_stem(file) == file) files.insert(file);
    }
  }
  return files;
}

/// Commits the staged files with the manifest; what only the manifest before it lists goes.
void commit_with_manifest(StagedFiles& files, const std::string& folder, const Json& manifest) {
  const auto path = (fs::path(folder) / "manifest.json").string();
  std::error_code ignored;
  Json older;
  if (fs::is_regular_file(path, ignored)) older = Json::parse(io::open_file(path).view, nullptr, false);
  stage_text(files, path, json_text(manifest, 2));
  io::commit_files(files);
  const auto now = files_of(manifest);
  for (const auto& file : files_of(older))
    if (!now.contains(file)) fs::remove(fs::path(folder) / file, ignored);
}

Json json_at(const Tensor& t, const std::vector<double>& floats, const std::vector<i64>& ints, std::size_t axis,
             i64& at) {
  if (axis < t.shape().size()) {
    Json list = Json::array();
    for (i64 i = 0; i < t.shape()[axis]; ++i) list.push_back(json_at(t, floats, ints, axis + 1, at));
    return list;
  }
  const auto i = at++;
  if (t.type() == ElementType::string) return t.values<std::string_view>()[i];
  if (t.type() == ElementType::boolean) return ints[i] != 0;
  if (t.type() == ElementType::u64) return static_cast<std::uint64_t>(t.values<std::uint64_t>()[i]);
  if (!ints.empty()) return ints[i];
  if (std::isnan(floats[i])) return "nan";
  if (std::isinf(floats[i])) return floats[i] > 0 ? "inf" : "-inf";
  // The shortest text that reads back as the same f32.
  return t.type() == ElementType::f64 ? floats[i]
                                      : *parse_number<double>(fmt::format("{}", static_cast<float>(floats[i])));
}

}  // namespace

void make_parent(const std::string& path) {
  if (const auto parent = fs::path(path).parent_path(); !parent.empty()) make_folder(parent.string());
}

std::vector<Produced> results(const Model& model, const std::vector<Tensor>& values) {
  std::vector<Produced> list;
  std::map<std::string, int> used;
  for (int k = 0; k < std::ssize(values); ++k) {
    const auto& result = model[model.results[k]];
    const auto from = result.inputs.at(0);
    const auto& producer = model[from.node];
    auto key = model.result_name(k);
    if (key.empty()) key = std::to_string(k);
    if (const auto n = used[key]++; n > 0) key += fmt::format(".{}", n);
    auto names = result.layer->output_names;
    if (names.empty() && from.port < std::ssize(producer.layer->outputs))
      names = producer.layer->outputs[from.port].names;
    list.push_back({std::move(key), &model, &producer, from.port, std::move(names), {}, values[k]});
  }
  return list;
}

Tensor stored(const Tensor& value, const FileOptions& options) {
  if (!options.raw || io::storable_type(value.type()) == value.type()) return io::storable(value);
  const auto bits = value.unpacked();
  const auto type = byte_width(bits.type()) == 2                        ? ElementType::u16
                    : io::storable_type(bits.type()) == ElementType::i8 ? ElementType::i8
                                                                        : ElementType::u8;
  return Tensor(type, bits.shape(), bits.owner(), bits.bytes());
}

Json describe(const Produced& p, const FileOptions& options) {
  const auto& layer = *p.producer->layer;
  Json out{{"layer_id", id_json(layer.id_text)},
           {"layer", p.model->path + layer.name},
           {"type", layer.type},
           {"port", p.port}};
  if (!p.iterations.empty()) out["iterations"] = p.iterations;
  const auto kept = stored(p.value, options);
  out["tensor_names"] = p.names;
  out["element_type"] = name(p.declared == ElementType::dynamic ? p.value.type() : p.declared);
  out["stored_as"] = name(kept.type());
  out["shape"] = p.value.shape();
  if (options.digest) out["crc32"] = fmt::format("{:08x}", tools::digest_of(kept));
  return out;
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || fs::is_directory(path, ignored);
}

std::string file_stem(std::string_view name) {
  std::string stem(name.substr(0, 120));
  for (auto& c : stem)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
          c == '-'))
      c = '_';
  return stem;
}

Target target_of(std::string_view flag, const std::string& path) {
  if (path == "-") return Target::out;
  if (is_folder(path)) {
    std::error_code absent;
    if (fs::is_regular_file(path.substr(0, path.find_last_not_of('/') + 1), absent))  // told before the run
      fail(Code::E0002, "cannot create the folder {}: {}", printable(path),
           std::make_error_code(std::errc::file_exists).message());
    return Target::folder;
  }
  const auto ending = lower(fs::path(path).extension().string());
  if (ending == ".npz") return Target::npz;
  if (ending == ".npy") return Target::npy;
  if (ending == ".json") return Target::json;
  std::error_code ignored;
  const bool new_folder = ending.empty() && fs::symlink_status(path, ignored).type() == fs::file_type::not_found;
  throw UsageError(fmt::format("{} {}: expected a folder (ending in /){}{}", flag, printable(path),
                               flag == kDumpTo ? " or .npz" : ", .npz, .npy, .json or -",
                               new_folder ? fmt::format("; did you mean '{}/'?", printable(path)) : ""));
}

void write_outputs(const std::string& path, const std::vector<Produced>& outputs, const FileOptions& options,
                   const Json& dumped, const Json& run) {
  const auto target = target_of("-o", path);
  if ((target == Target::npy || target == Target::out) && outputs.size() != 1)
    throw UsageError(fmt::format("-o {} takes one output, but the model has {}; use a folder or an .npz",
                                 printable(path), outputs.size()));
  if (target == Target::out) return print(io::npy_bytes(stored(outputs[0].value, options)));
  if (target != Target::folder) make_parent(path);
  if (target == Target::npy) return io::write_npy(path, stored(outputs[0].value, options));
  if (target == Target::npz) return io::write_npz(path, named(outputs, options));

  Json list = Json::array();
  if (target == Target::json) {
    for (std::size_t k = 0; k < outputs.size(); ++k) {
      Json entry{{"index", k}, {"key", outputs[k].key}};
      entry.update(describe(outputs[k], options));
      entry["values"] = values_json(outputs[k].value);
      list.push_back(std::move(entry));
    }
    return save_text(path, json_text({{"schema", 1}, {"outputs", std::move(list)}}, 3));
  }
  make_folder(path);
  const auto place = [&](const std::string& file) { return (fs::path(path) / file).string(); };
  StagedFiles files;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const auto file = fmt::format("{}.npy", k);
    io::stage_npy(files, place(file), stored(outputs[k].value, options));
    Json entry{{"index", k}, {"file", file}};
    entry.update(describe(outputs[k], options));
    list.push_back(std::move(entry));
  }
  commit_with_manifest(files, path, {{"schema", 1}, {"run", run}, {"outputs", std::move(list)}, {"dumped", dumped}});
}

Dump::Dump(std::string path, FileOptions options, DiskRoom& room)
    : path_(std::move(path)), target_(target_of(kDumpTo, path_)), options_(options), room_(room) {
  if (target_ != Target::folder && target_ != Target::npz)
    throw UsageError(fmt::format("--dump-to {}: expected a folder (ending in /) or .npz", printable(path_)));
  if (target_ == Target::folder) make_folder(path_);
  else make_parent(path_);
}

void Dump::add(Produced p) {
  share_.add_entry();
  const auto order = count_++;
  std::string layer = p.model->path + p.producer->layer->name;
  for (std::size_t i = 0; i < p.iterations.size(); ++i)
    layer += fmt::format("{}{}", i == 0 ? "@it=" : ".", p.iterations[i]);
  if (target_ == Target::npz) {
    p.key = fmt::format("{}.{}", layer, p.port);
    p.value = p.value.owned();  // later steps write where it lies
    kept_.push_back(std::move(p));
    return;
  }
  const auto file = fmt::format("{:05}_{}.{}.npy", order, file_stem(layer), p.port);
  const auto value = stored(p.value, options_);
  take_room(value);
  StagedFiles files;  // a link in the folder is replaced, not followed
  io::stage_npy(files, (fs::path(path_) / file).string(), value);
  io::commit_files(files);
  Json entry{{"index", order}, {"file", file}};
  entry.update(describe(p, options_));
  manifest_.push_back(std::move(entry));
}

/// A loop may have any number of iterations. A file takes whole blocks of a disk.
void Dump::take_room(const Tensor& value) {
  constexpr i64 header = 128, block = 4096;
  const auto bytes = (saturating_add(value.byte_size(), header) / block + 1) * block;
  if (bytes > room_.left) {
    auto d = diagnose(Code::E0003, fmt::format("{} {}: the tensors take more than {}", kDumpTo, printable(path_),
                                               size_text(room_.limit)));
    d.notes.push_back({"--limits disk=SIZE sets another limit", {}, "", ""});
    fail(std::move(d));
  }
  room_.left -= bytes;
  spend(kStepsOfAFile);
}

void Dump::finish() {
  if (target_ == Target::npz) {
    std::map<std::string, int> used;
    for (auto& p : kept_)
      if (const auto n = used[p.key]++; n > 0) p.key += fmt::format(".{}", n);
    return io::write_npz(path_, named(kept_, options_));
  }
  StagedFiles files;
  commit_with_manifest(files, path_, {{"schema", 1}, {"outputs", Json::array()}, {"dumped", manifest_}});
}

Json values_json(const Tensor& value) {
  if (value.size() == 0) return Json::array();  // [2147483647,0] would be as many empty lists
  const auto t = io::storable(value);
  std::vector<double> floats;
  std::vector<i64> ints;
  if (contains(kFloat, t.type())) floats = to_f64(t);
  else if (t.type() != ElementType::string) ints = to_i64(t);
  i64 at = 0;
  return json_at(t, floats, ints, 0, at);
}

}  // namespace ovir::app
