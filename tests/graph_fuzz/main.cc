// Tests random graphs against the reference: graph_fuzz --help.
#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/status.h"
#include "check.h"
#include "coverage.h"
#include "fuzz_case.h"
#include "graph/text.h"
#include "integer_cases.h"
#include "isolation/isolation.h"
#include "random_case.h"
#include "shrink.h"
#include "write_cases.h"

namespace attune::graph_fuzz {
namespace {

namespace fs = std::filesystem;

struct Options {
  uint64_t seed = 0;  // 0: the first seed that the coverage does not have
  int64_t graphs = INT64_MAX;
  double seconds = 0;  // 0: no limit
  int jobs = static_cast<int>(std::thread::hardware_concurrency());
  std::string cpu, failures, replay, write, coverage, integers;
  bool print = false, thorough = false, report = false;
  int most_failures = 20;
};

constexpr int kSecondsEach = 60;
constexpr int kShrinkTries = 250;

std::string Encode(const Verdict& verdict) {
  return absl::StrCat(static_cast<int>(verdict.failure), "\n", absl::StrJoin(verdict.strategies, " "), "\n",
                      absl::StrJoin(verdict.instructions, " "), "\n", verdict.message);
}

Verdict Decode(const IsolatedResult& result) {
  if (!result.crash.empty()) return {Failure::kCrash, result.crash, {}, {}};
  const std::vector<std::string> parts = absl::StrSplit(result.text, absl::MaxSplits('\n', 3));
  Verdict verdict{static_cast<Failure>(std::stoi(parts[0])), parts[3], {}, {}};
  verdict.strategies = absl::StrSplit(parts[1], ' ', absl::SkipEmpty());
  verdict.instructions = absl::StrSplit(parts[2], ' ', absl::SkipEmpty());
  return verdict;
}

Verdict CheckIsolated(const FuzzCase& fuzz_case) {
  const IsolatedResults results = RunIsolated(
      {{"case", [&] { return Encode(CheckAll(fuzz_case.random, {fuzz_case.setting})); }}}, 1, kSecondsEach);
  return Decode(results.begin()->second);
}

// The settings that the graph of a seed is tried with.
std::vector<Setting> SettingsOf(uint64_t seed, const std::string& cpu) {
  Random random(seed ^ 0x5E771265);
  return DrawSettings(random, cpu);
}

// The beginning of a message without its digits, which tells failures of different kinds apart.
std::string KindOf(const Verdict& verdict) {
  std::string kind(NameOf(verdict.failure));
  if (verdict.failure != Failure::kError) return kind;
  for (const char c : verdict.message.substr(0, 400)) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) kind += c;
  }
  return kind;
}

// The content of the coverage file; empty coverage if there is no file yet.
absl::StatusOr<Coverage> ReadCoverage(const std::string& path) {
  if (path.empty() || !fs::exists(path)) return Coverage();
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, 1 << 30));
  absl::StatusOr<Coverage> coverage = Coverage::FromJson(text);
  if (!coverage.ok()) return Annotate(coverage.status(), path);
  return coverage;
}

class Fuzzing {
 public:
  // `before`: the coverage of earlier runs.
  Fuzzing(const Options& options, Coverage before)
      : options_(options), before_(std::move(before)), run_{.seed = options.seed} {}

  // Returns whether no graph failed.
  bool Run() {
    constexpr int64_t kBatch = 32;
    while (run_.graphs < options_.graphs && run_.failed < options_.most_failures) {
      if (options_.seconds > 0 && Seconds() > options_.seconds) break;
      RunBatch(std::min(kBatch, options_.graphs - run_.graphs));
      if (!options_.coverage.empty()) SaveCoverage();
    }
    std::cout << AllCoverage().ToString();
    return run_.failed == 0;
  }

