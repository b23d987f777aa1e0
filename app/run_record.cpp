#include "run_record.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/text.hpp"
#include "cli.hpp"
#include "io/files.hpp"
#include "io/npy.hpp"
#include "tools/numbers.hpp"
#include "tools/statistics.hpp"

namespace ovir::app {
namespace {

namespace fs = std::filesystem;

std::string digest_text(const Tensor& t) { return fmt::format("{:08x}", tools::digest_of(t)); }

/// What is no record: `why` ends the sentence.
[[noreturn]] void no_record(const std::string& path, std::string_view why) {
  fail(Code::E0705, "{} {}; 'ovir run ... -o DIR/' writes one", printable(path), why);
}

/// How many elements differ, and the largest difference where it is a number.
Json difference(const Tensor& before, const Tensor& now) {
  if (before.type() != now.type() || before.shape() != now.shape())
    return {{"was", fmt::format("{}{}", name(before.type()), to_string(before.shape()))},
            {"is", fmt::format("{}{}", name(now.type()), to_string(now.shape()))}};
  if (before.type() == ElementType::string) return Json::object();
  i64 differing = 0;
  double largest = 0;
  tools::each_pair(before, now, [&](i64, double a, double b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return;
    ++differing;
    largest = std::max(largest, std::abs(a - b));
  });
  return {{"differing", differing}, {"max_abs", largest}};
}

}  // namespace

Json input_digests(const Model& model, const std::vector<Tensor>& values) {
  Json list = Json::array();
  for (int k = 0; k < std::ssize(values); ++k)
    list.push_back({{"name", model.parameter_name(k)},
                    {"element_type", name(values[k].type())},
                    {"shape", values[k].shape()},
                    {"crc32", digest_text(values[k])}});
  return list;
}

Json record_json(const RunRecord& record) {
  return {{"command", record.command},     {"version", record.version}, {"tier", record.tier},
          {"precision", record.precision}, {"step", record.step},       {"inputs", record.inputs}};
}

Recorded read_record(const std::string& folder) {
  const auto path = (fs::path(folder) / "manifest.json").string();
  const auto file = io::open_file(path);
  const auto manifest = Json::parse(file.view, nullptr, false);
  if (!manifest.is_object()) no_record(path, "is not a manifest");
  if (!manifest.contains("run")) no_record(path, "holds no record of a run");
  Recorded recorded;
  try {
    const auto& run = manifest.at("run");
    recorded.run = {run.at("command"),   run.at("version"), run.at("tier"),
                    run.at("precision"), run.at("step"),    run.at("inputs")};
    for (const auto& entry : manifest.at("outputs"))
      recorded.outputs.push_back(
          io::read_tensor((fs::path(folder) / fs::path(entry.at("file").get<std::string>()).filename()).string()));
  } catch (const nlohmann::json::exception&) {
    no_record(path, "holds a record that cannot be understood");
  }
  return recorded;
}

Replay compare(const Recorded& recorded, const RunRecord& now, const std::vector<Produced>& outputs,
               const FileOptions& files) {
  Replay replay;
  if (recorded.run.version != now.version)
    replay.notes.push_back(
        fmt::format("the recorded run was of version {}, this is {}", printable(recorded.run.version), now.version));
  if (recorded.run.inputs != now.inputs) replay.notes.push_back("the inputs are not those of the recorded run");
  if (recorded.outputs.size() != outputs.size()) {
    replay.same = false;
    replay.notes.push_back(fmt::format("the recorded run gave {}, this one {}",
                                       counted(recorded.outputs.size(), "output"), outputs.size()));
  }
  for (std::size_t k = 0; k < std::min(recorded.outputs.size(), outputs.size()); ++k) {
    const auto before = recorded.outputs[k], value = stored(outputs[k].value, files);
    const bool same = before.type() == value.type() && before.shape() == value.shape() &&
                      tools::digest_of(before) == tools::digest_of(value);
    Json entry{{"index", k}, {"key", outputs[k].key}, {"same", same}};
    if (!same) entry.update(difference(before, value));
    replay.outputs.push_back(std::move(entry));
    replay.same = replay.same && same;
  }
  return replay;
}

std::string replay_text(const Replay& replay) {
  std::string text;
  for (const auto& o : replay.outputs) {
    const auto key = printable(o["key"].get<std::string>());
    if (o["same"]) text += fmt::format("{}: the same\n", key);
    else if (o.contains("was"))
      text += fmt::format("{}: differs: it was {} and is {}\n", key, o["was"].get<std::string>(),
                          o["is"].get<std::string>());
    else if (o.contains("differing"))
      text += fmt::format("{}: differs in {}, by at most {:.6g}\n", key,
                          counted(o["differing"].get<std::size_t>(), "element"), o["max_abs"].get<double>());
    else text += fmt::format("{}: differs\n", key);
  }
  return text;
}

void save_inputs(const std::string& folder, const Model& model, const std::vector<Tensor>& values) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) fail(Code::E0002, "cannot create the folder {}: {}", printable(folder), error.message());
  StagedFiles files;
  for (int k = 0; k < std::ssize(values); ++k) {
    auto stem = model.parameter_name(k);
    if (stem.empty() || file_stem(stem) != stem) stem = std::to_string(k);
    io::stage_npy(files, (fs::path(folder) / (stem + ".npy")).string(), stored(values[k], {}));
  }
  io::commit_files(files);
}

}  // namespace ovir::app
