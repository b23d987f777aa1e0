// .npz archives: every member is read or refused.
#include "io/npz.hpp"

#include "fuzz.hpp"

using namespace ovir;

void fuzz_one(std::string_view input) {
  accepted([&] {
    const io::Npz archive(heap_bytes(input), "input");
    for (const auto& key : archive.keys()) {
      promise(archive.contains(key), "a key that is listed is there");
      accepted([&] { promise(archive.read(key).size() >= 0, "a tensor has elements"); });
    }
  });
}
