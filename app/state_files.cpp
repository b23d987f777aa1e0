#include "state_files.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "io/npz.hpp"
#include "io/storable.hpp"
#include "tensor_files.hpp"

namespace ovir::app {

std::map<std::string, PartialShape> load_states(const std::string& path, Session& session, bool declared) {
  std::map<std::string, PartialShape> shapes;
  const auto& variables = session.variables();
  const auto archive = io::Npz::open(path);
  for (const auto& key : archive.keys()) {
    const auto known = std::find_if(variables.begin(), variables.end(), [&](const Variable& v) { return v.id == key; });
    if (known == variables.end())
      fail(Code::E0701, "{}: the model has no variable \"{}\"", printable(path), printable(key));
    // Before the elements are unpacked: an archive of megabytes may hold gigabytes.
    if (const auto info = archive.info(key); !known->shape.contains(info.shape))
      fail(Code::E0703, "{}: the state of variable \"{}\" must have shape {}, but {} was given", printable(path),
           printable(key), to_string(known->shape), to_string(info.shape));
    const auto tensor = archive.read(key);
    const bool kept_wide = !declared && tensor.type() == ElementType::f32 && is_float(known->type);
    const bool narrow = known->type != ElementType::dynamic && tensor.type() != known->type && !kept_wide;
    if (narrow && tensor.type() != io::storable_type(known->type))
      fail(Code::E0704, "{}: the state of variable \"{}\" must be {}, but {} was given", printable(path),
           printable(key), name(known->type), name(tensor.type()));
    try {
      session.set_state(key, narrow ? io::narrow(tensor, known->type) : tensor);
    } catch (Failure& failure) {
      if (failure.diagnostic.code == Code::E0705)
        failure.diagnostic.message = fmt::format("{}: the state of variable \"{}\": {}", printable(path),
                                                 printable(key), failure.diagnostic.message);
      throw;
    }
    shapes.emplace(key, tensor.shape());
  }
  return shapes;
}

void save_states(const std::string& path, const Session& session) {
  std::vector<io::Named> list;
  for (const auto& variable : session.variables())
    if (const auto value = session.state(variable.id)) list.push_back({variable.id, io::storable(value)});
  make_parent(path);
  io::write_npz(path, list);
}

}  // namespace ovir::app
