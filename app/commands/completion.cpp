// completion: the scripts that make shells complete commands, flags and names of the model.
#include "command.hpp"

namespace ovir::app::commands::completion {
namespace {

constexpr std::string_view kBash = R"sh(# Bash completion of ovir: eval "$(ovir completion bash)"
_ovir() {
  COMPREPLY=()
  mapfile -t COMPREPLY < <(ovir __complete bash "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
  if [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *[=:[] ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -o bashdefault -F _ovir ovir
)sh";

constexpr std::string_view kZsh = R"sh(#compdef ovir
# Zsh completion of ovir: source <(ovir completion zsh)
_ovir() {
  local -a found
  found=("${(@f)$(ovir __complete zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n $found[1] ]]; then
    local -a open done
    open=(${(M)found:#*[=:\[]}) done=(${found:#*[=:\[]})
    compadd -S '' -a open
    compadd -a done
  else
    _files
  fi
}
if [[ $funcstack[1] == _ovir ]]; then _ovir "$@"; else compdef _ovir ovir; fi
)sh";

constexpr std::string_view kFish = R"sh(# Fish completion of ovir: ovir completion fish | source
function __ovir
  set -l words (commandline -opc) (commandline -ct | string unescape)
  ovir __complete fish $words[2..-1] 2>/dev/null
end
function __ovir_any
  test (count (__ovir)) -gt 0
end
complete -c ovir -f -n __ovir_any -a '(__ovir)'
)sh";

int completion(const std::string& shell) {
  print(shell == "zsh" ? kZsh : shell == "fish" ? kFish : kBash);
  return kOk;
}

Action declare(Flags& flags) {
  const auto shell = std::make_shared<std::string>();
  flags.argument("SHELL", *shell, {"bash", "zsh", "fish"}, "the shell").required();
  return [shell](const Common&) { return completion(*shell); };
}

}  // namespace

extern constinit const Command command{"completion",
                                       CommandGroup::reference,
                                       "print a script that completes commands, options and layer names",
                                       "eval \"$(ovir completion bash)\"\n"
                                       "source <(ovir completion zsh)\n"
                                       "ovir completion fish | source",
                                       {2, 7},
                                       declare};

}  // namespace ovir::app::commands::completion
