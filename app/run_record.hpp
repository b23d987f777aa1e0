// The record of a run in the manifest of `-o dir/`, by which `run --replay dir/` repeats it.
#pragma once
#include <string>
#include <vector>

#include "ovir.hpp"
#include "render/json.hpp"
#include "tensor_files.hpp"

namespace ovir::app {

struct RunRecord {
  std::vector<std::string> command;  ///< the words behind `ovir`
  std::string version, tier, precision;
  i64 step = 0;
  Json inputs = Json::array();  ///< name, element type, shape and CRC-32 of each
};
/// The inputs as a record names them.
Json input_digests(const Model& model, const std::vector<Tensor>& values);
Json record_json(const RunRecord& record);

/// What a folder holds of a run: its record, and the outputs as they are stored.
struct Recorded {
  RunRecord run;
  std::vector<Tensor> outputs;
};
/// Throws Failure (E0001, E0705) where the folder has no manifest, or none with a record.
Recorded read_record(const std::string& folder);

/// Whether a run gave the same as a recorded one, bit by bit, and what differs.
struct Replay {
  bool same = true;
  std::vector<std::string> notes;  ///< what differs besides the outputs: the version, an input
  Json outputs = Json::array();    ///< index, key, same; of one that differs: how many elements, and by how much
};
Replay compare(const Recorded& recorded, const RunRecord& now, const std::vector<Produced>& outputs,
               const FileOptions& files);
std::string replay_text(const Replay& replay);

/// The inputs as NAME.npy in a folder, so that `-i @folder/` reads them back.
void save_inputs(const std::string& folder, const Model& model, const std::vector<Tensor>& values);

}  // namespace ovir::app
