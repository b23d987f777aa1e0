#include "run_inputs.hpp"
#include "op/work.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/text.hpp"
#include "base/word_list.hpp"
#include "io/literal.hpp"
#include "io/npz.hpp"
#include "log.hpp"
#include "names.hpp"
#include "random_input.hpp"
#include "tensor_files.hpp"
#include "tools/sample_shapes.hpp"

namespace ovir::app {
namespace {

std::vector<float> numbers(std::string_view flag, std::string_view text) {
  std::vector<float> list;
  for (const auto part : split(text, ',')) {
    const auto n = parse_number<float>(part);
    if (!n || !std::isfinite(*n))
      throw UsageError(fmt::format("{}: expected numbers, not '{}'", flag, printable(part)));
    list.push_back(*n);
  }
  return list;
}

/// Letters of NCHW, height and width among them, each once.
std::string layout(const std::string& text) {
  const auto once = [&](char c) { return std::count(text.begin(), text.end(), c) <= 1; };
  const auto known = [&](char c) { return std::string_view("NCHW").find(c) != std::string_view::npos && once(c); };
  if (!std::all_of(text.begin(), text.end(), known) || text.find('H') == text.npos || text.find('W') == text.npos)
    throw UsageError(
        fmt::format("--layout: expected letters of NCHW, each once and H and W among them, not '{}'", printable(text)));
  return text;
}

io::ImageOptions image_options(const InputOptions& options, const Model& model, int k) {
  io::ImageOptions image;
  for (const auto& [input, text] : per_input("--layout", options.layouts, model))
    if (input == k) image.layout = layout(text);
  for (const auto& [input, text] : per_input("--mean_values", options.means, model))
    if (input == k) image.mean = numbers("--mean_values", text);
  for (const auto& [input, text] : per_input("--scale_values", options.scales, model))
    if (input == k) image.scale = numbers("--scale_values", text);
  if (std::find(image.scale.begin(), image.scale.end(), 0.0f) != image.scale.end())
    throw UsageError("--scale_values: the image is divided by these values, so none may be 0");
  image.reverse_channels = options.reverse_channels;
  if (!options.resize.empty()) {
    image.size = io::parse_size(options.resize);
    if (!image.size)
      throw UsageError(fmt::format("--resize: expected WxH, such as 640x480, not '{}'", printable(options.resize)));
  }
  return image;
}

/// Whether it is meant as values; what is wrong with it is said when it is read.
bool is_literal(const std::string& word) {
  try {
    return io::parse_literal(word).has_value();
  } catch (const Failure&) {
    return true;
  }
}

/// "1x3xf32=1 2 3" for "f32[1,3]=1 2 3", as messages write types; nothing for any other text.
std::optional<std::string> literal_meant(const std::string& word) {
  const auto open = word.find('['), close = word.find("]=");
  if (open == word.npos || close == word.npos || close < open || !parse_element_type(word.substr(0, open)))
    return std::nullopt;
  std::string dims = word.substr(open + 1, close - open - 1);
  std::replace(dims.begin(), dims.end(), ',', 'x');
  auto meant = fmt::format("{}{}{}{}", dims, dims.empty() ? "" : "x", word.substr(0, open), word.substr(close + 1));
  return is_literal(meant) ? std::optional(std::move(meant)) : std::nullopt;
}

/// Whether it is a generator's word; what is wrong with its numbers is said when its input is known.
bool is_generator(const std::string& word) {
  try {
    return io::parse_generator(word).has_value();
  } catch (const Failure&) {
    return true;
  }
}

}  // namespace

void add_inputs(Flags& flags, InputOptions& o, bool fills) {
  flags.list(
      "-i,--input", o.inputs, "NAME=VALUE",
      "the value of an input, see \"Input values\" below; NAME is a tensor name, a layer name or an index, and may "
      "be left out for a model with one input");
  flags.may_be_empty("--input");  // E0705 says whose value it is
  flags.toggle("--random", o.random,
               fills ? "fill missing inputs with seeded random data, as is done without it, too"
                     : "fill missing inputs with seeded random data");
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
      "@cat.png\tan image: PNG, JPEG, BMP, PGM or PPM\n"
      "'2x3xf32=1 2 3 4 5 6'\tthe values themselves; f32=3 is a scalar\n"
      "2x3xf32=@raw.bin\traw bytes\n"
      "zeros ones const:V\ta constant\n"
      "arange rand:A,B randn:M,S\t0, 1, 2, ...; uniform in [A,B); normal with mean M and deviation S\n"
      "-\tnpy on stdin");
}

