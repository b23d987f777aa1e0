#include "graph/graph.hpp"

#include <algorithm>

namespace ovir {

const Attribute* Layer::attribute(std::string_view attribute_name) const {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(), [&](const Attribute& a) { return a.name == attribute_name; });
  return found == attributes.end() ? nullptr : &*found;
}

}  // namespace ovir
