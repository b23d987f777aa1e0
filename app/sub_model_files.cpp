#include "sub_model_files.hpp"

#include <filesystem>
#include <span>
#include <vector>

#include "io/files.hpp"
#include "tensor_files.hpp"

namespace ovir::app {

void stage_pieces(StagedFiles& files, const std::string& path, std::span<const Bytes> pieces) {
  std::vector<std::span<const std::byte>> parts;
  for (const auto& piece : pieces) parts.push_back(piece.view);
  io::stage_file(files, path, parts);
}

void write_model(const std::string& path, const tools::SubModel& model) {
  make_parent(path);
  StagedFiles files;
  const auto xml = std::as_bytes(std::span(model.xml));
  stage_pieces(files, std::filesystem::path(path).replace_extension(".bin").string(), model.bin);
  io::stage_file(files, path, {&xml, 1});
  io::commit_files(files);
}

}  // namespace ovir::app