 private:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  void RunBatch(int64_t count) {
    IsolatedTasks tasks;
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t seed = run_.seed + static_cast<uint64_t>(run_.graphs + i);
      tasks[absl::StrCat(seed)] = [this, seed] {
        return Encode(CheckAll(MakeRandomCase(seed), SettingsOf(seed, options_.cpu)));
      };
    }
    for (const auto& [name, result] : RunIsolated(tasks, options_.jobs, kSecondsEach)) {
      const uint64_t seed = std::stoull(name);
      const Verdict verdict = Decode(result);
      coverage_.Add(*MakeRandomCase(seed).graph, verdict, SettingsOf(seed, options_.cpu));
      if (verdict.failure == Failure::kRefused) ++run_.refused;
      if (!verdict.ok()) Report(seed, verdict);
    }
    run_.graphs += count;
    run_.seconds = static_cast<int64_t>(Seconds());
  }

  Coverage AllCoverage() const {
    Coverage all = before_;
    all.Add(coverage_);
    all.Add(run_);
    return all;
  }

  void SaveCoverage() const {
    const absl::Status written = WriteFileAtomically(options_.coverage, AllCoverage().ToJson());
    if (!written.ok()) std::cout << written.message() << std::endl;
  }

  void Report(uint64_t seed, const Verdict& verdict) {
    ++run_.failed;
    std::cout << "seed " << seed << ": " << NameOf(verdict.failure) << ": " << verdict.message << std::endl;
    if (options_.failures.empty()) return;
    for (const Setting& setting : SettingsOf(seed, options_.cpu)) {
      FuzzCase fuzz_case{MakeRandomCase(seed), setting};
      const Verdict alone = CheckIsolated(fuzz_case);
      if (alone.ok()) continue;
      const std::string kind = KindOf(alone);
      const FuzzCase small = Shrink(
          std::move(fuzz_case), [&](const FuzzCase& next) { return KindOf(CheckIsolated(next)) == kind; },
          kShrinkTries);
      const std::string comment =
          absl::StrCat("seed ", seed, ": ", NameOf(alone.failure), ": ", CheckIsolated(small).message);
      Save(seed, PrintCase(small, comment));
      return;
    }
    std::cout << "seed " << seed << ": fails with none of its settings alone\n";
  }

  void Save(uint64_t seed, const std::string& text) const {
    fs::create_directories(options_.failures);
    const std::string path = absl::StrCat(options_.failures, "/", seed, ".case");
    const absl::Status written = WriteFileAtomically(path, text);
    std::cout << (written.ok() ? "made small: " + path : std::string(written.message())) << std::endl;
  }

  const Options options_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  const Coverage before_;
  Coverage coverage_;
  FuzzRun run_;
};

// Returns whether no graph failed and every file could be read and written.
bool Fuzz(Options options) {
  absl::StatusOr<Coverage> before = ReadCoverage(options.coverage);
  if (!before.ok()) {
    std::cerr << before.status().message() << "\n";
    return false;
  }
  if (options.report) {
    std::cout << before->ToString();
    return true;
  }
  const uint64_t next = before->NextSeed();
  if (options.seed == 0) options.seed = next;
  if (options.seed < next && !options.coverage.empty()) {
    std::cerr << options.coverage << " has seeds up to " << next - 1 << ": begin after them\n";
    return false;
  }
  return Fuzzing(options, *std::move(before)).Run();
}

// The settings that a case of the corpus is tried with: its own, and the default ones for each level of
// instructions.
std::vector<Setting> ReplaySettings(const Setting& own) {
  std::vector<Setting> settings = {own};
  for (const char* name :
       {"x86-64-v3", "wide", "bytes", "x86-64-v4", "cascadelake", "cooperlake", "sapphirerapids"}) {
    for (const PassPlan& plan : {DefaultPlan(), PassPlan{.steps = {{"fuse", {}}}}}) {
      Setting setting;
      setting.cpu = name;
      setting.plan = plan;
      setting.threads = plan.steps.size() > 1 ? 2 : 1;
      settings.push_back(setting);
    }
  }
  return settings;
}

absl::StatusOr<Verdict> Replay(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, 1 << 30));
  absl::StatusOr<FuzzCase> fuzz_case = ParseCase(text);
  if (!fuzz_case.ok()) return Annotate(fuzz_case.status(), path);
  return CheckAll(fuzz_case->random, ReplaySettings(fuzz_case->setting));
}

