#include "render/comparison.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "cli.hpp"
#include "render/layer.hpp"
#include "tools/element.hpp"

namespace ovir::app {
namespace {

using tools::Compared;
using tools::OwnError;
using tools::OwnVerdict;
using tools::TensorPlace;

constexpr std::size_t kShown = 10;  // rows of layers that are not within, where not all are asked for
constexpr std::size_t kNamed = 5;   // names in a note

std::string short_number(double x) { return x == 0 ? "0" : fmt::format("{:.3g}", x); }

std::string_view word(OwnVerdict j) {
  switch (j) {
    case OwnVerdict::exact: return "exact";
    case OwnVerdict::rounded: return "rounded";
    case OwnVerdict::wrong: break;
  }
  return "wrong";
}

/// The layer with its body, its iteration, and its output where there are several.
std::string name_of(const TensorPlace& place) {
  std::string text = place.model->path + place.at().layer->name;
  for (std::size_t i = 0; i < place.iterations.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "@it=" : ".", place.iterations[i]);
  if (place.at().output_count > 1) text += fmt::format(":{}", place.port);
  return printable(text);
}

std::string title(const MetricColumn& column) {
  switch (column.metric) {
    case Metric::max_abs: return "max abs";
    case Metric::max_rel: return "max rel";
    case Metric::ulp: return "ulp";
    case Metric::rmse: return "rmse";
    case Metric::cosine: return "cosine";
    case Metric::psnr: return "psnr";
    case Metric::nan: return "nan";
    case Metric::inf: return "inf";
    case Metric::top: break;
  }
  return fmt::format("top {}", column.k);
}

std::string one_sided_text(const tools::OneSided& n, const Shape& shape) {
  if (!n.first) return "-";
  std::string index;
  for (const auto i : tools::index_of(*n.first, shape)) index += fmt::format("{}{}", index.empty() ? "" : ",", i);
  return fmt::format("{}/{} [{}]", n.value, n.reference, index);
}

std::string cell(const MetricColumn& column, const Compared& c, std::size_t& top) {
  const auto& d = c.difference;
  if (!d.unlike.empty()) return "-";
  switch (column.metric) {
    case Metric::max_abs: return short_number(d.max_abs);
    case Metric::max_rel: return short_number(d.max_rel);
    case Metric::ulp: return d.ulp ? std::to_string(*d.ulp) : "-";
    case Metric::rmse: return short_number(d.rmse);
    case Metric::cosine: return d.cosine ? fmt::format("{:.6f}", *d.cosine) : "-";
    case Metric::psnr: return d.psnr ? fmt::format("{:.1f}", *d.psnr) : "-";
    case Metric::nan: return one_sided_text(d.nan, c.shape);
    case Metric::inf: return one_sided_text(d.inf, c.shape);
    case Metric::top: break;
  }
  const auto& agreement = c.top.at(top++);
  return agreement ? fmt::format("{:.1f}%", 100 * *agreement) : "-";
}

/// A table: the first column and the last one to the left, all others to the right.
std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i + 1 == row.size()) line += row[i];
      else line += i == 0 ? fmt::format("{:<{}}  ", row[i], width[i]) : fmt::format("{:>{}}  ", row[i], width[i]);
    }
    text += line + "\n";
  }
  return text;
}

bool judges_own(const ComparisonView& view) {
  const auto own = [](const Compared& c) { return c.own.has_value(); };
  const auto& [layers, outputs] = std::tie(view.comparison.layers, view.comparison.outputs);
  return std::any_of(layers.begin(), layers.end(), own) || std::any_of(outputs.begin(), outputs.end(), own);
}

std::vector<std::string> heading(const ComparisonView& view) {
  std::vector<std::string> row{"type"};
  for (const auto& column : view.columns) row.push_back(title(column));
  row.emplace_back("within");
  if (judges_own(view))
    for (const auto* text : {"own", "bound", "inherited", "own is"}) row.emplace_back(text);
  row.emplace_back("layer");
  return row;
}

