// tensor: looks at a tensor in a file, slices it, compares it, writes it in another format.
#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/text.hpp"
#include "command.hpp"
#include "input_values.hpp"
#include "io/files.hpp"
#include "io/image.hpp"
#include "io/literal.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"
#include "io/onnx.hpp"
#include "render/array.hpp"
#include "render/columns.hpp"
#include "render/statistics.hpp"
#include "tensor_files.hpp"
#include "tools/element.hpp"
#include "tools/metrics.hpp"
#include "tools/slice.hpp"

namespace ovir::app::commands::tensor {
namespace {

struct Options {
  std::string file, format, slice, output, diff, rtol, atol;
  bool stats = false, all = false;
};

/// More elements are summarized, unless all are asked for.
constexpr i64 kPrinted = 64;

/// A file, or bytes with their type and shape: 2x3xf32=@raw.bin.
Tensor read(const std::string& word) {
  std::error_code ignored;
  if (!std::filesystem::exists(word, ignored)) {
    if (auto literal = io::parse_literal(word)) return std::move(*literal);
    if (const auto type = unknown_type(word)) fail(Code::E0705, "{}: {}", printable(word), *type);
  }
  return io::read_tensor(word);
}

Tensor sliced(const Tensor& tensor, const std::string& text) {
  if (text.empty()) return tensor;
  try {
    return tools::slice(tensor, text);
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("--slice: {}", error.what()));
  }
}

/// What an archive of several tensors holds.
std::vector<std::pair<std::string, io::TensorInfo>> members(const std::string& path) {
  std::vector<std::pair<std::string, io::TensorInfo>> list;
  std::error_code ignored;
  if (!io::split_key(path).second.empty() || !std::filesystem::is_regular_file(path, ignored)) return list;
  const auto file = io::open_file(path);
  if (io::format_of(file, path) != io::Format::npz) return list;
  const io::Npz archive(file, printable(path));
  if (archive.keys().size() == 1) return list;
  for (const auto& key : archive.keys()) list.emplace_back(key, archive.info(key));
  return list;
}

int show_members(const std::vector<std::pair<std::string, io::TensorInfo>>& list, const Options& options) {
  if (options.stats || !options.slice.empty() || !options.output.empty() || !options.diff.empty())
    throw UsageError(fmt::format("{} holds several tensors: name one with {}:KEY", printable(options.file),
                                 printable(options.file)));
  Json json = Json::array();
  std::string text;
  for (const auto& [key, info] : list) {
    json.push_back({{"key", key}, {"element_type", name(info.type)}, {"shape", info.shape}});
    text += fmt::format("{}: {}{}\n", printable(key), name(info.type), to_string(info.shape));
  }
  print(options.format == "json" ? json_text({{"schema", 1}, {"tensors", std::move(json)}}, 2) : text);
  return kOk;
}

/// What each ending stands for.
void write(const std::string& path, const Tensor& tensor) {
  const auto ending = lower(std::filesystem::path(path).extension().string());
  if (path == "-") return print(io::npy_bytes(tensor));
  constexpr std::string_view known[] = {".npy", ".npz", ".bin", ".raw", ".pb", ".png"};
  if (std::find(std::begin(known), std::end(known), ending) == std::end(known))
    throw UsageError(
        fmt::format("-o {}: expected a name ending in .npy, .npz, .bin, .raw, .pb or .png, or -", printable(path)));
  make_parent(path);
  if (ending == ".npy") io::write_npy(path, tensor);
  else if (ending == ".npz") io::write_npz(path, std::vector<io::Named>{{"tensor", tensor}});
  else if (ending == ".pb") io::write_onnx(path, tensor);
  else if (ending == ".png") io::write_png(path, tensor);
  else io::write_raw(path, tensor);
}

void show(const Tensor& tensor, const Options& options) {
  const bool values = options.all || tensor.size() <= kPrinted;
  const auto statistics = tools::statistics_of(tensor);
  if (options.format == "json") {
    Json json{{"schema", 1}, {"element_type", name(tensor.type())}, {"shape", tensor.shape()}};
    if (options.stats || !values) json.update(statistics_json(statistics, tensor.type()));
    if (values) json["values"] = values_json(tensor);
    return print(json_text(json, 1));
  }
  auto text = fmt::format("{}{}\n", name(tensor.type()), to_string(tensor.shape()));
  if (options.stats || !values) text += statistics_text(statistics, tensor.type());
  if (values && !options.stats) text += array_text(tensor) + "\n";
  print(text);
}

double tolerance(std::string_view flag, const std::string& text) {
  if (text.empty()) return 0;
  const auto value = parse_number<double>(text);
  if (!value || !(*value >= 0))
    throw UsageError(fmt::format("{}: expected a number from 0, not '{}'", flag, printable(text)));
  return *value;
}

/// `1 only here, 2 only there, the first at [0,3]`.
std::string one_sided(const tools::OneSided& n, const Shape& shape) {
  return fmt::format("{} only here, {} only there, the first at {}", n.value, n.reference,
                     to_string(tools::index_of(shape, *n.first)));
}

std::string difference_text(const Tensor& tensor, const Tensor& other, const tools::Difference& d) {
  if (!d.unlike.empty()) return fmt::format("differs: {}\n", d.unlike);
  if (d.equal() && tensor.type() != other.type())
    return fmt::format("equal, but the type is {}, and {} in the reference\n", name(tensor.type()), name(other.type()));
  if (d.equal()) return "equal\n";
  std::vector<std::vector<std::string>> rows{
      {"within", d.within ? "yes" : fmt::format("no, {} of {}", d.beyond, counted(d.count, "element"))}};
  rows.push_back({"most at", fmt::format("{}: {}, against {}", to_string(tools::index_of(tensor.shape(), d.worst)),
                                         tools::element_text(tensor, d.worst), tools::element_text(other, d.worst))});
  rows.push_back({"max abs", fmt::format("{:.6g}", d.max_abs)});
  rows.push_back({"max rel", fmt::format("{:.6g}", d.max_rel)});
  if (d.ulp) rows.push_back({"ulp", std::to_string(*d.ulp)});
  rows.push_back({"rmse", fmt::format("{:.6g}", d.rmse)});
  if (d.cosine) rows.push_back({"cosine", fmt::format("{:.6f}", *d.cosine)});
  if (d.psnr) rows.push_back({"psnr", fmt::format("{:.1f}", *d.psnr)});
  if (d.nan.first) rows.push_back({"nan", one_sided(d.nan, tensor.shape())});
  if (d.inf.first) rows.push_back({"inf", one_sided(d.inf, tensor.shape())});
  return columns_text(rows, "ll");
}

Json difference_json(const Tensor& tensor, const tools::Difference& d) {
  Json json{{"schema", 1}, {"equal", d.equal()}, {"within", d.within}};
  if (!d.unlike.empty()) {
    json["unlike"] = d.unlike;
    return json;
  }
  const auto index = tools::index_of(tensor.shape(), d.worst);
  json.update(
      {{"count", d.count}, {"beyond", d.beyond}, {"max_abs", d.max_abs}, {"max_rel", d.max_rel}, {"rmse", d.rmse}});
  if (!d.equal()) json["worst"] = std::vector<i64>(index.begin(), index.end());
  if (d.ulp) json["ulp"] = *d.ulp;
  if (d.cosine) json["cosine"] = *d.cosine;
  if (d.psnr) json["psnr"] = *d.psnr;
  return json;
}

int show_difference(const Tensor& tensor, const Options& options) {
  const auto other = sliced(read(options.diff), options.slice);
  const auto d = tools::measure(tensor, other, {tolerance("--rtol", options.rtol), tolerance("--atol", options.atol)});
  print(options.format == "json" ? json_text(difference_json(tensor, d), 1) : difference_text(tensor, other, d));
  return d.within ? kOk : kDiffers;
}

int run(const Options& options) {
  if (options.diff.empty() && !(options.rtol.empty() && options.atol.empty()))
    throw UsageError("--rtol and --atol need --diff");
  if (const auto list = members(options.file); !list.empty()) return show_members(list, options);
  const auto tensor = sliced(read(options.file), options.slice);
  if (!options.diff.empty()) return show_difference(tensor, options);
  if (options.output.empty()) show(tensor, options);
  else write(options.output, tensor);
  return kOk;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags
      .argument("TENSOR", o.file,
                "a file: .npy, .npz (file.npz:key), .pb (an ONNX TensorProto), an image, or raw bytes as "
                "2x3xf32=@raw.bin; - is stdin")
      .required();
  flags.text("--slice", o.slice, "INDEX", "a part of it, in NumPy's index notation: '0,:,3:5', '...,::2'");
  flags.toggle("--stats", o.stats, "print statistics and a CRC-32 instead of values");
  flags.toggle("--all", o.all, "print all values, even if there are many");
  flags.text("--diff", o.diff, "OTHER",
             "compare with another tensor, with the same slice; exit code 1 where they differ");
  flags.text("--rtol", o.rtol, "V", "for --diff: allowed |a - b| relative to |b|; default: 0");
  flags.text("--atol", o.atol, "V", "for --diff: allowed |a - b| on top of that; default: 0");
  flags.text("-o,--output", o.output, "FILE", "write it as .npy, .npz, .bin or .raw (bytes), .pb, .png, or - (npy)");
  flags.format(o.format, "human json");
  return [options](const Common&) { return run(*options); };
}

}  // namespace

extern constinit const Command command{"tensor",
                                       CommandGroup::inspect,
                                       "look at, slice, compare or convert a tensor in a file",
                                       "ovir tensor out/0.npy --stats\n"
                                       "ovir tensor all.npz:scores --slice '0,:,3:5'\n"
                                       "ovir tensor out/0.npy --diff reference.npz:scores --rtol 1e-3\n"
                                       "ovir tensor 1x3x224x224xf32=@image.bin -o image.npy",
                                       {1, 2, 5, 7},
                                       declare};

}  // namespace ovir::app::commands::tensor
