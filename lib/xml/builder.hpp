// From a parsed XML tree to a Graph: every number checked, every part with its place in the text.
#pragma once
#include <memory>
#include <optional>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "tensor/tensor.hpp"

namespace ovir::xml {

class Builder {
 public:
  /// `buffer` is the copy of the source's text that the tree was parsed in: places in it are places in the source.
  Builder(std::shared_ptr<const SourceFile> source, const char* buffer, Diagnostics& diagnostics)
      : source_(std::move(source)), buffer_(buffer), diagnostics_(diagnostics) {}
  /// What every graph gets, bodies included.
  void set_weights(std::string path, std::shared_ptr<const Bytes> weights) {
    weights_path_ = std::move(path);
    weights_ = std::move(weights);
  }

  /// The model. Null for a version that is not read.
  std::shared_ptr<Graph> net(pugi::xml_node root);

 private:
  /// A version that is missing or malformed is reported and taken as 11; nothing where it is not read.
  std::optional<i64> version(pugi::xml_node root);
  /// `path` is that of its layers: "loop1/body/".
  std::shared_ptr<Graph> graph(pugi::xml_node node, const std::string& path, int depth);
  Layer layer(pugi::xml_node node, int depth);
  void ports(pugi::xml_node list, bool input, Layer& layer);
  Port port(pugi::xml_node node, bool input);
  std::optional<Dim> dim(pugi::xml_node node);
  void data(pugi::xml_node node, Layer& layer);
  void bodies(pugi::xml_node node, int depth, Layer& layer);
  std::optional<PortMap> port_map(pugi::xml_node node);
  void edges(pugi::xml_node list, Graph& graph);
  /// The means of <pre-process> become a Constant and a Subtract behind their input, as in OpenVINO; a fault in them is
  /// reported.
  void subtract_means(pugi::xml_node root, Graph& graph);
  /// One <mean> for each channel, in order; none after a fault.
  std::vector<pugi::xml_node> means_by_channel(pugi::xml_node block);
  /// The constant of `shape`, [C, 1, ...] or [C, H, W]; nothing after a fault. Images are empty where there is no .bin.
  std::optional<Tensor> mean_numbers(const std::vector<pugi::xml_node>& means, ElementType type, const Shape& shape);
  std::optional<Tensor> mean_images(const std::vector<pugi::xml_node>& means, ElementType type, const Shape& shape);

  /// A whole number of at least `min`; where it is missing, `otherwise`, or a diagnostic if there is none.
  std::optional<i64> number(pugi::xml_node node, const char* name, i64 min, std::optional<i64> otherwise = {});
  /// The attribute's text; a diagnostic and "" where it is missing.
  std::string text(pugi::xml_node node, const char* name);
  void check_attributes(pugi::xml_node node);

  SourceLoc tag(pugi::xml_node node) const;
  SourceLoc value(pugi::xml_attribute attribute) const;
  SourceLoc at(const char* begin, std::size_t length) const;
  void report(Code code, std::string message, SourceLoc at, std::string label = {}, std::vector<Note> notes = {},
              std::vector<Remedy> remedies = {});

  std::shared_ptr<const SourceFile> source_;
  const char* buffer_;
  Diagnostics& diagnostics_;
  i64 ir_version_ = 0;
  std::string weights_path_;
  std::shared_ptr<const Bytes> weights_;
  // What the next diagnostic is about.
  pugi::xml_node in_layer_;
  std::string path_;  ///< of the body that the layer is in
  std::optional<PortRef> in_port_;
  bool faulty_ = false;            ///< an error was reported since this was last cleared
  bool told_of_fraction_ = false;  ///< one warning is enough: a writer that does it once does it everywhere
};

}  // namespace ovir::xml
