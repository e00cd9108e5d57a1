// conformance DATA [--executor compiled|reference] [--expected FILE] [--update] [--filter TEXT]: runs the
// ONNX backend data, by default through compiled code, and prints what passes, what is not supported and why,
// and what is wrong. Exit code 1 when a case is worse than expected.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "api/compiled_executor.h"
#include "base/status.h"
#include "case.h"
#include "expectations.h"
#include "isolation.h"
#include "reference/interpreter.h"

namespace attune::conformance {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string data;
  std::string expected;
  std::string filter;
  std::string executor = "compiled";
  bool update = false;
  int seconds = 60;
  int jobs = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
};

// Folders with a model, by name.
std::map<std::string, std::string> FindCases(const Options& options) {
  std::map<std::string, std::string> cases;
  for (const auto& entry : fs::recursive_directory_iterator(options.data)) {
    if (entry.path().filename() != "model.onnx") continue;
    const fs::path folder = entry.path().parent_path();
    // Two groups of the data have cases of the same name.
    const std::string name = folder.parent_path().filename().string() + "/" + folder.filename().string();
    if (name.find(options.filter) != std::string::npos) cases[name] = folder.string();
  }
  return cases;
}

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
    if (result.outcome == Outcome::kWrong) std::cout << "wrong " << name << ": " << result.message << "\n";
    if (result.outcome == Outcome::kCrash) std::cout << "crash " << name << ": " << result.message << "\n";
  }
  std::vector<std::pair<int, std::string>> sorted;
  for (const auto& [reason, count] : reasons) sorted.emplace_back(-count, reason);
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [count, reason] : sorted) std::cout << "NS " << -count << "  " << reason << "\n";
  std::cout << results.size() << " cases: " << counts[Outcome::kPass] << " passed, "
            << counts[Outcome::kNotSupported] << " NS, " << contested << " contested, "
            << counts[Outcome::kWrong] << " wrong, " << counts[Outcome::kCrash] << " crashed\n";
}

// Without a file, and where the one to be written does not exist yet, nothing is expected.
absl::StatusOr<Expectations> LoadExpectations(const Options& options) {
  if (options.expected.empty() || (options.update && !fs::exists(options.expected))) return Expectations();
  return ReadExpectations(options.expected);
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
  ASSIGN_OR_RETURN(const Expectations expected, LoadExpectations(options));
  const Interpreter reference;
  const CompiledExecutor compiled;
  const Executor& executor =
      options.executor == "compiled" ? static_cast<const Executor&>(compiled) : reference;
  std::map<std::string, std::function<Result()>> tasks;
  for (const auto& [name, path] : FindCases(options)) {
    tasks[name] = [&executor, &reference, folder = path] { return RunCase(folder, executor, reference); };
  }
  if (tasks.empty()) return InvalidInput("no cases below ", options.data);
  const Results results = RunIsolated(tasks, options.jobs, options.seconds);
  PrintSummary(expected, results);
  if (options.update) return WriteExpectations(options.expected, expected, results);
  if (!options.expected.empty() && !CheckExpectations(expected, results))
    return absl::FailedPreconditionError("cases are worse than expected");
  return absl::OkStatus();
}

}  // namespace
}  // namespace attune::conformance

int main(int argc, char** argv) {
  attune::conformance::Options options;
  CLI::App app("Runs the ONNX backend data");
  app.add_option("data", options.data, "folder that holds the unpacked data")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--executor", options.executor, "what runs the models")
      ->check(CLI::IsMember({"compiled", "reference"}));
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
