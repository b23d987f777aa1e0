// E0003 where it is a memory budget that refuses, not the system.
#pragma once
#include <string>
#include <utility>

#include "diag/diagnostic.hpp"

namespace ovir {

/// Says how the limit is raised.
inline Failure over_memory(std::string text) {
  auto d = diagnose(Code::E0003, std::move(text));
  d.notes.push_back({"--limits mem=SIZE sets another limit", {}, "", ""});
  return Failure(std::move(d));
}

}  // namespace ovir
