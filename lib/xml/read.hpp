// Reading an IR: .xml graph, .bin weights. The only folder that knows pugixml.
#pragma once
#include <memory>
#include <string>

#include "base/bytes.hpp"
#include "diag/diagnostic.hpp"
#include "graph/graph.hpp"

namespace ovir::xml {

struct ReadOptions {
  std::string weights;                   ///< path of the .bin; empty: beside the .xml, same stem
  bool no_weights = false;               ///< leave the .bin alone
  std::shared_ptr<const Bytes> bytes{};  ///< the .bin itself, where it is in memory; `weights` then only names it
};

/// Reads IR versions 10 and 11. Faults go to `diagnostics`; returns null when nothing could be made of the file, else
/// what could be read (structure is judged by passes::resolve).
std::shared_ptr<const Graph> read(const std::string& path, const ReadOptions& options, Diagnostics& diagnostics);

/// The same of a text that need not be in a file; weights are looked for beside `source->path`.
std::shared_ptr<const Graph> read(const std::shared_ptr<const SourceFile>& source, const ReadOptions& options,
                                  Diagnostics& diagnostics);

}  // namespace ovir::xml
