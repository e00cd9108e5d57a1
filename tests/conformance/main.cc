// conformance DATA [--format onnx|litert] [--executor compiled|reference] [--inputs FILE] [--expected FILE]
// [--update] [--filter TEXT]: runs a format's conformance data, by default through compiled code, and
// prints what passes, what is not supported and why, and what is wrong. Exit code 1 if a case is worse than
// expected.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "base/status.h"
#include "case.h"
#include "expectations.h"
#include "formats.h"
#include "isolation/isolation.h"

namespace attune::conformance {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string data;
  std::string format = "onnx";
  RunOptions run;
  std::string expected;
  std::string filter;
  bool update = false;
  int seconds = 60;
  int jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
};

void PrintSummary(const Expectations& expected, const Results& results) {
  std::map<Outcome, int> counts;
  std::map<std::string, int> reasons;
  int contested = 0;
  for (const auto& [name, result] : results) {
    if (IsContested(expected, name) && result.outcome != Outcome::kCrash) {
      ++contested;
      std::cout << "contested " << name << ": " << expected.at(name).reason << "\n";
      continue;
    }
    ++counts[result.outcome];
    if (result.outcome == Outcome::kNotSupported) ++reasons[result.message];
    if (result.outcome == Outcome::kRefused)
      std::cout << "refused " << name << ": " << result.message << "\n";
    if (result.outcome == Outcome::kWrong) std::cout << "wrong " << name << ": " << result.message << "\n";
    if (result.outcome == Outcome::kCrash) std::cout << "crash " << name << ": " << result.message << "\n";
  }
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [reason, count] : reasons) sorted.emplace_back(-count, reason);
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [count, reason] : sorted)
    std::cout << "not supported " << -count << "  " << reason << "\n";
  std::cout << results.size() << " cases: " << counts[Outcome::kPass] << " passed, "
            << counts[Outcome::kNotSupported] << " not supported, " << counts[Outcome::kRefused]
            << " refused, " << contested << " contested, " << counts[Outcome::kWrong] << " wrong, "
            << counts[Outcome::kCrash] << " crashed\n";
}

// Without a file, or if the file to be written does not exist yet, nothing is expected.
absl::StatusOr<Expectations> LoadExpectations(const Options& options) {
  if (options.expected.empty() || (options.update && !fs::exists(options.expected))) return Expectations();
  return ReadExpectations(options.expected);
}

// Runs each case in a process of its own. The process writes the result's outcome, as a digit, and its
// message.
Results RunEach(const Tasks& tasks, int jobs, int seconds) {
  IsolatedTasks isolated;
  for (const auto& [name, task] : tasks) {
    isolated[name] = [&task] {
      const Result result = task();
      return absl::StrCat(static_cast<int>(result.outcome), result.message);
    };
  }
  Results results;
  for (const auto& [name, ended] : RunIsolated(isolated, jobs, seconds)) {
    results[name] = ended.crash.empty()
                        ? Result{static_cast<Outcome>(ended.text[0] - '0'), ended.text.substr(1)}
                        : Result{Outcome::kCrash, ended.crash};
  }
  return results;
}

// Whether no case is worse than expected.
bool CheckExpectations(const Expectations& expected, const Results& results) {
  for (const std::string& name : FindProgress(expected, results)) {
    std::cout << "passes now: " << name << " (record it with --update)\n";
  }
  const std::vector<std::string> regressions = FindRegressions(expected, results);
  for (const std::string& line : regressions) std::cout << "REGRESSION " << line << "\n";
  return regressions.empty();
}

absl::Status Run(const Options& options) {
  const Format& format = FormatNamed(options.format);
  ASSIGN_OR_RETURN(const Expectations expected, LoadExpectations(options));
  ASSIGN_OR_RETURN(Tasks tasks, format.find(options.data, options.run));
  std::erase_if(tasks, [&](const auto& task) { return !absl::StrContains(task.first, options.filter); });
  if (tasks.empty()) return InvalidInput("no cases below ", options.data);
  const Results results = RunEach(tasks, options.jobs, options.seconds);
  PrintSummary(expected, results);
  if (options.update) return WriteExpectations(options.expected, format.heading, expected, results);
  if (!options.expected.empty() && !CheckExpectations(expected, results))
    return absl::FailedPreconditionError("cases are worse than expected");
  return absl::OkStatus();
}

}  // namespace
}  // namespace attune::conformance

int main(int argc, char** argv) {
  attune::conformance::Options options;
  CLI::App app("Runs the conformance data of a model format");
  app.add_option("data", options.data, "folder that holds the unpacked data")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--format", options.format, "which data it is")
      ->check(CLI::IsMember(attune::conformance::FormatNames()));
  app.add_option("--executor", options.run.executor, "what runs models whose outputs are known")
      ->check(CLI::IsMember({"compiled", "reference"}));
  app.add_option("--inputs", options.run.inputs, "file of values for inputs of models that come without any");
  CLI::Option* expected = app.add_option("--expected", options.expected, "file of expected results");
  app.add_flag("--update", options.update, "write the results to --expected")->needs(expected);
  app.add_option("--filter", options.filter, "only cases whose name has this text");
  app.add_option("--seconds", options.seconds, "time for one case");
  app.add_option("--jobs", options.jobs, "cases at a time")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = attune::conformance::Run(options);
  if (!status.ok()) std::cerr << "conformance: " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
