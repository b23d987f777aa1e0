// Files whose name is like one that does not exist.
#pragma once
#include <string>

namespace ovir {

/// "; did you mean models/net.xml?" where `path` does not exist: with / for \, or the file of the same folder and
/// extension whose name is near by edit distance. Empty where there is none.
std::string did_you_mean_file(const std::string& path);

}  // namespace ovir
