// States that grow in place: the same results and states as by copying, whatever happens between and in runs.
#include <thread>

#include "exec/profiler.hpp"
#include "growing.hpp"

using namespace ovir;
using namespace ovir::growing;

namespace {

struct Watcher final : Observer {
  bool stop = false;
  std::vector<double> keys;
  Verdict after(Event& event) override {
    if (event.node.layer->name == "keys/all") keys = to_f64(event.outputs[0]);
    return stop && event.node.layer->name == "z" ? Verdict::stop : Verdict::go_on;
  }
};

/// Reads every value and, when told so, ends the run behind a layer.
struct Meddler final : Profiler {
  Runtime* runtime = nullptr;
  std::string behind;
  std::size_t sum = 0;
  void after(const StepTime& t) override {
    for (const auto id : t.step.outputs)
      for (std::size_t i = 0; i < t.values[id].byte_size(); ++i)
        sum += std::to_integer<std::size_t>(t.values[id].bytes()[i]);
    if (t.plan.node(t.step).layer->name == behind) runtime->stop();
  }
};

}  // namespace

TEST_CASE("states that grow in place: token by token, far beyond the first room") {
  Pair p;
  p.compare_states();
  p.run(inputs({0}, 5, 1));
  for (int i = 0; i < 120; ++i) p.run(inputs({0}, 1 + i % 3, 10 + i));
  p.compare_states();
  CHECK(p.sessions[0].state("keys").shape() == Shape{1, kHeads, 5 + 240, kDepth});
  Pair once(1);
  for (int i = 0; i < 4; ++i) once.run(inputs({0}, 2, i));
  once.compare_states();
}

TEST_CASE("states that grow in place: other lengths again and again, as they were before") {
  Pair p;
  for (int round = 0; round < 4; ++round) {  // shapes that come again are planned beforehand
    for (auto& s : p.sessions) s.reset_states();
    p.compare_states();
    for (int i = 0; i < 6; ++i) p.run(inputs({0}, i == 0 ? 7 : 1, i + 100 * round));
    p.compare_states();
  }
}

TEST_CASE("states that grow in place: read and set between runs") {
  Pair p;
  for (int i = 0; i < 3; ++i) p.run(inputs({0}, 2, i));
  auto kept = p.sessions[0].state("keys");
  const auto before = to_f64(kept);
  p.run(inputs({0}, 1, 7));
  CHECK(to_f64(kept) == before);  // a copy
  std::fill_n(kept.mutable_data<float>(), kept.size(), 99.0F);
  p.compare_states();
  for (auto& s : p.sessions) {
    s.set_state("keys", some(1, 4, 3));
    s.set_state("values", some(1, 4, 4));
  }
  p.compare_states();
  for (int i = 0; i < 3; ++i) p.run(inputs({0}, 1, 20 + i));
  p.compare_states();
  for (auto& s : p.sessions) s.set_state("keys", some(1, 7, 5));  // one of two
  p.run(inputs({0}, 1, 30));
  p.compare_states();
}

TEST_CASE("states that grow in place: sequences in another order") {
  Pair p;
  for (auto& s : p.sessions)
    for (const auto* name : {"keys", "values"}) s.set_state(name, some(2, 3, 9));
  p.run(inputs({0, 1}, 1, 1));
  p.run(inputs({0, 1}, 1, 2));
  p.run(inputs({1, 0}, 1, 3));
  p.run(inputs({0, 1}, 1, 4));
  p.run(inputs({1, 1}, 2, 5));
  p.compare_states();
  p.run(inputs({0}, 1, 6));        // one of them ends
  p.run(inputs({0, 0, 0}, 1, 7));  // and becomes three
  p.run(inputs({0, 1, 2}, 1, 8));
  p.run(inputs({2, 3, 0}, 1, 9));  // no such sequence: zeros
  p.compare_states();
}

TEST_CASE("states that grow in place: a run that fails or is stopped leaves them as they were") {
  Pair p;
  for (int i = 0; i < 3; ++i) p.run(inputs({0}, 2, i));
  for (int round = 0; round < 3; ++round) {
    const auto keys = to_f64(p.sessions[0].state("keys"));
    for (auto& s : p.sessions) {
      CHECK_THROWS_AS(s.run(inputs({0}, 1, 50 + round, 9)), Failure);  // behind the attention
      CHECK_THROWS_AS(s.run(inputs({0}, 40, 50, 99)), Failure);        // which needed more room
      Watcher watcher;
      watcher.stop = true;
      s.run(inputs({0}, 1, 60), &watcher);
      CHECK(s.stopped());
    }
    CHECK(to_f64(p.sessions[0].state("keys")) == keys);
    p.compare_states();
    p.run(inputs({0}, 1, 70 + round));
    p.compare_states();
  }
  // What cannot be joined is refused as ever: two sequences behind one.
  auto wrong = inputs({0}, 1, 1);
  wrong[1] = some(2, 1, 1);
  for (auto& s : p.sessions) CHECK_THROWS_AS(s.run(wrong), Failure);
  p.run(inputs({0}, 1, 80));
  p.compare_states();
}

