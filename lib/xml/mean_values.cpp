// Builder::subtract_means: the means of <pre-process>, which Model Optimizer kept beside the graph, as layers of it.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "graph/subtract_mean.hpp"
#include "tensor/tensor.hpp"
#include "xml/builder.hpp"

namespace ovir::xml {

namespace {

/// An input of the model is a layer that is fed by nothing and has a shape, but no place in the .bin.
bool is_input(const Layer& layer) {
  return layer.inputs.empty() && layer.attribute("shape") != nullptr && layer.attribute("offset") == nullptr;
}

/// The input called `name`; where that is empty, the first of rank 4, else the first.
const Layer* input_called(const Graph& graph, std::string_view name) {
  const Layer* first = nullptr;
  for (const auto& layer : graph.layers) {
    if (!is_input(layer)) continue;
    if (!name.empty() && layer.name == name) return &layer;
    if (first == nullptr) first = &layer;
    const auto dims = parse_shape(layer.attribute("shape")->value);
    if (name.empty() && dims && dims->has_rank() && dims->rank() == 4) return &layer;
  }
  return name.empty() ? first : nullptr;
}

}  // namespace

std::vector<pugi::xml_node> Builder::means_by_channel(pugi::xml_node block) {
  std::vector<std::pair<i64, pugi::xml_node>> means;
  i64 next = 0;
  for (const auto channel : block.children("channel")) {
    const auto id = number(channel, "id", 0, next++);
    if (!id) return {};
    if (const auto mean = channel.child("mean")) means.emplace_back(*id, mean);
  }
  std::stable_sort(means.begin(), means.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<pugi::xml_node> ordered;
  for (const auto& [channel, mean] : means) {
    const auto expected = std::ssize(ordered);
    if (channel != expected) {
      report(Code::E0104,
             channel < expected ? fmt::format("channel {} of <pre-process> must have one mean, but has two", channel)
                                : fmt::format("channel {} of <pre-process> must have a mean, but has none", expected),
             tag(mean));
      return {};
    }
    ordered.push_back(mean);
  }
  return ordered;
}

std::optional<Tensor> Builder::mean_numbers(const std::vector<pugi::xml_node>& means, ElementType type,
                                            const Shape& shape) {
  Tensor numbers(ElementType::f32, shape);
  for (std::size_t c = 0; c < means.size(); ++c) {
    const auto attribute = means[c].attribute("value");
    const auto number = parse_number<float>(attribute.value());
    if (!number || !std::isfinite(*number)) {
      report(Code::E0104, fmt::format("value of <mean> must be a number, but is \"{}\"", printable(attribute.value())),
             value(attribute));
      return std::nullopt;
    }
    numbers.mutable_data<float>()[c] = *number;
  }
  return convert(numbers, type);
}

std::optional<Tensor> Builder::mean_images(const std::vector<pugi::xml_node>& means, ElementType type,
                                           const Shape& shape) {
  const auto bytes = packed_size(type, shape.count() / shape[0]).value_or(0);
  std::vector<i64> offsets;
  for (const auto mean : means) {
    const auto offset = number(mean, "offset", 0), size = number(mean, "size", 0);
    if (!offset || !size) return std::nullopt;
    const auto end = checked_add(*offset, *size);
    const bool outside = !end || (weights_ && *end > std::ssize(weights_->view));
    if (*size != bytes)
      report(Code::E0303,
             fmt::format("a mean image {}{} takes {}, but \"size\" is {}", name(type),
                         to_string(PartialShape(Shape(shape.begin() + 1, shape.end()))), counted(bytes, "byte"), *size),
             value(mean.attribute("size")));
    else if (outside)
      report(Code::E0302, fmt::format("the mean image's bytes must lie in the .bin, but begin at {}", *offset),
             value(mean.attribute("offset")));
    if (*size != bytes || outside) return std::nullopt;
    offsets.push_back(*offset);
  }
  if (!weights_) return Tensor();
  Tensor images(type, shape);
  for (std::size_t c = 0; c < offsets.size(); ++c)
    std::memcpy(images.mutable_bytes() + static_cast<i64>(c) * bytes, weights_->view.data() + offsets[c], bytes);
  return images;
}

void Builder::subtract_means(pugi::xml_node root, Graph& graph) {
  const auto block = root.child("pre-process");
  const auto means = means_by_channel(block);
  if (means.empty()) return;
  const auto is_number = [](pugi::xml_node mean) { return static_cast<bool>(mean.attribute("value")); };
  const bool numbers = is_number(means.front());
  const auto refuse = [&](Code code, std::string message) { report(code, std::move(message), tag(block)); };
  if (std::any_of(means.begin(), means.end(),
                  [&](const auto& m) { return is_number(m) != numbers || (numbers && m.attribute("size")); }))
    return refuse(Code::E0104, "<pre-process> must have mean values or mean images, but has both");

  const auto reference = block.attribute("reference-layer-name");
  const auto* const input = input_called(graph, trim(reference.value()));
  if (input == nullptr)
    return refuse(Code::E0104,
                  fmt::format("reference-layer-name of <pre-process> must be the name of an input, but is \"{}\"",
                              printable(reference.value())));
  const auto *const shape_text = input->attribute("shape"), *const type_text = input->attribute("element_type");
  const auto declared = shape_text ? parse_shape(shape_text->value) : std::nullopt;
  const auto type = type_text ? parse_element_type(type_text->value) : std::nullopt;
  if (!declared || !type || input->outputs.size() != 1 || input->damaged) return;  // a fault that others report
  if (!declared->is_static() || declared->rank() < 2 || declared->rank() > 5 || *type == ElementType::string)
    return refuse(Code::E0605, fmt::format("mean values need an input of numbers, of known lengths and of rank 2 to 5, "
                                           "but \"{}\" is {}{}",
                                           printable(input->name), name(*type), to_string(*declared)));

  // [C, 1, ...] or [C, H, W]: a batch stands before the channels, but where the rank is 3.
  const auto of_input = declared->to_shape();
  Shape of_means(of_input.begin() + (declared->rank() == 3 ? 0 : 1), of_input.end());
  if (numbers) std::fill(of_means.begin() + 1, of_means.end(), 1);
  if (of_means[0] != std::ssize(means))
    return refuse(Code::E0104, fmt::format("<pre-process> must have a mean for each of the {} of \"{}\", but has {}",
                                           counted(of_means[0], "channel"), printable(input->name), means.size()));
  const auto count = checked_product(of_means);
  if (!count || !packed_size(*type, *count)) return;  // no input has so many elements
  const auto value = numbers ? mean_numbers(means, *type, of_means) : mean_images(means, *type, of_means);
  if (!value) return;
  subtract_mean(graph, *input, {*type, of_input, of_means, *value ? std::make_shared<const Tensor>(*value) : nullptr},
                tag(block));
}

}  // namespace ovir::xml
