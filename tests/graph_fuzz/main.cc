// Random graphs against the reference: graph_fuzz --help.
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
#include "isolation/isolation.h"
#include "random_case.h"
#include "shrink.h"
#include "write_cases.h"

namespace attune::graph_fuzz {
namespace {

namespace fs = std::filesystem;

struct Options {
  uint64_t seed = 1;
  int64_t graphs = INT64_MAX;
  double seconds = 0;  // 0: no limit
  int jobs = static_cast<int>(std::thread::hardware_concurrency());
  std::string cpu, failures, replay, write;
  bool print = false, thorough = false;
  int most_failures = 20;
};

constexpr int kSecondsEach = 60;
constexpr int kShrinkTries = 250;

std::string Encode(const Verdict& verdict) {
  return absl::StrCat(static_cast<int>(verdict.failure), "\n", absl::StrJoin(verdict.strategies, " "), "\n",
                      verdict.message);
}

Verdict Decode(const IsolatedResult& result) {
  if (!result.crash.empty()) return {Failure::kCrash, result.crash, {}};
  const std::vector<std::string> parts = absl::StrSplit(result.text, absl::MaxSplits('\n', 2));
  Verdict verdict{static_cast<Failure>(std::stoi(parts[0])), parts[2], {}};
  verdict.strategies = absl::StrSplit(parts[1], ' ', absl::SkipEmpty());
  return verdict;
}

Verdict CheckIsolated(const FuzzCase& fuzz_case) {
  const IsolatedResults results = RunIsolated(
      {{"case", [&] { return Encode(CheckAll(fuzz_case.random, {fuzz_case.setting})); }}}, 1, kSecondsEach);
  return Decode(results.begin()->second);
}

// The settings that a seed's graph is tried with.
std::vector<Setting> SettingsOf(uint64_t seed, const std::string& cpu) {
  Random random(seed ^ 0x5E771265);
  return DrawSettings(random, cpu);
}

// The first words of a message, by which failures of one kind are told from others.
std::string KindOf(const Verdict& verdict) {
  std::string kind(NameOf(verdict.failure));
  if (verdict.failure != Failure::kError) return kind;
  for (const char c : verdict.message.substr(0, 400)) {
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) kind += c;
  }
  return kind;
}

class Fuzzing {
 public:
  explicit Fuzzing(const Options& options) : options_(options) {}

  // Whether no graph failed.
  bool Run() {
    const auto start = std::chrono::steady_clock::now();
    const auto seconds = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    constexpr int64_t kBatch = 32;
    int64_t done = 0;
    while (done < options_.graphs && num_failures_ < options_.most_failures) {
      if (options_.seconds > 0 && seconds() > options_.seconds) break;
      const int64_t batch = std::min(kBatch, options_.graphs - done);
      RunBatch(options_.seed + static_cast<uint64_t>(done), batch);
      done += batch;
    }
    std::cout << coverage_.ToString() << "seeds " << options_.seed << " to "
              << options_.seed + static_cast<uint64_t>(done) - 1 << ", " << num_refused_ << " refused, "
              << num_failures_ << " failed, " << static_cast<int64_t>(seconds()) << " s\n";
    for (const auto& [reason, count] : refusals_) std::cout << "refused " << count << ": " << reason << "\n";
    return num_failures_ == 0;
  }

 private:
  void RunBatch(uint64_t first, int64_t count) {
    IsolatedTasks tasks;
    for (int64_t i = 0; i < count; ++i) {
      const uint64_t seed = first + static_cast<uint64_t>(i);
      tasks[absl::StrCat(seed)] = [this, seed] {
        return Encode(CheckAll(MakeRandomCase(seed), SettingsOf(seed, options_.cpu)));
      };
    }
    for (const auto& [name, result] : RunIsolated(tasks, options_.jobs, kSecondsEach)) {
      const uint64_t seed = std::stoull(name);
      const Verdict verdict = Decode(result);
      coverage_.Add(*MakeRandomCase(seed).graph);
      coverage_.AddStrategies(verdict.strategies);
      for (const Setting& setting : SettingsOf(seed, options_.cpu)) coverage_.Add(setting);
      if (verdict.failure == Failure::kRefused) {
        ++num_refused_;
        ++refusals_[verdict.message.substr(0, verdict.message.find('\n'))];
      }
      if (!verdict.ok()) Report(seed, verdict);
    }
  }

  void Report(uint64_t seed, const Verdict& verdict) {
    ++num_failures_;
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
  Coverage coverage_;
  int num_failures_ = 0, num_refused_ = 0;
  std::map<std::string, int64_t> refusals_;
};

// What a case of the corpus is tried with: its own setting, and the default ones of each level of
// instructions.
std::vector<Setting> ReplaySettings(const Setting& own) {
  std::vector<Setting> settings = {own};
  for (const char* name : {"x86-64-v3", "wide", "x86-64-v4", "cascadelake", "cooperlake", "sapphirerapids"}) {
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
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
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
                                 : Verdict{Failure::kError, std::string(verdict.status().message()), {}});
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
  std::cout << PrintCase({MakeRandomCase(seed), SettingsOf(seed, options.cpu)[0]},
                         absl::StrCat("seed ", seed));
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
  app.add_option("--seed", options.seed, "the first graph's; each graph has the next one");
  app.add_option("--graphs", options.graphs, "how many");
  app.add_option("--seconds", options.seconds, "no graph is begun after these; 0: no limit");
  app.add_option("--jobs", options.jobs, "processes at a time");
  app.add_option("--cpu", options.cpu,
                 "compile for this one alone, as attune's --cpu; wide: 512 bits in AVX2; tiles: a matrix "
                 "unit in software too");
  app.add_option("--failures", options.failures, "folder for failing graphs, made small");
  app.add_option("--most-failures", options.most_failures, "stop after so many");
  app.add_option("--replay", options.replay, "a case, or a folder of them, instead of random graphs");
  app.add_flag("--print", options.print, "print the seed's graph and do nothing");
  app.add_option("--write", options.write,
                 "write the graphs as ONNX models with their results into FOLDER/SEED, and check nothing");
  app.add_flag("--thorough", options.thorough, "with --write: models that give all values, and wider bounds");
  CLI11_PARSE(app, argc, argv);
  if (options.print) {
    attune::graph_fuzz::PrintGraph(options);
    return 0;
  }
  if (options.replay.empty() && options.seconds == 0 && options.graphs == INT64_MAX) options.graphs = 1000;
  if (!options.write.empty()) return attune::graph_fuzz::Write(options) ? 0 : 1;
  const bool ok = options.replay.empty() ? attune::graph_fuzz::Fuzzing(options).Run()
                                         : attune::graph_fuzz::ReplayAll(options);
  return ok ? 0 : 1;
}
