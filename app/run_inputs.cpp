#include "run_inputs.hpp"

#include <algorithm>
#include <filesystem>

#include "base/text.hpp"
#include "io/files.hpp"
#include "io/generate.hpp"
#include "io/image.hpp"
#include "io/literal.hpp"
#include "io/npy.hpp"
#include "io/npz.hpp"
#include "io/storable.hpp"
#include "model/report.hpp"
#include "names.hpp"
#include "random_input.hpp"
#include "tensor_files.hpp"

namespace ovir::app {
namespace {

const Layer& parameter(const Model& model, int k) {
  return *model[model.parameters[static_cast<std::size_t>(k)]].layer;
}
const Fact& fact(const Model& model, const Facts& facts, int k) {
  return facts.outputs[static_cast<std::size_t>(model.parameters[static_cast<std::size_t>(k)])].at(0);
}

[[noreturn]] void fault(const Model& model, int k, Code code, std::string message) {
  Diagnostic d;
  d.code = code;
  d.message = std::move(message);
  d.layer = layer_ref(model, parameter(model, k));
  d.at = parameter(model, k).at;
  fail(std::move(d));
}

bool is_npz(const std::string& path) {
  return equals_ignoring_case(std::filesystem::path(path).extension().string(), ".npz");
}

/// All that an input may be called in an archive or a folder: its tensor names, its layer name, its index.
std::vector<std::string> names_of(const Model& model, int k) {
  auto names = parameter(model, k).outputs.at(0).names;
  names.push_back(parameter(model, k).name);
  names.push_back(std::to_string(k));
  return names;
}

/// The file of that name in a folder. Names come from the model: one that would lead out of the folder has no file.
std::optional<std::string> file_in(const std::string& folder, const std::string& name) {
  if (name.find('/') != name.npos || name.find('\0') != name.npos) return std::nullopt;
  std::error_code ignored;
  auto file = (std::filesystem::path(folder) / name).string();
  return std::filesystem::exists(file, ignored) ? std::optional(std::move(file)) : std::nullopt;
}

/// The file or member (`all.npz:key`) that holds input k in a folder or an archive of all inputs.
std::optional<std::string> pick(const Model& model, int k, const std::string& path) {
  if (is_folder(path)) {
    for (const auto& name : names_of(model, k))
      if (auto file = file_in(path, name + ".npy")) return file;
    return std::nullopt;
  }
  const auto archive = io::Npz::open(path);
  for (const auto& name : names_of(model, k))
    if (archive.contains(name)) return path + ":" + name;
  return std::nullopt;
}

/// A shape that a generator can fill: what is not fixed becomes as small as it may be, but not empty.
Shape shape_to_fill(const Model& model, int k, const PartialShape& shape) {
  if (!shape.has_rank())
    fault(model, k, Code::E0703,
          fmt::format("input \"{}\" has no shape of its own: give one with --shape", model.parameter_name(k)));
  Shape dims;
  for (const auto& d : shape) dims.push_back(std::max<std::int64_t>(d.min, std::min<std::int64_t>(d.max, 1)));
  return dims;
}

std::vector<float> numbers(std::string_view flag, std::string_view text) {
  std::vector<float> list;
  for (const auto part : split(text, ',')) {
    const auto n = parse_number<float>(part);
    if (!n) throw UsageError(fmt::format("{}: '{}' is not a number", flag, printable(part)));
    list.push_back(*n);
  }
  return list;
}

io::ImageOptions image_options(const InputOptions& options, const Model& model, int k) {
  io::ImageOptions image;
  for (const auto& [input, text] : per_input("--layout", options.layouts, model))
    if (input == k) image.layout = text;
  for (const auto& [input, text] : per_input("--mean_values", options.means, model))
    if (input == k) image.mean = numbers("--mean_values", text);
  for (const auto& [input, text] : per_input("--scale_values", options.scales, model))
    if (input == k) image.scale = numbers("--scale_values", text);
  image.reverse_channels = options.reverse_channels;
  if (!options.resize.empty()) {
    image.size = io::parse_size(options.resize);
    if (!image.size)
      throw UsageError(fmt::format("--resize: '{}' is not WxH, as in 640x480", printable(options.resize)));
  }
  return image;
}

}  // namespace

void add_inputs(Flags& flags, InputOptions& o) {
  flags.list(
      "-i,--input", o.inputs, "NAME=VALUE",
      "the value of an input, see \"Input values\" below; NAME is a tensor name, a layer name or an index, and may "
      "be left out for a model with one input");
  flags.toggle("--random", o.random, "fill missing inputs with seeded random data");
  flags.number("--seed", o.seed, "N", "for --random, rand and randn").env("OVIR_SEED");
  flags.toggle("--cast", o.cast, "convert inputs of another element type");

  constexpr auto images = "Image inputs";
  flags.list("--layout", o.layouts, "LAYOUT", "order of the axes: 'image[NHWC]'").group(images);
  flags.text("--resize", o.resize, "WxH", "resize the image (bilinear)").group(images);
  flags.list("--mean_values", o.means, "VALUES", "subtract per channel: 'image[123.7,116.3,103.5]'").group(images);
  flags.list("--scale_values", o.scales, "VALUES", "then divide per channel: 'image[58.4,57.1,57.4]'").group(images);
  flags.toggle("--reverse_channels", o.reverse_channels, "BGR instead of RGB").group(images);

  flags.section(
      "Input values:\n"
      "@f.npy @f.npz:key @t.pb\ta tensor from a file\n"
      "@all.npz @dir/\twithout NAME=: every input by its name, from an archive or from dir/NAME.npy\n"
      "@cat.png\tan image: PNG, JPEG, PGM or PPM\n"
      "'2x3xf32=1 2 3 4 5 6'\tthe values themselves; f32=3 is a scalar\n"
      "2x3xf32=@raw.bin\traw bytes\n"
      "zeros ones const:V\ta constant\n"
      "arange rand:A,B randn:M,S\t0, 1, 2, ...; uniform in [A,B); normal with mean M and deviation S\n"
      "-\tnpy on stdin");
}

std::string with_step(std::string_view path, std::int64_t number) {
  constexpr std::string_view mark = "{step}";
  std::string out;
  for (auto at = path.find(mark); at != path.npos; at = path.find(mark)) {
    out += fmt::format("{}{}", path.substr(0, at), number);
    path.remove_prefix(at + mark.size());
  }
  return out += path;
}

Inputs::Inputs(const Model& model, const Facts& facts, const InputOptions& options)
    : model_(model), facts_(facts), options_(options) {
  sources_.resize(model.parameters.size());
  for (int k = 0; k < static_cast<int>(sources_.size()); ++k)
    image_options(options, model, k);  // their faults, before anything is read
  for (const auto& word : options.inputs) bind(word);
  const bool all = std::all_of(sources_.begin(), sources_.end(), [](const auto& s) { return s.has_value(); });
  if (!all && !options.random) missing();
  for (auto& source : sources_)
    if (!source) source.emplace();
}

void Inputs::bind(const std::string& word) {
  // The first `=` whose left side names an input; otherwise the whole word is the VALUE.
  for (auto at = word.find('='); at != word.npos; at = word.find('=', at + 1))
    if (const auto k = find_input(model_, std::string_view(word).substr(0, at)))
      return give(*k, word.substr(at + 1), false);

  if (word.starts_with('@')) {
    const auto path = with_step(std::string_view(word).substr(1), 0);
    if (is_folder(path) || (is_npz(path) && sources_.size() != 1)) {
      if (std::error_code error; is_folder(path) && !std::filesystem::is_directory(path, error))
        fail(Code::E0001, "cannot open the folder {}: {}", printable(path), error.message());
      bool any = false;
      for (int k = 0; k < static_cast<int>(sources_.size()); ++k) {
        if (!pick(model_, k, path)) continue;
        give(k, word, true);
        any = true;
      }
      if (!any)
        fail(Code::E0701, "{} holds none of the model's inputs; it has {}", printable(path), input_names(model_));
      return;
    }
  }
  const auto equals = word.find('=');
  const bool value = word == "-" || word.starts_with('@') || io::parse_generator(word) ||
                     (equals != word.npos && io::parse_literal(word));
  if (!value && equals != word.npos) {
    const auto name = std::string_view(word).substr(0, equals);
    fail(Code::E0701, "the model has no input \"{}\"{}", printable(name), suggest_input(model_, name));
  }
  if (sources_.size() != 1)
    throw UsageError(fmt::format("-i {}: the model has {} inputs; say which one, NAME=VALUE: {}", printable(word),
                                 sources_.size(), input_names(model_)));
  give(0, word, false);
}

void Inputs::give(int k, std::string value, bool by_name) {
  auto& source = sources_[static_cast<std::size_t>(k)];
  if (source)
    fault(model_, k, Code::E0706, fmt::format("input \"{}\" is given twice", printable(model_.parameter_name(k))));
  source = Source{std::move(value), by_name, std::nullopt};
}

void Inputs::missing() const {
  Diagnostic d;
  d.code = Code::E0702;
  std::string command = "ovir run " + shell_word(options_.model), list;
  if (!options_.weights.empty()) command += " -w " + shell_word(options_.weights);
  for (const auto& shape : options_.shapes) command += " -s " + shell_word(shape);
  for (const auto& word : options_.inputs) command += " -i " + shell_word(word);
  std::size_t n = 0;
  for (int k = 0; k < static_cast<int>(sources_.size()); ++k) {
    if (sources_[static_cast<std::size_t>(k)]) continue;
    auto known = fact(model_, facts_, k);
    known.type = exchanged_type(model_, known.type, true);
    list += fmt::format("{}\"{}\" {}{}", list.empty() ? "" : ", ", printable(model_.parameter_name(k)),
                        name(known.type), to_string(known.shape));
    const auto value = known.shape.has_rank() ? std::string(contains(kFloat, known.type) ? "rand" : "zeros")
                                              : fmt::format("1x{}=0", name(known.type));
    command += " -i " + shell_word(model_.parameter_name(k) + "=" + value);
    if (n++ == 0) {
      d.layer = layer_ref(model_, parameter(model_, k));
      d.at = parameter(model_, k).at;
    }
  }
  d.message = fmt::format("{} without a value: {}", n == 1 ? "an input" : "inputs", list);
  d.help =
      "give it with -i (`ovir run --help` tells the forms of a VALUE), or let --random make it up. For example:\n     "
      " " +
      command;
  fail(std::move(d));
}

std::vector<Tensor> Inputs::step(std::int64_t number) {
  std::vector<Tensor> tensors;
  for (std::size_t k = 0; k < sources_.size(); ++k) {
    auto& source = *sources_[k];
    const bool changes = source.value.find("{step}") != source.value.npos;
    if (!source.kept || changes) source.kept = read(static_cast<int>(k), source, number);
    tensors.push_back(*source.kept);
  }
  return tensors;
}

Tensor Inputs::read(int k, const Source& source, std::int64_t number) const {
  auto wanted = fact(model_, facts_, k);
  wanted.type = exchanged_type(model_, wanted.type, true);
  const auto shape = [&] { return shape_to_fill(model_, k, wanted.shape); };
  if (source.value.empty()) return random_input(model_, facts_, k, shape(), static_cast<std::uint64_t>(options_.seed));
  const auto value = with_step(source.value, number);
  if (value == "-") return fit(k, io::parse_npy(io::open_file("-"), "stdin"), "stdin");
  if (value.starts_with('@')) {
    auto path = value.substr(1);
    if (source.by_name || is_folder(path)) {
      const auto found = pick(model_, k, path);
      if (!found)
        fault(model_, k, Code::E0702,
              fmt::format("{} holds nothing for input \"{}\"", printable(path), printable(model_.parameter_name(k))));
      path = *found;
    } else if (is_npz(path)) {
      // One of several members: the one that has the input's name.
      if (const auto found = pick(model_, k, path)) path = *found;
    }
    if (io::split_key(path).second.empty()) {
      const auto file = io::open_file(path);
      if (io::is_image(io::format_of(file, path)))
        return io::image_input(io::parse_image(file, path), wanted.type, wanted.shape,
                               image_options(options_, model_, k));
    }
    return fit(k, io::read_tensor(path), path);
  }
  if (const auto generator = io::parse_generator(value)) {
    if (wanted.type == ElementType::dynamic)
      fault(model_, k, Code::E0704,
            fmt::format("input \"{}\" has no element type of its own: give a value that has one",
                        model_.parameter_name(k)));
    return io::generate(*generator, wanted.type, shape(), static_cast<std::uint64_t>(options_.seed + k));
  }
  if (const auto literal = io::parse_literal(value)) return fit(k, *literal, "the value");
  fault(model_, k, Code::E0705,
        fmt::format("input \"{}\": '{}' is no VALUE; `ovir run --help` tells what may stand there",
                    printable(model_.parameter_name(k)), printable(value)));
}

Tensor Inputs::fit(int k, Tensor value, const std::string& from) const {
  auto wanted = fact(model_, facts_, k);
  if (value.type() != wanted.type) wanted.type = exchanged_type(model_, wanted.type, true);
  const auto input = printable(model_.parameter_name(k)), file = printable(from);
  if (wanted.type != ElementType::dynamic && value.type() != wanted.type) {
    if (value.type() == exchanged_type(model_, wanted.type, true)) value = convert(value, wanted.type);
    else if (value.type() == io::storable_type(wanted.type)) value = io::narrow(value, wanted.type);
    else if (options_.cast && value.type() != ElementType::string && wanted.type != ElementType::string)
      value = convert(value, wanted.type);
    else
      fault(model_, k, Code::E0704,
            fmt::format("input \"{}\" is {}, and {} holds {}; --cast would convert it", input, name(wanted.type), file,
                        name(value.type())));
  }
  if (!wanted.shape.contains(value.shape()))
    fault(model_, k, Code::E0703,
          fmt::format("input \"{}\" is {}{}, and {} holds {}{}", input, name(wanted.type), to_string(wanted.shape),
                      file, name(value.type()), to_string(value.shape())));
  return value;
}

}  // namespace ovir::app