std::string with_step(std::string_view path, i64 number) {
  constexpr std::string_view mark = "{step}";
  std::string out;
  for (auto at = path.find(mark); at != path.npos; at = path.find(mark)) {
    out += fmt::format("{}{}", path.substr(0, at), number);
    path.remove_prefix(at + mark.size());
  }
  return out += path;
}

Inputs::Inputs(const Model& model, const Facts& facts, const InputOptions& options,
               const std::vector<std::string>& words)
    : model_(model), options_(options), facts_(facts), step_shapes_(model) {
  sources_.resize(model.parameters.size());
  for (int k = 0; k < std::ssize(sources_); ++k) {
    ports_.emplace_back(model, facts, k);
    reading_.push_back({options.cast, image_options(options, model, k)});
  }
  for (const auto& word : options.inputs) bind(word);
  const bool all = std::all_of(sources_.begin(), sources_.end(), [](const auto& s) { return s.has_value(); });
  if (!all && !options.random) report_missing(read_given(0), words);
  for (auto& source : sources_)
    if (!source) source.emplace();
}

void Inputs::bind(const std::string& word) {
  // The first `=` whose left side names an input; otherwise the whole word is the VALUE.
  for (auto at = word.find('='); at != word.npos; at = word.find('=', at + 1))
    if (const auto k = find_input(model_, std::string_view(word).substr(0, at))) return give(*k, word.substr(at + 1));

  if (word.starts_with('@') && bind_all(word, with_step(std::string_view(word).substr(1), 0))) return;
  const auto equals = word.find('=');
  const bool value =
      word == "-" || word.starts_with('@') || is_generator(word) || (equals != word.npos && is_literal(word));
  if (!value && equals != word.npos) {
    const auto name = std::string_view(word).substr(0, equals);
    if (name.empty()) throw UsageError(fmt::format("-i {}: expected NAME=VALUE or VALUE", shell_word(printable(word))));
    if (const auto meant = literal_meant(word))
      throw UsageError(fmt::format("-i {}: did you mean {}?", shell_word(printable(word)), shell_word(*meant)));
    if (const auto type = unknown_type(word)) fail(Code::E0705, "-i {}: {}", printable(word), *type);
    fail(Code::E0701, "{}", unknown_input(model_, name));
  }
  if (sources_.size() != 1)
    throw UsageError(
        fmt::format("-i {}: expected NAME=VALUE; the inputs are {}", shell_word(printable(word)), input_names(model_)));
  give(0, word);
}

/// A folder or an archive that holds inputs by their names; false where `path` is neither.
bool Inputs::bind_all(const std::string& word, const std::string& path) {
  if (!is_folder(path) && !(is_npz(path) && sources_.size() != 1)) return false;
  if (std::error_code error; is_folder(path) && !std::filesystem::is_directory(path, error))
    fail(Code::E0001, "cannot open the folder {}: {}", printable(path), error.message());
  bool any = false;
  for (std::size_t k = 0; k < sources_.size(); ++k) {
    if (!find_member(ports_[k], path)) continue;
    give(k, word);
    any = true;
  }
  if (!any)
    fail(Code::E0701, "{} holds none of the model's inputs {}{}", printable(path), input_names(model_),
         is_npz(path) ? fmt::format("; it holds {}", io::Npz::open(path).contents()) : "");
  return true;
}

void Inputs::give(std::size_t k, std::string value) {
  auto& source = sources_[k];
  if (source) ports_[k].fail(Code::E0706, fmt::format("input \"{}\" is given twice", ports_[k].name()));
  if (trim(value).empty())
    ports_[k].fail(Code::E0705, fmt::format("input \"{}\": the value is empty", ports_[k].name()));
  try {
    auto generator = io::parse_generator(value);
    source = Source{std::move(value), std::move(generator), std::nullopt};
  } catch (const Failure& failure) {
    const auto& d = failure.diagnostic;
    ports_[k].fail(d.code, fmt::format("input \"{}\": {}", ports_[k].name(), d.message));
  }
}

