#include "render/layer.hpp"

namespace ovir::app {

Json layer_json(const Model& model, const Node& node) {
  return {{"id", id_json(node.layer->id_text)},
          {"name", model.path + node.layer->name},
          {"type", node.layer->type},
          {"path", model.path}};
}

}  // namespace ovir::app
