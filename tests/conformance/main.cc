// conformance DATA [--expected FILE] [--update] [--filter TEXT]: runs the ONNX backend data and prints what
// passes, what is not supported and why, and what is wrong. Exit code 1 when a case is worse than expected.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "case.h"
#include "expectations.h"
#include "reference/interpreter.h"

namespace attune::conformance {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string data;
  std::string expected;
  std::string filter;
  bool update = false;
  int seconds = 60;
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

void PrintSummary(const Results& results) {
  std::map<Outcome, int> counts;
  std::map<std::string, int> reasons;
  for (const auto& [name, result] : results) {
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
            << counts[Outcome::kNotSupported] << " NS, " << counts[Outcome::kWrong] << " wrong, "
            << counts[Outcome::kCrash] << " crashed\n";
}

// The exit code.
int CheckExpectations(const Options& options, const Results& results) {
  const absl::StatusOr<Expectations> expected = ReadExpectations(options.expected);
  if (options.update) {
    const absl::Status written =
        WriteExpectations(options.expected, expected.value_or(Expectations()), results);
    if (!written.ok()) std::cerr << written.message() << "\n";
    return written.ok() ? 0 : 1;
  }
  if (!expected.ok()) {
    std::cerr << expected.status().message() << "\n";
    return 1;
  }
  for (const std::string& name : FindProgress(*expected, results)) {
    std::cout << "passes now: " << name << " (record it with --update)\n";
  }
  const std::vector<std::string> regressions = FindRegressions(*expected, results);
  for (const std::string& line : regressions) std::cout << "REGRESSION " << line << "\n";
  return regressions.empty() ? 0 : 1;
}

int Run(const Options& options) {
  const Interpreter reference;
  Results results;
  for (const auto& [name, folder] : FindCases(options)) {
    results[name] = RunCaseIsolated(folder, reference, reference, options.seconds);
  }
  if (results.empty()) {
    std::cerr << "no cases below " << options.data << "\n";
    return 1;
  }
  PrintSummary(results);
  return options.expected.empty() ? 0 : CheckExpectations(options, results);
}

}  // namespace
}  // namespace attune::conformance

int main(int argc, char** argv) {
  attune::conformance::Options options;
  CLI::App app("Runs the ONNX backend data");
  app.add_option("data", options.data, "folder that holds the unpacked data")
      ->required()
      ->check(CLI::ExistingDirectory);
  app.add_option("--expected", options.expected, "file of expected results");
  app.add_flag("--update", options.update, "write the results to --expected");
  app.add_option("--filter", options.filter, "only cases whose name has this text");
  app.add_option("--seconds", options.seconds, "time for one case");
  CLI11_PARSE(app, argc, argv);
  return attune::conformance::Run(options);
}
