// The manifest of a folder that `compare --ref` or `run --replay` is given, beside two tensors.
#include <filesystem>
#include <fstream>

#include "fuzz.hpp"
#include "io/npy.hpp"
#include "ovir.hpp"
#include "reference_files.hpp"
#include "run_record.hpp"
#include "unit/temporary.hpp"

using namespace ovir;

namespace {

/// On a file system in memory, where there is one: a target runs many thousand times a second.
struct Folder {
  Temporary temporary{std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : ""};
  Folder() {
    io::write_npy(temporary.path("0.npy"), Tensor::vector({1, 2, 3}));
    io::write_npy(temporary.path("loop.0.npy"), Tensor::vector({4}));
  }
};

}  // namespace

void fuzz_one(std::string_view input) {
  static const auto model = [] {
    Diagnostics diagnostics;
    const auto read = load(OVIR_MODELS "/loop.xml", {}, diagnostics);
    promise(read && diagnostics.errors() == 0, "the model is sound");
    return read;
  }();
  static const Folder folder;
  std::ofstream(folder.temporary.path("manifest.json"), std::ios::binary) << input;
  accepted([&] {
    auto saved = app::read_reference(folder.temporary.path(""));
    promise(!saved.empty(), "a reference without tensors is refused");
    const auto reference = tools::match(*model, std::move(saved), {});
    for (const auto& [place, read] : reference.tensors()) {
      promise(place.node >= 0 && place.node < std::ssize(place.model->nodes), "a place is a layer's");
      accepted([&] { promise(static_cast<bool>(reference.at(place)), "a tensor that is read is one"); });
    }
  });
  accepted([&] {
    const auto recorded = app::read_record(folder.temporary.path(""));
    std::vector<app::Produced> outputs(1);
    outputs[0].key = "y";
    outputs[0].value = Tensor::vector({1, 2, 3});
    app::replay_text(app::compare(recorded, {{}, "1", "fast", "f32"}, outputs, {}));
  });
}
