// Help pages, laid out for the width of the terminal.
#pragma once
#include <string>

#include "command.hpp"

namespace ovir::app {

/// `ovir --help`: the commands by group.
std::string help_overview(const Style& style);
/// `ovir COMMAND --help`: usage, flags by group, examples, exit codes.
std::string help_page(const Command& command, const Flags& flags, const Style& style);

/// Words in lines of at most `width` columns; every line but the first begins with `indent` blanks, and the first is
/// taken to begin at column `indent`.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent = 0);

}  // namespace ovir::app