std::vector<std::string> row_of(const ComparisonView& view, const Compared& c) {
  std::vector<std::string> row{printable(c.place.at().layer->type)};
  std::size_t top = 0;
  for (const auto& column : view.columns) row.push_back(cell(column, c, top));
  row.emplace_back(c.difference.within ? "yes" : "no");
  if (c.own) {
    row.push_back(short_number(c.own->max_abs));
    row.push_back(c.own->judgment == OwnVerdict::exact ? "-" : short_number(c.own->bound));
    row.push_back(short_number(c.inherited));
    row.emplace_back(word(c.own->judgment));
  } else if (judges_own(view)) {
    row.insert(row.end(), 4, "-");
  }
  auto name = name_of(c.place);
  if (!c.difference.unlike.empty()) name += fmt::format("  ({})", c.difference.unlike);
  if (c.own && c.own->ties > 0) name += fmt::format("  ({})", counted(c.own->ties, "tie"));
  row.push_back(std::move(name));
  return row;
}

bool is_wrong(const Compared& c) { return c.own && c.own->judgment == OwnVerdict::wrong; }

std::string list_of_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i)
    text += fmt::format("{}\"{}\"", i == 0 ? "" : ", ", printable(names[i]));
  return names.size() > kNamed ? text + ", ..." : text;
}

std::vector<std::string> names_of(const std::vector<TensorPlace>& places) {
  std::vector<std::string> names;
  for (const auto& place : places) names.push_back(name_of(place));
  return names;
}

/// "not compared: …", a line each.
std::string left_out(const ComparisonView& view) {
  std::string text;
  const auto line = [&](std::size_t n, std::string_view noun, std::string_view what,
                        const std::vector<std::string>& names) {
    if (n > 0)
      text += fmt::format("not compared: {} {}{}{}\n", counted(n, noun), what, names.empty() ? "" : ": ",
                          list_of_names(names));
  };
  line(view.comparison.without_reference, "computed tensor", "missing from the reference", {});
  line(view.reference.unmatched.size(), "tensor", "of the reference without a layer in the model",
       view.reference.unmatched);
  line(view.unaligned.size(), "layer", "without a counterpart in the other model", view.unaligned);
  line(view.comparison.not_computed.size(), "tensor", "of the reference not computed in the run",
       names_of(view.comparison.not_computed));
  return text;
}

Json finite(double x) { return std::isfinite(x) ? Json(x) : Json(); }

Json own_json(const OwnError& own) {
  Json json{{"max_abs", finite(own.max_abs)}, {"bound", finite(own.bound)}, {"verdict", word(own.judgment)}};
  if (own.judgment != OwnVerdict::exact && own.unlike.empty()) json["element"] = own.at;
  if (own.ties > 0) json["ties"] = own.ties;
  if (!own.unlike.empty()) json["unlike"] = own.unlike;
  return json;
}

Json one_sided_json(const tools::OneSided& n, const Shape& shape) {
  return {{"value", n.value}, {"reference", n.reference}, {"first", tools::index_of(*n.first, shape)}};
}

Json place_json(const TensorPlace& place) {
  auto json = layer_json(*place.model, place.at());
  if (!place.iterations.empty()) json["iterations"] = place.iterations;
  return json;
}

/// Constants, and what follows from constants alone.
std::vector<bool> constant_nodes(const Model& model) {
  std::vector<bool> constant;
  for (const auto& node : model.nodes) {
    const bool follows =
        node.op->kind == Kind::compute && node.version->pure && !node.inputs.empty() &&
        std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueRef from) { return constant[from.node]; });
    constant.push_back(node.op->kind == Kind::constant || follows);
  }
  return constant;
}

/// The layers that take a weight, which itself does nothing.
std::vector<TensorPlace> users_of(const TensorPlace& place) {
  std::vector<TensorPlace> users;
  if (!constant_nodes(*place.model)[place.node]) return users;
  for (int i = 0; i < std::ssize(place.model->nodes); ++i)
    for (const auto& from : (*place.model)[i].inputs)
      if (from.node == place.node) users.push_back({place.model, i, 0, {}});
  return users;
}

