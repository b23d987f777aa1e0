// The command line: a CLI11 tree that fills the options of one command and runs it; every way out has its exit code.
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <functional>
#include <new>

#include "base/text.hpp"
#include "commands/commands.hpp"
#include "limits.hpp"
#include "log.hpp"
#include "render/diagnostics.hpp"
#include "render/help.hpp"

namespace ovir::app {
namespace {

using Action = std::function<int(const Common&)>;

/// One tree a process: it fills `common` and names what is to be done.
struct Tree {
  CLI::App root{"Checks, runs and looks into OpenVINO models (.xml + .bin).", "ovir"};
  Common common;
  Action action;

  Tree() {
    root.formatter(std::make_shared<HelpPage>());
    root.set_help_flag("-h,--help", "this page");
    root.set_version_flag("--version", "ovir " + std::string(version()), "ovir's version");
    root.require_subcommand(1);
  }

  /// A subcommand whose options live as long as the tree.
  template <class Options, class Function>
  std::pair<CLI::App*, Options*> command(const std::string& name, const std::string& about, Function function) {
    auto options = std::make_shared<Options>();
    CLI::App* const sub = root.add_subcommand(name, about);
    sub->callback(
        [this, options, function] { action = [options, function](const Common& c) { return function(*options, c); }; });
    sub->set_help_flag("-h,--help", "this page")->group("Common");
    add_common(*sub);
    return {sub, options.get()};
  }

