// bisect: the first layer whose own error is more than rounding.
#include "command.hpp"
#include "progress.hpp"
#include "render/comparison.hpp"
#include "subject.hpp"

namespace ovir::app::commands::bisect {
namespace {

struct Options : SubjectOptions {
  std::string format;
};

int run(const Options& options, const Common& common) {
  auto subject = prepare(options, common);
  const auto result = with_progress(common, "bisect", [&] {
    return tools::bisect(*subject.session, subject.inputs, subject.reference, subject.allowance);
  });
  if (result.judged == 0)
    fail(Code::E0705, "nothing to compare: no tensor of {} was computed in the run", printable(subject.held_against));
  print(options.format == "json" ? json_text(bisection_json(result), 1) : bisection_text(result, subject.reference));
  return result.found ? kDiffers : kOk;
}

Action declare(Flags& flags) {
  const auto options = std::make_shared<Options>();
  auto& o = *options;
  flags.model(o);
  add_subject(flags, o);
  constexpr auto judging = "Tolerance";
  flags.list("--rtol", o.rtol, "[LAYER:]V", "also allow this relative error, beyond rounding").group(judging);
  flags.list("--atol", o.atol, "[LAYER:]V", "also allow this absolute error, beyond rounding").group(judging);
  flags.format(o.format, "human json");
  return [options](const Common& common) { return run(*options, common); };
}

}  // namespace

extern constinit const Command command{"bisect",
                                       CommandGroup::run,
                                       "find the first layer that is wrong by itself",
                                       "ovir run sound.xml -i x=@x.npy --dump '*' --dump-to ref/\n"
                                       "ovir bisect model.xml -i x=@x.npy --ref ref/\n"
                                       "ovir bisect model.xml -i x=@x.npy --ref sound.xml --format json",
                                       {1, 2, 3, 4, 5, 7},
                                       declare};

}  // namespace ovir::app::commands::bisect
