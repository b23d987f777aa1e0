// Mutations of a seed: of bytes, of numbers and words in a text, and of the elements of an XML file.
#pragma once
#include <random>
#include <string>
#include <utility>
#include <vector>

class Mutator {
 public:
  /// `words` are put in here and there. Both lists must outlive the mutator; `seeds` must not be empty.
  Mutator(unsigned seed, const std::vector<std::string>& seeds, const std::vector<std::string>& words)
      : random_(seed), seeds_(seeds), words_(words) {}

  std::string operator()();

 private:
  void mutate_bytes(std::string& text);
  void mutate_xml(std::string& text);
  void overwrite_number(std::string& text);
  void change_decimal(std::string& text);
  std::pair<std::size_t, std::size_t> element(const std::string& text);
  void change_value(std::string& text);

  std::size_t below(std::size_t n) { return n == 0 ? 0 : random_() % n; }
  const std::string& pick(const std::vector<std::string>& list) { return list[below(list.size())]; }

  std::mt19937 random_;
  const std::vector<std::string>&seeds_, &words_;
};
