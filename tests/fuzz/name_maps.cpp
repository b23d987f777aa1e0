// The file of `--map`, and names of saved tensors held against a model with a body.
#include "fuzz.hpp"
#include "ovir.hpp"
#include "tools/reference.hpp"

using namespace ovir;

void fuzz_one(std::string_view input) {
  static const auto model = [] {
    Diagnostics diagnostics;
    const auto read = load(OVIR_MODELS "/loop.xml", {}, diagnostics);
    promise(read && diagnostics.errors() == 0, "the model is sound");
    return read;
  }();
  accepted([&] {
    const auto names = tools::parse_name_map(input, "names");
    std::vector<tools::Saved> saved;
    for (const auto& [name, meant] : names)
      for (const auto& key : {name, meant}) {
        auto aliases = tools::aliases_of(key);
        promise(!aliases.empty() && aliases[0].name == key, "a key stands for itself first");
        saved.push_back({key, std::move(aliases), {}, [] { return Tensor::scalar(1); }});
      }
    const auto count = saved.size();
    const auto reference = tools::match(*model, std::move(saved), names);
    promise(reference.unmatched.size() <= count, "what was not matched was there");
    for (const auto& [place, read] : reference.tensors()) {
      promise(place.model && place.node >= 0 && place.node < std::ssize(place.model->nodes), "a place is a layer's");
      promise(place.port >= 0 && place.port < std::max(1, place.at().output_count), "and one of its outputs");
    }
  });
}
