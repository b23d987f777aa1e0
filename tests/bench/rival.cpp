// OpenVINO in a process of its own; compare.py builds it against the headers and libraries of OpenVINO's wheel.
//
//   rival MODEL.xml THREADS PRECISION RESULTS/ < COMMANDS
//
// The first lines of COMMANDS are the steps of a round: "step", then a line "name type dims file offset" for each input
// whose elements lie in a file, and "go". It then runs the round once and writes output i of the last step to
// RESULTS/i.raw, and "type dims" to RESULTS/i.txt; the answer is a line: the seconds that it took from the model's file
// on. Every further line is a number of seconds; the answer is a line: the processor time of a step, its tokens a
// second where the model has states, then the time of every step.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

#include <openvino/openvino.hpp>

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

struct Input {
  ov::Output<const ov::Node> port;
  ov::Tensor value;
};
using Steps = std::vector<std::vector<Input>>;

ov::Output<const ov::Node> port_of(const ov::CompiledModel& model, const std::string& name) {
  for (const auto& port : model.inputs())
    if (port.get_node()->get_friendly_name() == name || port.get_names().count(name)) return port;
  throw std::runtime_error("no input " + name);
}

ov::Shape shape_of(const std::string& dims) {
  ov::Shape shape;
  std::istringstream text(dims);
  for (std::string dim; std::getline(text, dim, ',');) shape.push_back(std::stoul(dim));
  return shape;
}

Steps read_steps(const ov::CompiledModel& model) {
  Steps steps;
  for (std::string line; std::getline(std::cin, line) && line != "go";) {
    if (line == "step") {
      steps.emplace_back();
      continue;
    }
    std::istringstream words(line);
    std::string name, type, dims, path;
    std::streamoff offset = 0;
    std::getline(words, name, '\t') && std::getline(words, type, '\t') && std::getline(words, dims, '\t') &&
        std::getline(words, path, '\t') && words >> offset;
    ov::Tensor value(ov::element::Type(type), shape_of(dims));
    std::ifstream file(path, std::ios::binary);
    file.seekg(offset);
    file.read(static_cast<char*>(value.data()), static_cast<std::streamsize>(value.get_byte_size()));
    if (!file) throw std::runtime_error("cannot read " + path);
    steps.back().push_back({port_of(model, name), value});
  }
  return steps;
}

/// Runs the steps, with states as they were at first; gives their tokens, and adds the time of each to `times`.
std::size_t round(ov::InferRequest& request, const Steps& steps, bool stateful, std::vector<double>& times) {
  std::size_t tokens = 0;
  if (stateful) request.reset_state();
  for (const auto& step : steps) {
    // Tokens that are given as embeddings; of inputs as tokens have them: a mask has those before, too.
    std::optional<std::size_t> embedded, fewest;
    const auto start = Clock::now();
    for (const auto& input : step) {
      request.set_tensor(input.port, input.value);
      const auto shape = input.value.get_shape();
      if (shape.size() == 3 && input.port.get_names().count("inputs_embeds")) embedded = shape[0] * shape[1];
      if (!input.value.get_element_type().is_integral() || shape.size() != 2) continue;
      fewest = std::min(fewest.value_or(input.value.get_size()), input.value.get_size());
    }
    if (stateful) tokens += embedded.value_or(fewest.value_or(0));
    request.infer();
    times.push_back(seconds_since(start));
  }
  return tokens;
}

void write_outputs(ov::InferRequest& request, std::size_t count, const std::string& folder) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = request.get_output_tensor(i);
    const auto path = folder + "/" + std::to_string(i);
    std::ofstream(path + ".raw", std::ios::binary)
        .write(static_cast<const char*>(value.data()), static_cast<std::streamsize>(value.get_byte_size()));
    std::ofstream text(path + ".txt");
    text << value.get_element_type().to_string();
    for (const auto dim : value.get_shape()) text << ' ' << dim;
  }
}

int run(const std::vector<std::string>& arguments) {
  ov::AnyMap options{{"INFERENCE_NUM_THREADS", std::stoi(arguments.at(2))}, {"NUM_STREAMS", 1}};
  if (const auto& precision = arguments.at(3); !precision.empty()) options["INFERENCE_PRECISION_HINT"] = precision;
  const auto begin = Clock::now();
  ov::Core core;
  auto model = core.compile_model(core.read_model(arguments.at(1)), "CPU", options);
  auto request = model.create_infer_request();
  auto ready = seconds_since(begin);
  const auto steps = read_steps(model);
  const bool stateful = !request.query_state().empty();
  std::vector<double> times;
  round(request, steps, stateful, times);
  for (const auto t : times) ready += t;
  std::cout << ready << std::endl;
  write_outputs(request, model.outputs().size(), arguments.at(4));
  for (double seconds = 0; std::cin >> seconds;) {
    times.clear();
    std::size_t tokens = 0;
    const auto processor = processor_seconds();
    const auto start = Clock::now();
    do tokens += round(request, steps, stateful, times);
    while (seconds_since(start) < seconds);
    double total = 0;
    for (const auto t : times) total += t;
    std::cout << (processor_seconds() - processor) / static_cast<double>(times.size()) << ' '
              << static_cast<double>(tokens) / total;
    for (const auto t : times) std::cout << ' ' << t;
    std::cout << std::endl;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) try {
  return run({arguments, arguments + count});
} catch (const std::exception& error) {
  std::cerr << "rival: " << error.what() << '\n';
  return 1;
}