  void add_common(CLI::App& sub) {
    const auto option = [&](const std::string& flag, std::string& to, const std::string& type, const std::string& about,
                            const std::string& variable) {
      return sub.add_option(flag, to, about)->type_name(type)->envname(variable)->group("Common");
    };
    sub.add_flag("-v", common.verbose, "log progress to stderr; -vv: more")->group("Common");
    sub.add_flag("-q,--quiet", common.quiet, "no warnings, no notes, no closing line")->group("Common");
    option("--log-level", common.log_level, "WORD", "trace, debug, info, warning, error or off", "OVIR_LOG_LEVEL");
    option("--log-file", common.log_file, "FILE", "where the log goes instead of stderr", "OVIR_LOG_FILE");
    option("--color", common.colour, "WHEN", "auto, always or never; auto honours NO_COLOR", "OVIR_COLOR")
        ->check(CLI::IsMember({"auto", "always", "never"}));
    option("--limits", common.limits, "LIST", "mem=8G,time=60s: stop (exit 7) where more is needed", "OVIR_LIMITS");
  }
};

CLI::Option* repeated(CLI::App* sub, const std::string& name, std::vector<std::string>& to, const std::string& type,
                      const std::string& about) {
  return sub->add_option(name, to, about)->type_name(type)->allow_extra_args(false)->take_all();
}
CLI::Option* text(CLI::App* sub, const std::string& name, std::string& to, const std::string& type,
                  const std::string& about) {
  return sub->add_option(name, to, about)->type_name(type);
}

void add_model(CLI::App* sub, ModelOptions* o, bool with_shapes = true) {
  sub->add_option("MODEL", o->model, "the model's .xml file")->required();
  text(sub, "-w,--weights", o->weights, "FILE", "the .bin, where it is not beside the .xml");
  if (with_shapes)
    repeated(sub, "-s,--shape", o->shapes, "SHAPES", "other input shapes: 'image[1,3,?,224..640],ids[?]'");
}

void add_format(CLI::App* sub, std::string& format, const std::vector<std::string>& words) {
  std::string list;
  for (const auto& word : words) list += (list.empty() ? "" : ", ") + word;
  text(sub, "--format", format, "FORMAT", list)->check(CLI::IsMember(words));
}

void add_check(Tree& tree) {
  auto [sub, o] = tree.command<CheckOptions>("check", "judge a model without running it", check);
  add_model(sub, o);
  add_format(sub, o->format, {"human", "short", "json", "sarif", "github"});
  sub->add_flag("--no-weights", o->no_weights, "leave the .bin alone");
  sub->add_flag("--strict", o->strict,
                "declared shapes and types that contradict the inferred ones (W0901) are errors");
  repeated(sub, "-D,--deny", o->deny, "CODE", "make an error of this warning");
  repeated(sub, "-A,--allow", o->allow, "CODE", "leave out this warning");
  auto* const ops = sub->add_flag("--ops", o->ops, "only list the operations that cannot be run, with layer counts");
  sub->add_flag("--reshapeable", o->reshapeable,
                "only list which axes of which inputs may have other lengths, and what forbids the rest")
      ->excludes(ops);
  sub->add_option("--max-errors", o->max_errors, "show no more errors than this; 0, the default: all")->type_name("N");
}

void add_edit(Tree& tree) {
  auto [sub, o] = tree.command<EditOptions>("edit", "change a model, and no line of it that need not change", edit);
  add_model(sub, o);
  sub->add_flag("--fix", o->fix, "make the changes that `check` offers as help");
  repeated(sub, "--set-const", o->constants, "NAME=VALUES",
           "the value of a Constant, as many elements as it has: shape_3=-1,4,64");
  text(sub, "-o,--output", o->output, "FILE", "the changed .xml; its .bin is written beside it")->required();
}

void add_shapes(Tree& tree) {
  auto [sub, o] = tree.command<ShapesOptions>("shapes", "element type and shape of every output, as inferred", shapes);
  add_model(sub, o);
  add_format(sub, o->format, {"human", "json"});
  text(sub, "--why", o->why, "LAYER[:port[:axis]]",
       "instead: where each length of this output comes from, or every step of one axis");
  sub->add_flag("--only-dynamic", o->only_dynamic, "only layers with an output whose shape is not fixed");
}

void add_run(Tree& tree) {
  auto [sub, o] = tree.command<RunOptions>("run", "execute a model", run);
  add_model(sub, o);
  repeated(sub, "-i,--input", o->inputs, "NAME=VALUE",
           "an input; NAME is a tensor name, a layer name or an index, and may be left out where there is one input; "
           "VALUE is @f.npy, @f.npz:key, @all.npz, @dir/, @cat.png, @t.pb, '2x3xf32=1 2 3 4 5 6', 2x3xf32=@raw.bin, "
           "zeros, ones, const:V, arange, rand:lo,hi, randn:mean,std or - (npy on stdin)");
  text(sub, "-o,--output", o->output, "PATH",
       "dir/, out.npz, out.npy, out.json or - (npy on stdout); without it the outputs are printed");
  text(sub, "--dump", o->dump, "SELECTOR", "also keep the outputs of these layers");
  text(sub, "--dump-to", o->dump_to, "PATH", "where to: dir/ or all.npz");
  sub->add_option("--steps", o->steps, "run N times, keeping states; {step} in a path is the step's number, from 0")
      ->type_name("N");
  text(sub, "--save-state", o->save_state, "FILE", "write the states to this .npz at the end");
  text(sub, "--load-state", o->load_state, "FILE", "begin with the states of this .npz");
  sub->add_option("--top", o->top, "print the K largest values of each output")->type_name("K");
  text(sub, "--labels", o->labels, "FILE", "a label a line, for --top");
  text(sub, "--tier", o->tier, "TIER", "fast or reference")
      ->check(CLI::IsMember({"fast", "reference"}))
      ->envname("OVIR_TIER");
  text(sub, "--precision", o->precision, "PRECISION",
       "f32: floats narrower than f32 are computed in f32; declared: every value is rounded to its declared type")
      ->check(CLI::IsMember({"f32", "declared"}));
  sub->add_option("--threads", o->threads, "use no more than N processors; the results are the same with any number")
      ->type_name("N")
      ->envname("OVIR_THREADS");
  sub->add_flag("--random", o->random, "make up inputs that are not given");
  sub->add_option("--seed", o->seed, "for --random, rand and randn")->type_name("N")->envname("OVIR_SEED");
  sub->add_flag("--cast", o->cast, "convert inputs of another element type");
  sub->add_flag("--raw", o->raw, "keep the bits of types that NumPy lacks instead of widening them");
  sub->add_flag("--digest", o->digest, "a crc32 of each tensor in the manifest");
  add_format(sub, o->format, {"human", "json"});
  repeated(sub, "--layout", o->layouts, "LAYOUT", "axes of an image input: 'image[NHWC]'")->group("Images");
  repeated(sub, "--mean_values", o->means, "VALUES", "subtracted by channel: 'image[123.7,116.3,103.5]'")
      ->group("Images");
  repeated(sub, "--scale_values", o->scales, "VALUES", "then divided by: 'image[58.4,57.1,57.4]'")->group("Images");
  sub->add_flag("--reverse_channels", o->reverse_channels, "BGR instead of RGB")->group("Images");
  text(sub, "--resize", o->resize, "WxH", "resize images")->group("Images");
}

void add_info(Tree& tree) {
  auto [sub, o] = tree.command<InfoOptions>("info", "inputs, outputs, operations and origin of a model", info);
  add_model(sub, o, false);
  add_format(sub, o->format, {"human", "json"});
}

void add_show(Tree& tree) {
  auto [sub, o] = tree.command<ShowOptions>("show", "the model's layers, one line each", show);
  add_model(sub, o);
  text(sub, "--select", o->select, "SELECTOR", "only these layers");
  add_format(sub, o->format, {"text", "json", "dot", "mermaid", "html"});
}

void add_ops(Tree& tree) {
  auto [sub, o] = tree.command<OpsOptions>(
      "ops", "list the supported operations; with a NAME, its versions, ports and attributes", ops);
  sub->add_option("NAME", o->name, "an operation type, or a pattern: 'Conv*'");
  add_format(sub, o->format, {"human", "json"});
}

void add_explain(Tree& tree) {
  auto [sub, o] =
      tree.command<ExplainOptions>("explain", "what a diagnostic code means; without one, the list of codes", explain);
  sub->add_option("CODE", o->code, "such as E0512");
  add_format(sub, o->format, {"human", "json"});
}

void build(Tree& tree) {
  add_info(tree);
  add_show(tree);
  add_check(tree);
  add_edit(tree);
  add_shapes(tree);
  add_run(tree);
  add_ops(tree);
  add_explain(tree);
}

void say(const std::string& text) { std::fwrite(text.data(), 1, text.size(), stderr); }

/// -h and --version, or a mistake in the flags.
int leave(const CLI::ParseError& error, Tree& tree) {
  const bool asked = error.get_exit_code() == 0;
  if (asked && dynamic_cast<const CLI::CallForVersion*>(&error)) {
    print(std::string(error.what()) + "\n");
    return kOk;
  }
  const auto subs = tree.root.get_subcommands();
  if (asked) {
    print((subs.empty() ? tree.root : *subs.front()).help());
    return kOk;
  }
  const std::string name = subs.empty() ? "ovir" : "ovir " + subs.front()->get_name();
  say(fmt::format("{} {}\nTry: {} --help\n", tree.common.err(Paint::error, "error:"), printable(error.what()), name));
  return kUsage;
}

/// A first word that is no command, or no word at all.
std::optional<int> refuse(int argc, char** argv, const Tree& tree) {
  if (argc < 2) {
    say(tree.root.help());
    return kUsage;
  }
  const std::string word = argv[1];
  std::vector<std::string> names;
  for (const auto* command : tree.root.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (word.starts_with('-') || std::find(names.begin(), names.end(), word) != names.end()) return std::nullopt;
  const auto near = nearest(word, {names.begin(), names.end()});
  throw UsageError(fmt::format("there is no command '{}'{}; see ovir --help", printable(word),
                               near ? fmt::format("; did you mean {}?", *near) : ""));
}

int dispatch(int argc, char** argv, Common& common) {
  Tree tree;
  build(tree);
  if (const auto status = refuse(argc, argv, tree)) return *status;
  try {
    tree.root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return leave(error, tree);
  }
  common = tree.common;
  common.out = style_of(STDOUT_FILENO, common.colour);
  common.err = style_of(STDERR_FILENO, common.colour);
  start_log(common.log_level, common.verbose, common.log_file);
  apply_limits(common.limits);
  return tree.action(common);
}

int guarded(int argc, char** argv) {
  Common common;
  common.err = style_of(STDERR_FILENO, "auto");
  const auto line = [&](std::string_view text) {
    say(fmt::format("{} {}\n", common.err(Paint::error, "error:"), text));
  };
  try {
    return dispatch(argc, argv, common);
  } catch (const UsageError& error) {
    line(error.what());
    return kUsage;
  } catch (const Failure& failure) {
    Places places("");
    say(human(failure.diagnostic, places, common.err));
    return ovir::info(failure.diagnostic.code).exit_status;
  } catch (const std::bad_alloc&) {
    say(fmt::format("{} out of memory\n", common.err(Paint::error, "error[E0003]:")));
    return ovir::info(Code::E0003).exit_status;
  } catch (const std::exception& error) {
    line(fmt::format("internal: {}. This is a fault in ovir; please report it.", error.what()));
  } catch (...) {
    line("internal: unknown. This is a fault in ovir; please report it.");
  }
  return kInternal;
}

}  // namespace
}  // namespace ovir::app

int main(int argc, char** argv) {
  // What is being written then stays a temporary file: outputs appear whole or not at all.
  std::signal(SIGINT, [](int) { ::_exit(ovir::app::kInterrupted); });
  return ovir::app::guarded(argc, argv);
}
