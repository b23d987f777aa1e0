#include "sub_model_files.hpp"

#include <filesystem>
#include <span>
#include <vector>

#include "io/files.hpp"

namespace ovir::app {

void write_model(const std::string& path, const tools::SubModel& model) {
  StagedFiles files;
  std::vector<std::span<const std::byte>> bin;
  for (const auto& piece : model.bin) bin.push_back(piece.view);
  const auto xml = std::as_bytes(std::span(model.xml));
  io::stage_file(files, std::filesystem::path(path).replace_extension(".bin").string(), bin);
  io::stage_file(files, path, {&xml, 1});
  io::commit_files(files);
}

}  // namespace ovir::app
