// IR text written layer by layer, so that a test makes the model that it needs.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tensor/tensor.hpp"

namespace ovir::spec {

using AttributeTexts = std::vector<std::pair<std::string, std::string>>;

/// <data name="value" …/>; empty where there is no attribute.
std::string data_element(const AttributeTexts& attributes);
/// A <port> that declares a type, and a shape where there is one.
std::string output_port(int id, ElementType type, const PartialShape* shape = nullptr);

/// The <layers> and <edges> of one graph: a model, or a body of one. The functions give the ids of the layers.
class GraphText {
 public:
  /// `bin` receives the values of the constants.
  explicit GraphText(std::string& bin) : bin_(bin) {}

  /// Constants from here on lie so many bytes behind a multiple of 64.
  void misplace(std::size_t bytes) { misplaced_ = bytes; }

  int parameter(const std::string& name, ElementType type, const PartialShape& shape);
  int constant(const std::string& name, const Tensor& value);
  /// Every input is the first output of a layer; `ports` are the output ports, `inner` the bodies, both as XML.
  int layer(const std::string& name, const std::string& type, const std::string& version, const std::string& data,
            const std::vector<int>& inputs, const std::string& ports, const std::string& inner = "");
  /// A layer of one output, whose port is named after the inputs; `operation` is "Add-1".
  int add(const std::string& name, std::string_view operation, const std::vector<int>& inputs,
          const AttributeTexts& attributes = {});
  /// Output `port` of a layer, counted from 0, as an input of others.
  int output(int of, int port);
  int result(const std::string& name, int of, int port);
  int result(const std::string& name, int of) { return result(name, of, first_output(of)); }
  /// A layer without outputs, such as Assign.
  int sink(const std::string& name, std::string_view operation, int of, const AttributeTexts& attributes);

  int first_output(int layer_id) const { return first_output_.at(layer_id); }
  std::string text() const { return "<layers>\n" + layers_ + "</layers>\n<edges>\n" + edges_ + "</edges>\n"; }
  /// As a whole file of IR version 11.
  std::string xml() const;

 private:
  void edge(int from, int from_port, int to, int to_port);

  std::string& bin_;
  std::size_t misplaced_ = 0;
  std::string layers_, edges_;
  std::map<int, int> first_output_;
  std::map<int, int> layer_of_;  // by what output() gave
  int next_ = 0;
};

}  // namespace ovir::spec
