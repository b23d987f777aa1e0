// States of variables in .npz files: run --load-state and --save-state.
#pragma once
#include <map>
#include <string>

#include "exec/session.hpp"

namespace ovir::app {

/// Sets the states that the archive has, and returns their shapes, by variable. `declared`: the session keeps states in
/// the types of the model; else those of floats in f32. E0701, E0703, E0704 and E0705 where one does not fit.
std::map<std::string, PartialShape> load_states(const std::string& path, Session& session, bool declared);

void save_states(const std::string& path, const Session& session);

}  // namespace ovir::app