Json compared_json(const Compared& c, const std::vector<MetricColumn>& columns) {
  const auto& d = c.difference;
  Json json{{"layer", place_json(c.place)},
            {"port", c.place.port},
            {"within", d.within},
            {"max_abs", finite(d.max_abs)},
            {"max_rel", finite(d.max_rel)},
            {"ulp", d.ulp ? Json(*d.ulp) : Json()},
            {"rmse", finite(d.rmse)},
            {"cosine", d.cosine ? Json(*d.cosine) : Json()},
            {"psnr", d.psnr ? Json(*d.psnr) : Json()}};
  if (!d.unlike.empty()) json["unlike"] = d.unlike;
  if (d.nan.first) json["nan"] = one_sided_json(d.nan, c.shape);
  if (d.inf.first) json["inf"] = one_sided_json(d.inf, c.shape);
  std::size_t top = 0;
  for (const auto& column : columns)
    if (column.metric == Metric::top) {
      const auto& agreement = c.top.at(top++);
      json[fmt::format("top{}", column.k)] = agreement ? Json(*agreement) : Json();
    }
  json["own"] = c.own ? own_json(*c.own) : Json();
  json["inherited"] = c.own ? Json{{"max_abs", finite(c.inherited)}} : Json();
  return json;
}

}  // namespace

std::vector<MetricColumn> parse_metrics(const std::string& words) {
  static constexpr std::pair<std::string_view, Metric> known[] = {
      {"max_abs", Metric::max_abs}, {"max_rel", Metric::max_rel}, {"ulp", Metric::ulp}, {"rmse", Metric::rmse},
      {"cosine", Metric::cosine},   {"psnr", Metric::psnr},       {"nan", Metric::nan}, {"inf", Metric::inf}};
  std::vector<MetricColumn> columns;
  for (const auto part : split(words, ',')) {
    const auto text = trim(part);
    const auto found = std::find_if(std::begin(known), std::end(known), [&](const auto& m) { return m.first == text; });
    if (found != std::end(known)) {
      columns.push_back({found->second});
      continue;
    }
    const auto k = text.starts_with("top") ? parse_number<i64>(text.substr(3)) : std::nullopt;
    if (!k || *k < 1)
      throw UsageError(fmt::format(
          "--metric: expected max_abs, max_rel, ulp, rmse, cosine, psnr, nan, inf or topK, not '{}'", printable(text)));
    columns.push_back({Metric::top, *k});
  }
  return columns;
}

std::string place_text(const TensorPlace& place) {
  const auto& layer = *place.at().layer;
  std::string text = fmt::format("layer {} \"{}{}\" ({})", printable(layer.id_text), printable(place.model->path),
                                 printable(layer.name), printable(layer.type));
  if (!place.iterations.empty()) text += fmt::format(" in iteration {}", place.iterations.back());
  if (place.at().output_count > 1) text += fmt::format(", output {}", place.port);
  return text;
}