/// Reads what is not made up; the shapes of it, by Parameter.
std::map<int, Shape> Inputs::read_given(i64 step) {
  std::map<int, Shape> shapes;
  for (int k = 0; k < std::ssize(sources_); ++k) {
    auto& source = sources_[k];
    if (!source || source->value.empty() || source->generator) continue;
    const bool changes = source->value.find("{step}") != source->value.npos;
    if (!source->kept || changes) {
      source->kept = read_value(ports_[k], with_step(source->value, step), reading_[k]);
      if (!source->kept->note.empty()) notes_.push_back(source->kept->note);
      log_debug("input \"{}\" is {}{} from {}", ports_[k].name(), name(source->kept->tensor.type()),
                to_string(source->kept->tensor.shape()), source->kept->from);
    }
    shapes.emplace(k, source->kept->tensor.shape());
  }
  return shapes;
}

/// Shapes for the inputs that are made up, where those that are given have these shapes.
std::vector<Shape> Inputs::shapes_to_fill(const std::map<int, Shape>& given) const {
  auto options = infer_options(options_, model_);
  for (const auto& [k, shape] : given) options.shapes.insert_or_assign(k, PartialShape(shape));
  if (auto shapes = tools::sample_shapes(model_, options)) return *shapes;
  // None is known to be accepted: the shortest that are declared.
  std::vector<Shape> shapes;
  for (const auto& port : ports_) {
    shapes.emplace_back();
    for (const auto& d : port.shape) shapes.back().push_back(std::max<i64>(d.min, std::min<i64>(d.max, 1)));
  }
  return shapes;
}

/// Masks whose last axis may grow with the states, and what its length may be.
std::map<int, Dim> Inputs::masks_to_fill(const std::map<int, Shape>& given) const {
  std::map<int, Dim> masks;
  for (const auto& port : ports_)
    if (!given.contains(port.index) && is_mask(model_, port.index) && port.shape.has_rank() && port.shape.rank() > 0 &&
        !port.shape.dim(-1).is_static())
      masks.emplace(port.index, port.shape.dim(-1));
  return masks;
}

void Inputs::make_up(int k, const Shape& shape, i64 step) {
  auto& source = *sources_[k];
  const auto& port = ports_[k];
  const bool same_shape = source.kept && source.kept->tensor.shape() == shape;
  if (same_shape && source.generator) return;  // as a value that was given it is the same in every step
  if (!port.shape.has_rank())
    port.fail(Code::E0703, fmt::format("input \"{}\" has no known rank", port.name()), "give its shape with --shape");
  if (port.given == ElementType::dynamic)
    port.fail(Code::E0704, fmt::format("input \"{}\" has no element type of its own", port.name()),
              "give a value that has one, such as '2xf32=1 2'");
  std::string how;
  Tensor made;
  const auto& generator = source.generator;
  const bool zeros = generator && generator->kind == io::Generator::Kind::constant && generator->a.whole == 0;
  if (generator && port.given == ElementType::string && !zeros)
    port.fail(Code::E0704, fmt::format("input \"{}\" is string, of which \"{}\" makes none", port.name(), source.value),
              "give texts, such as '2xstring=a b', or zeros: empty ones");
  if (generator) {
    made = io::generate(*source.generator, port.given, shape, static_cast<std::uint64_t>(options_.seed) + k);
    if (!port.shape.is_static()) how = source.value;
  } else {
    const auto seed = static_cast<std::uint64_t>(options_.seed) + (static_cast<std::uint64_t>(step) << 32);
    auto random = random_input(model_, facts_, k, shape, seed);
    made = std::move(random.tensor);
    how = "made up, " + random.how;
  }
  const auto what = fmt::format("{}{}", name(made.type()), to_string(shape));
  if (source.kept && !same_shape && !std::exchange(source.changes, true))
    notes_.push_back(
        fmt::format("input \"{}\" is made up anew where its shape changes: {} in step {}", port.name(), what, step));
  if (!source.kept && !how.empty()) notes_.push_back(fmt::format("input \"{}\" is {}: {}", port.name(), what, how));
  source.kept = InputValue{std::move(made), "", false, {}};
}