TEST_CASE("states that grow in place: an observer sees them as their shapes say") {
  Pair p;
  for (int i = 0; i < 5; ++i) {
    p.run(inputs({0}, 2, i));
    Watcher a, b;
    p.sessions[0].run(inputs({0}, 1, 30 + i), &a);
    p.sessions[1].run(inputs({0}, 1, 30 + i), &b);
    CHECK(a.keys == b.keys);
    CHECK(a.keys == to_f64(p.sessions[0].state("keys")));
    p.compare_states();
  }
}

TEST_CASE("states that grow in place: no rows at all") {
  Pair p;
  p.run(inputs({0}, 0, 1));
  p.run(inputs({0}, 0, 2));
  p.run(inputs({0}, 3, 3));
  p.run(inputs({0}, 0, 4));
  p.compare_states();
  for (int i = 0; i < 5; ++i) p.run(inputs({0}, 1, i));
  p.run(inputs({}, 1, 5));  // nor sequences
  p.compare_states();
  p.run(inputs({}, 2, 6));
  p.compare_states();
}

TEST_CASE("states that grow in place: given from session to session, which go on by themselves") {
  Pair p, other;
  for (int i = 0; i < 3; ++i) p.run(inputs({0}, 2, i));
  for (const auto* name : {"keys", "values"}) other.set(name, p.sessions[0].state(name));
  for (int i = 0; i < 40; ++i) {
    p.run(inputs({0}, 1, i));
    other.run(inputs({0}, 2, 50 + i));
  }
  p.compare_states();
  other.compare_states();
  CHECK(p.sessions[0].state("keys").dim(2) == 46);
  CHECK(other.sessions[0].state("keys").dim(2) == 86);
  auto moved = std::move(p.sessions[0]);
  p.sessions[0] = std::move(moved);
  p.run(inputs({0}, 1, 3));
  p.compare_states();
}

TEST_CASE("states that grow in place: one plan in several threads") {
  const Pair p;
  const auto runtime = std::make_shared<Runtime>();
  const auto values_of = [&](const std::shared_ptr<const Plan>& plan, int seed) {
    Session session(runtime, plan);
    std::vector<std::vector<double>> values;
    for (int i = 0; i < 60; ++i) values.push_back(to_f64(session.run(inputs({0}, 1 + i % 2, seed + i))[1]));
    values.push_back(to_f64(session.state("keys")));
    return values;
  };
  std::vector<std::vector<std::vector<double>>> found(4);
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back([&, t] { found[t] = values_of(p.plans[0], 100 * t); });
  }
  for (int t = 0; t < 4; ++t) CHECK(found[t] == values_of(p.plans[1], 100 * t));
}

TEST_CASE("states that grow in place: memory that is short") {
  Options options{.expected_runs = 100};
  options.runtime.memory = 1 << 18;
  Pair p(decoder(), 8, options);
  for (int i = 0; i < 3; ++i) p.run(inputs({0}, 4, i));
  int refused = 0;
  for (int i = 0; i < 40; ++i) {
    auto& session = p.sessions[0];
    const auto before = session.state("keys");
    try {
      session.run(inputs({0}, 200, i));
    } catch (const Failure& failure) {
      CHECK(failure.diagnostic.code == Code::E0003);
      CHECK(to_f64(session.state("keys")) == to_f64(before));
      ++refused;
    }
  }
  CHECK(refused > 0);
  p.set("keys", some(1, 3, 1));
  p.set("values", some(1, 3, 2));
  p.run(inputs({0}, 2, 3));
  p.compare_states();
}

TEST_CASE("states that grow in place: stopped behind any layer") {
  Pair p;
  const auto runtime = std::make_shared<Runtime>();
  Session session(runtime, p.plans[0]);
  Meddler meddler;
  meddler.runtime = runtime.get();
  session.set_profiler(&meddler);
  std::swap(p.sessions[0], session);
  for (int i = 0; i < 3; ++i) p.run(inputs({0}, 2, i));
  for (const auto* behind : {"keys/held", "keys/past", "keys/all", "keys/keep", "values/all", "values/keep", "y"}) {
    for (const i64 rows : {1, 50}) {
      meddler.behind = behind;
      CHECK_THROWS_AS(p.sessions[0].run(inputs({0}, rows, 7)), Failure);
      meddler.behind.clear();
      runtime->resume();
      p.compare_states();
      p.run(inputs({0}, 1, 8));
      p.compare_states();
    }
  }
}