std::string comparison_text(const ComparisonView& view, const Style& style) {
  const auto& comparison = view.comparison;
  std::vector<std::vector<std::string>> rows{heading(view)};
  std::size_t left = 0, exact = 0, rounded = 0, wrong = 0;
  const Compared* first_wrong = nullptr;
  for (const auto& c : comparison.layers) {
    if (c.own && c.place.at().op->kind != Kind::result) {
      exact += c.own->judgment == OwnVerdict::exact ? 1 : 0;
      rounded += c.own->judgment == OwnVerdict::rounded ? 1 : 0;
      wrong += is_wrong(c) ? 1 : 0;
      if (is_wrong(c) && !first_wrong) first_wrong = &c;
    }
    if (!view.per_layer && c.difference.within && !is_wrong(c)) continue;
    if (!view.per_layer && rows.size() > kShown) ++left;
    else rows.push_back(row_of(view, c));
  }
  for (const auto& c : comparison.outputs) rows.push_back(row_of(view, c));
  auto text = rows.size() > 1 ? table(rows) : std::string();
  if (left > 0) text += fmt::format("... and {}; --per-layer lists all\n", counted(left, "more layer"));

  std::vector<TensorPlace> all, outside;
  for (const auto* list : {&comparison.layers, &comparison.outputs})
    for (const auto& c : *list) {
      all.push_back(c.place);
      if (!c.difference.within) outside.push_back(c.place);
    }
  const auto tensors = tools::count_tensors(all);
  text += fmt::format("{} compared: {} within the tolerance", counted(tensors, "tensor"),
                      tensors - tools::count_tensors(outside));
  if (exact + rounded + wrong > 0)
    text += fmt::format("; own error: {} exact, {} rounded, {} wrong", exact, rounded, wrong);
  text += "\n" + left_out(view);
  if (first_wrong) {
    const auto& own = *first_wrong->own;
    text += fmt::format("first wrong: {}: ", place_text(first_wrong->place));
    text += own.unlike.empty() ? fmt::format("own error {}, where rounding explains {}\n", short_number(own.max_abs),
                                             short_number(own.bound))
                               : own.unlike + "\n";
  }
  return text +
         style(comparison.within ? Paint::bold : Paint::error,
               comparison.within ? "within the tolerance" : "not within the tolerance") +
         "\n";
}

Json comparison_json(const ComparisonView& view) {
  const auto& comparison = view.comparison;
  const auto list = [&](const std::vector<Compared>& from) {
    Json json = Json::array();
    for (const auto& c : from) json.push_back(compared_json(c, view.columns));
    return json;
  };
  const auto* worst = comparison.worst();
  return {{"schema", 1},
          {"within", comparison.within},
          {"worst", worst ? place_json(worst->place) : Json()},
          {"layers", list(comparison.layers)},
          {"outputs", list(comparison.outputs)},
          {"not_compared",
           {{"without_reference", comparison.without_reference},
            {"unmatched", view.reference.unmatched},
            {"unaligned", view.unaligned},
            {"not_computed", names_of(comparison.not_computed)}}}};
}

std::string bisection_text(const tools::Bisection& bisection, const tools::Reference& reference) {
  if (!bisection.found)
    return fmt::format("no layer is wrong by itself: {} judged, all within their rounding\n",
                       counted(bisection.judged, "tensor"));
  const auto& own = bisection.found->own;
  const auto& place = own.place;
  auto text = fmt::format("{}\n", place_text(place));
  if (place.at().op->kind == Kind::parameter) text += "  the input is not the one that the reference was made with\n";
  for (const auto& user : users_of(place)) text += fmt::format("  used by {}\n", place_text(user));
  if (!own.unlike.empty()) return text + fmt::format("  {}\n", own.unlike);
  const auto saved = reference.at(place);
  std::string index;
  for (const auto i : tools::index_of(own.at, saved.shape())) index += fmt::format("{}{}", index.empty() ? "" : ",", i);
  text += fmt::format("  own error {}, from the reference's inputs\n", short_number(own.max_abs));
  if (own.value && own.value.type() != ElementType::string && own.value.size() > 0) {
    text += fmt::format("  at [{}] it gives {:.7g}, the reference {:.7g}; rounding explains {}\n", index,
                        tools::element(own.value, own.at), tools::element(saved, own.at), short_number(own.bound));
  }
  return text + fmt::format("  inherited error {}\n", short_number(bisection.found->inherited));
}

Json bisection_json(const tools::Bisection& bisection) {
  Json json{{"schema", 1}, {"found", nullptr}, {"port", nullptr}, {"own", nullptr}, {"inherited", nullptr}};
  if (bisection.found) {
    const auto& found = *bisection.found;
    json["found"] = place_json(found.own.place);
    json["port"] = found.own.place.port;
    json["own"] = own_json(found.own);
    json["inherited"] = {{"max_abs", finite(found.inherited)}};
    for (const auto& user : users_of(found.own.place)) json["used_by"].push_back(place_json(user));
  }
  json["judged"] = bisection.judged;
  return json;
}

}  // namespace ovir::app
