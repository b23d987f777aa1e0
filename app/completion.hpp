// What may stand at the cursor of a command line: commands, flags, their values, and names of the model on that line.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ovir::app {

/// The words of a command line up to the cursor, as Bash would split them; the last is the one at the cursor. `quote`
/// is the quotation mark that is still open there, or 0.
struct ShellWords {
  std::vector<std::string> words;
  char quote = 0;
};
ShellWords shell_words(std::string_view line);

/// The words that may replace the last of `words`, which follow the program's name. Empty where files are meant. The
/// model is read without its weights; one that cannot be read has no names.
std::vector<std::string> candidates(const std::vector<std::string>& words);

/// The hidden command that the scripts of `ovir completion` call: `__complete bash LINE WORDBREAKS`, or `__complete
/// zsh|fish WORD...`. Prints a candidate a line.
int complete(const std::vector<std::string>& arguments);

}  // namespace ovir::app
