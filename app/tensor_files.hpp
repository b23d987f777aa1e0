// Tensors on their way to files: folders with a manifest, .npz, .json, stdout. Files appear whole or not at all.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/int.hpp"
#include "base/memory_budget.hpp"
#include "ovir.hpp"
#include "render/json.hpp"

namespace ovir::app {

/// A tensor and where in the model it comes from.
struct Produced {
  std::string key;  ///< in an .npz
  const Model* model = nullptr;
  const Node* producer = nullptr;
  int port = 0;
  std::vector<std::string> names;  ///< tensor names
  std::vector<i64> iterations;     ///< of the loops around it
  Tensor value;
  ElementType declared = ElementType::dynamic;  ///< as inferred, where `value` is kept in another type
};

/// The results of a run, by Result in file order, with the keys that the contract gives them.
std::vector<Produced> results(const Model& model, const std::vector<Tensor>& values);

struct FileOptions {
  bool raw = false;     ///< keep the bits of types that NumPy lacks
  bool digest = false;  ///< crc32 in the manifest
};

/// The tensor as NumPy can hold it: widened, or its bits.
Tensor stored(const Tensor& value, const FileOptions& options);
/// What the manifest says of it, without its place.
Json describe(const Produced& produced, const FileOptions& options);

/// `<name>` with every byte outside [A-Za-z0-9._-] as `_`, cut at 120.
std::string file_stem(std::string_view name);

/// A path that ends in / is meant as a folder; what cannot be looked at is none.
bool is_folder(const std::string& path);

/// The folder of a file to be written exists. Throws Failure (E0002).
void make_parent(const std::string& path);

enum class Target { folder, npz, npy, json, out };
/// What -o or --dump-to ask for. Throws UsageError where `path` is none of them.
Target target_of(std::string_view flag, const std::string& path);

/// Writes the outputs of one run. `dumped`: the entries of a Dump into the same folder, for the one manifest; `run`:
/// the record of the run, which only a manifest takes. Tensor files that only an older manifest lists are removed.
void write_outputs(const std::string& path, const std::vector<Produced>& outputs, const FileOptions& options,
                   const Json& dumped, const Json& run);

/// How many bytes the files of dumps may take together.
struct DiskRoom {
  i64 limit;
  i64 left = limit;
};

/// Tensors that are written as they are computed; the manifest comes last.
class Dump {
 public:
  /// `room`: must outlive the dump.
  Dump(std::string path, FileOptions options, DiskRoom& room);
  void add(Produced produced);
  /// Writes the manifest, and removes the tensor files that only an older one lists.
  void finish();
  /// What a manifest says of the tensors so far.
  const Json& entries() const { return manifest_; }
  std::size_t count() const { return count_; }

 private:
  void take_room(const Tensor& value);

  std::string path_;
  Target target_;
  FileOptions options_;
  DiskRoom& room_;
  std::size_t count_ = 0;
  Json manifest_ = Json::array();
  std::vector<Produced> kept_;  ///< for an .npz, which is written at the end
  MemoryBudget::Share share_;   ///< a loop may have any number of iterations
};

/// The tensor as nested JSON lists; one list without elements where the tensor has none. Infinities and NaN, which JSON
/// lacks, are the strings "inf", "-inf", "nan".
Json values_json(const Tensor& value);

}  // namespace ovir::app