bool ReplayAll(const Options& options) {
  IsolatedTasks tasks;
  std::vector<fs::path> paths;
  if (fs::is_directory(options.replay)) {
    for (const auto& entry : fs::directory_iterator(options.replay)) paths.push_back(entry.path());
  } else {
    paths.push_back(options.replay);
  }
  for (const fs::path& path : paths) {
    tasks[path.string()] = [path] {
      const absl::StatusOr<Verdict> verdict = Replay(path.string());
      return Encode(verdict.ok() ? *verdict
                                 : Verdict{Failure::kError, std::string(verdict.status().message()), {}, {}});
    };
  }
  int failed = 0;
  for (const auto& [path, result] : RunIsolated(tasks, options.jobs, 5 * kSecondsEach)) {
    const Verdict verdict = Decode(result);
    if (verdict.ok()) continue;
    ++failed;
    std::cout << path << ": " << NameOf(verdict.failure) << ": " << verdict.message << "\n";
  }
  std::cout << tasks.size() - static_cast<size_t>(failed) << " cases right, " << failed << " failed\n";
  return failed == 0;
}

void PrintGraph(const Options& options) {
  const uint64_t seed = options.seed;
  RandomCase random = options.integers.empty() ? MakeRandomCase(seed) : MakeIntegerCase(seed);
  std::cout << PrintCase({std::move(random), SettingsOf(seed, options.cpu)[0]}, absl::StrCat("seed ", seed));
}

bool Write(const Options& options) {
  return WriteCases({.folder = options.write,
                     .seed = options.seed,
                     .count = options.graphs,
                     .thorough = options.thorough,
                     .jobs = options.jobs,
                     .seconds_each = options.thorough ? 10 * kSecondsEach : kSecondsEach});
}

}  // namespace
}  // namespace attune::graph_fuzz

int main(int argc, char** argv) {
  attune::graph_fuzz::Options options;
  CLI::App app("Random graphs through passes, plan, code and runtime, against the reference interpreter");
  app.add_option("--seed", options.seed,
                 "the first graph's, each graph has the next one; otherwise 1, or the next of the coverage");
  app.add_option("--graphs", options.graphs, "how many");
  app.add_option("--seconds", options.seconds, "no graph is begun after these; 0: no limit");
  app.add_option("--jobs", options.jobs, "processes at a time");
  app.add_option("--cpu", options.cpu,
                 "compile for this one alone, as attune's --cpu; wide: 512 bits in AVX2; tiles: a matrix "
                 "unit in software too");
  app.add_option("--failures", options.failures, "folder for failing graphs, made small");
  app.add_option("--coverage", options.coverage,
                 "file in which runs add up what they have reached; written while they run");
  app.add_flag("--report", options.report, "print what the coverage has and do nothing");
  app.add_option("--most-failures", options.most_failures, "stop after this many");
  app.add_option("--replay", options.replay, "a case, or a folder of them, instead of random graphs");
  app.add_flag("--print", options.print, "print the seed's graph and do nothing");
  app.add_option("--write", options.write,
                 "write the graphs as ONNX models with their results into FOLDER/SEED, and check nothing");
  app.add_option("--integers", options.integers,
                 "graphs of integers, whose values and results go to this file, for judge_integers.py");
  app.add_flag("--thorough", options.thorough, "with --write: models that give all values, and wider bounds");
  CLI11_PARSE(app, argc, argv);
  if (options.coverage.empty() && options.seed == 0) options.seed = 1;
  if (options.print) {
    attune::graph_fuzz::PrintGraph(options);
    return 0;
  }
  if (options.replay.empty() && options.seconds == 0 && options.graphs == INT64_MAX) options.graphs = 1000;
  if (!options.write.empty()) return attune::graph_fuzz::Write(options) ? 0 : 1;
  if (!options.integers.empty()) {
    const bool right = attune::graph_fuzz::WriteIntegerLines({.path = options.integers,
                                                              .seed = options.seed,
                                                              .count = options.graphs,
                                                              .jobs = options.jobs,
                                                              .cpu = options.cpu});
    return right ? 0 : 1;
  }
  const bool ok =
      options.replay.empty() ? attune::graph_fuzz::Fuzz(options) : attune::graph_fuzz::ReplayAll(options);
  return ok ? 0 : 1;
}