Common Inputs::limited(Common common, i64 beside) {
  i64 bytes = beside;
  const auto given = read_given(0);
  for (const auto& [k, shape] : given) bytes = saturating_add(bytes, sources_[k]->kept->tensor.byte_size());
  for (const auto& [k, shape] : infer_options(options_, model_).shapes)
    if (!given.contains(k) && shape.is_static())
      bytes = saturating_add(bytes, saturating_mul(saturating_count(shape.to_shape()), byte_width(ports_[k].type)));
  common.budget = limits_of_run(common.budget, *model_.graph, bytes);
  return common;
}

std::vector<Tensor> Inputs::step(i64 number) {
  const auto given = read_given(number);
  check_image_flags();
  if (given.size() < sources_.size()) {
    auto shapes = shapes_to_fill(given);
    if (const auto masks = masks_to_fill(given); !masks.empty()) shapes = step_shapes_.next(std::move(shapes), masks);
    for (int k = 0; k < std::ssize(sources_); ++k)
      if (!given.contains(k)) make_up(k, shapes[k], number);
  }
  std::vector<Tensor> tensors;
  for (const auto& source : sources_) tensors.push_back(source->kept->tensor);
  return tensors;
}

/// Flags that would have no effect are an error: the data would not be what was meant.
void Inputs::check_image_flags() const {
  bool any_image = false;
  for (std::size_t k = 0; k < sources_.size(); ++k) {
    const auto& source = *sources_[k];
    const auto& image = reading_[k].image;
    const bool is_image = source.kept && source.kept->image;
    any_image |= is_image;
    const char* const flag = !image.layout.empty()  ? "--layout"
                             : !image.mean.empty()  ? "--mean_values"
                             : !image.scale.empty() ? "--scale_values"
                                                    : nullptr;
    if (flag && !is_image)
      throw UsageError(fmt::format("{} applies to images only, but input \"{}\" {}", flag, ports_[k].name(),
                                   source.value.empty() ? "is made up" : "is given as " + printable(source.value)));
  }
  const char* const flag = options_.reverse_channels  ? "--reverse_channels"
                           : !options_.resize.empty() ? "--resize"
                                                      : nullptr;
  if (flag && !any_image) throw UsageError(fmt::format("{} applies to images only, but no input is an image", flag));
}

void Inputs::report_missing(const std::map<int, Shape>& given, const std::vector<std::string>& words) const {
  std::vector<std::string> inputs;
  const InputPort* first = nullptr;
  for (std::size_t k = 0; k < sources_.size(); ++k) {
    if (sources_[k]) continue;
    const auto& port = ports_[k];
    inputs.push_back(fmt::format("\"{}\" ({}{})", port.name(), name(port.given), to_string(port.shape)));
    if (!first) first = &port;
  }
  const auto list = word_list(inputs);
  const auto command = example(given, words);
  first->fail(Code::E0702,
              inputs.size() == 1 ? fmt::format("missing value for input {}", list)
                                 : fmt::format("missing values for inputs {}", list),
              fmt::format("give {0} with -i (see \"Input values\" in 'ovir help run'), or fill {0} with --random{1}",
                          inputs.size() == 1 ? "it" : "them", command ? "; for example:\n      " + *command : ""));
}

/// A command that runs: its inputs were checked to have shapes that the model accepts. Nothing where none was found.
std::optional<std::string> Inputs::example(const std::map<int, Shape>& given,
                                           const std::vector<std::string>& words) const {
  std::string command = "ovir";
  for (const auto& word : words) command += " " + shell_word(word);

  auto options = infer_options(options_, model_);
  for (const auto& [k, shape] : given) options.shapes.insert_or_assign(k, PartialShape(shape));
  for (const auto& port : ports_)
    if (!port.shape.has_rank() && !given.contains(port.index)) options.shapes[port.index] = PartialShape({Dim(1)});
  const auto shapes = tools::sample_shapes(model_, options);
  if (!shapes) return std::nullopt;
  for (std::size_t k = 0; k < sources_.size(); ++k) {
    const auto& port = ports_[k];
    if (sources_[k]) continue;
    const auto value = !port.shape.has_rank()         ? fmt::format("1x{}=0", name(port.given))
                       : is_mask(model_, port.index)  ? "ones"
                       : contains(kFloat, port.given) ? "rand"
                                                      : "zeros";
    command += " -i " + shell_word(model_.parameter_name(port.index) + "=" + value);
  }
  return command;
}

}  // namespace ovir::app
