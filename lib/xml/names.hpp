// Lists of tensor names, and the <rt_info> of a model as a flat list.
#pragma once
#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace ovir::xml {

/// "a,b\,c" -> {"a", "b,c"}: a backslash keeps a comma from separating. Each name once.
std::vector<std::string> tensor_names(std::string_view list);

/// The <rt_info> of a <net>, or what held it before IR 11: <meta_data> and <quantization_parameters>.
void flatten_info(pugi::xml_node net, std::vector<InfoEntry>& entries);

}  // namespace ovir::xml
