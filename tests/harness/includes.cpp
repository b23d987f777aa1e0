// Holds the sources to the rules of lib/README.md: what may include what, who knows pugixml, oneDNN and Catch2, how
// long a file and a line are, that messages name ports that there are.
//   ovir_includes SOURCE_FOLDER
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "op/known_types.hpp"
#include "op/op_def.hpp"
#include "ops/registry.hpp"

namespace {

namespace fs = std::filesystem;
using Folders = std::set<std::string, std::less<>>;

constexpr std::size_t kMaxLines = 500;
constexpr std::ptrdiff_t kMaxColumns = 120;

std::ptrdiff_t code_points(std::string_view line) {
  return std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

/// Finds the lines that belong to a raw string: text as it stands, which may be as wide as it is.
class RawStrings {
 public:
  /// To be asked of every line in order.
  bool holds(std::string_view line) {
    const bool inside = !end_.empty();
    bool any = inside;
    for (std::size_t at = 0; at != line.npos;) {
      if (end_.empty()) {
        at = line.find("R\"", at);
        if (at != line.npos && at > 0 && (std::isalnum(line[at - 1]) || line[at - 1] == '"')) {
          ++at;  // the end of a string, or of a name
          continue;
        }
        const auto open = at == line.npos ? at : line.find('(', at);
        if (open == line.npos) break;
        end_ = ")" + std::string(line.substr(at + 2, open - at - 2)) + "\"";
        any = true;
        at = open;
      }
      at = line.find(end_, at);
      if (at != line.npos) end_.clear();
    }
    return any;
  }

 private:
  std::string end_;  // what ends the raw string that is open
};

/// Which folders of lib/ a folder may include, itself aside. Files directly in lib/ and those of app/ may include all.
const std::map<std::string, Folders, std::less<>>& allowed() {
  static const Folders graph{"base", "diag", "tensor", "graph"};
  static const Folders op{"base", "diag", "tensor", "graph", "op"};
  static const std::map<std::string, Folders, std::less<>> table{
      {"base", {}},
      {"diag", {"base"}},
      {"tensor", {"base", "diag"}},
      {"graph", {"base", "diag", "tensor"}},
      {"xml", graph},
      {"io", graph},
      {"op", graph},
      {"ops", op},
      {"fast", {"base", "diag", "tensor", "graph", "op", "model", "plan"}},
      {"model", op},
      {"passes", {"base", "diag", "tensor", "graph", "op", "model"}},
      {"plan", {"base", "diag", "tensor", "graph", "op", "model"}},
      {"exec", {"base", "diag", "tensor", "graph", "op", "model", "plan"}},
      {"tools", {"base", "diag", "tensor", "graph", "op", "model", "passes", "plan", "exec", "xml", "io", ""}},
  };
  return table;
}

class Judge {
 public:
  explicit Judge(fs::path root) : root_(std::move(root)) {}

  int run() {
    for (const auto* top : {"lib", "app", "tests", "samples"})
      if (fs::exists(root_ / top))
        for (const auto& entry : fs::recursive_directory_iterator(root_ / top))
          if (entry.is_regular_file()) file(entry.path());
    for (const auto& fault : faults_) fmt::print("{}\n", fault);
    fmt::print("{} files, {} faults\n", files_, faults_.size());
    return files_ && faults_.empty() ? 0 : 1;
  }

 private:
  void file(const fs::path& path) {
    static const Folders sources{".cpp", ".hpp", ".h", ".inl", ".py", ".sh", ".cmake", ".md"};
    if (!sources.contains(path.extension().string()) && path.filename() != "CMakeLists.txt") return;
    ++files_;
    const auto relative = fs::relative(path, root_);
    std::vector<std::string> parts;
    for (const auto& p : relative) parts.push_back(p.string());
    const bool markdown = path.extension() == ".md";
    const bool cpp = path.extension() == ".cpp" || path.extension() == ".hpp";
    // "" for files directly in lib/.
    const auto folder = parts[0] == "lib" ? (parts.size() > 2 ? parts[1] : "") : parts[0];
    std::ifstream in(path);
    std::size_t number = 0;
    RawStrings raw;
    bool fence = false;  // in a code block of Markdown: text as a program prints it
    for (std::string line; std::getline(in, line);) {
      const auto at = fmt::format("{}:{}", relative.string(), ++number);
      if (line.starts_with("```")) fence = !fence;
      const bool text =
          (cpp && raw.holds(line) && parts[0] == "tests") || (markdown && (fence || line.starts_with('|')));
      if (!text && code_points(line) > kMaxColumns)
        faults_.push_back(fmt::format("{}: {} columns, more than {}", at, code_points(line), kMaxColumns));
      if (!cpp) continue;
      include(line, at, parts, folder);
      if (parts[0] == "lib") library_line(line, at, folder);
    }
    if (number > kMaxLines && !markdown)
      faults_.push_back(fmt::format("{}: {} lines, more than {}", relative.string(), number, kMaxLines));
  }

  void include(const std::string& line, const std::string& at, const std::vector<std::string>& parts,
               const std::string& folder) {
    static const std::regex pattern(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
    std::smatch match;
    if (!std::regex_search(line, match, pattern)) return;
    const std::string target = match[2];
    if (target.starts_with("pugixml") && folder != "xml") faults_.push_back(at + ": only xml/ includes pugixml");
    const bool onednn = target.starts_with("oneapi/dnnl") || (match[1] == "<" && target.starts_with("dnnl"));
    if (onednn && !(folder == "fast" && parts.back() == "dnnl.hpp"))
      faults_.push_back(at + ": only fast/dnnl.hpp includes oneDNN");
    if (target.starts_with("catch2/") && parts.back() != "catch.hpp")
      faults_.push_back(at + ": only catch.hpp includes Catch2, whose versions differ");
    if (parts[0] != "lib" || match[1] == "<" || folder.empty()) return;
    const auto slash = target.find('/');
    const auto target_folder = slash == target.npos ? "" : target.substr(0, slash);
    if (folder == "ops") {
      const bool family = target == "common.hpp" || (parts.size() > 3 && target == "ops/" + parts[2] + "/common.hpp");
      if (family || target == "ops/registry.hpp") return;
      if (target_folder == "ops")
        faults_.push_back(
            fmt::format("{}: an operation includes {}; only its family's common.hpp is allowed", at, target));
    }
    if (folder == "op" && parts[2] != "kit" && target.starts_with("op/kit/"))
      faults_.push_back(fmt::format("{}: op/ may not include {}, which builds on it", at, target));
    const bool known = allowed().contains(target_folder) || target == "ovir.hpp";
    if (!known || target_folder == folder) return;  // a file beside it
    const auto rule = allowed().find(folder);
    if (rule == allowed().end() || !rule->second.contains(target_folder))
      faults_.push_back(fmt::format("{}: {}/ may not include {}", at, folder, target));
  }

  void library_line(const std::string& line, const std::string& at, const std::string& folder) {
    const auto code = line.substr(0, line.find("//"));
    static const std::regex output(R"(std::cout|std::cerr|\b(f|v)?printf\s*\(|\bputs\s*\(|fmt::print)"
                                   R"(|\bgetenv\s*\(|std::exit|\bexit\s*\(|\babort\s*\()");
    if (std::regex_search(code, output))
      faults_.push_back(at + ": the library neither prints, nor exits, nor reads the environment");
    if (folder == "ops") require_ports(code, at);
    // Parameter, Constant, If, Loop say what they are by a flag or hook in their OpDef.
    static const Folders neutral{"xml", "model", "passes", "plan", "exec"};
    if (!neutral.contains(folder)) return;
    static const std::regex literal(R"re("([A-Za-z0-9]+)")re");
    for (std::sregex_iterator match(code.begin(), code.end(), literal), end; match != end; ++match) {
      const auto word = (*match)[1].str();
      const bool type = ovir::known_type(word) != nullptr || registry_.find(word) != nullptr;  // in any letter case
      if (type && word.front() >= 'A' && word.front() <= 'Z')  // "result" is an English word as well
        faults_.push_back(fmt::format("{}: {}/ names the operation type {}", at, folder, word));
    }
  }

  /// A message that says `input "axes" of Roll` speaks of an input that Roll has.
  void require_ports(const std::string& code, const std::string& at) {
    static const std::regex named(R"re(input \\"(\w+)\\" of ([A-Z]\w*))re");
    for (std::sregex_iterator match(code.begin(), code.end(), named), end; match != end; ++match) {
      const auto* const op = registry_.find((*match)[2].str());
      const auto has = [&](const ovir::Version& v) {
        return std::any_of(v.inputs.begin(), v.inputs.end(),
                           [&](const ovir::PortDef& port) { return port.name == (*match)[1].str(); });
      };
      if (op && std::none_of(op->versions.begin(), op->versions.end(), has))
        faults_.push_back(fmt::format("{}: {} has no input \"{}\"", at, op->type, (*match)[1].str()));
    }
  }

  fs::path root_;
  ovir::Registry registry_{ovir::ops::all()};  ///< knows the aliases ("Const") too
  std::vector<std::string> faults_;
  std::size_t files_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print("usage: ovir_includes SOURCE_FOLDER\n");
    return 2;
  }
  return Judge(argv[1]).run();
}
