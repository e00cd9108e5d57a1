#include "expectations.h"

#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/status.h"

namespace attune::conformance {
namespace {

std::string_view StatusOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPass:
      return "pass";
    case Outcome::kNotSupported:
      return "ns";
    case Outcome::kRefused:
      return "refused";
    case Outcome::kWrong:
      return "wrong";
    case Outcome::kCrash:
      return "crash";
  }
  return "";
}

}  // namespace

absl::StatusOr<Expectations> ReadExpectations(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, 1 << 30));
  Expectations expectations;
  for (std::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    if (line[0] == '#') continue;
    const std::vector<std::string> words = absl::StrSplit(line, absl::MaxSplits(' ', 2));
    if (words.size() < 2) return InvalidInput(path, ": no status in '", line, "'");
    expectations[words[0]] = {words[1], words.size() > 2 ? words[2] : ""};
  }
  return expectations;
}

bool IsContested(const Expectations& expected, const std::string& name) {
  const auto it = expected.find(name);
  return it != expected.end() && it->second.status == "contested";
}

absl::Status WriteExpectations(const std::string& path, std::string_view heading, const Expectations& old,
                               const Results& results) {
  Expectations now = old;
  for (const auto& [name, result] : results) {
    const bool passes = result.outcome == Outcome::kPass;
    Expectation& expectation = now[name];
    if (expectation.status == "contested" || expectation.status == "pass") continue;
    expectation = {std::string(StatusOf(result.outcome)), passes ? "" : result.message};
  }
  std::string text(heading);
  for (const auto& [name, expectation] : now) {
    absl::StrAppend(&text, name, " ", expectation.status, expectation.reason.empty() ? "" : " ",
                    expectation.reason, "\n");
  }
  return WriteFileAtomically(path, text);
}

std::vector<std::string> FindRegressions(const Expectations& expected, const Results& results) {
  std::vector<std::string> regressions;
  for (const auto& [name, result] : results) {
    const auto it = expected.find(name);
    const std::string status = it != expected.end() ? it->second.status : "not listed";
    const bool fine = result.outcome == Outcome::kPass ||
                      (status == "contested" && result.outcome != Outcome::kCrash) ||
                      (status == "ns" && result.outcome == Outcome::kNotSupported) ||
                      (status == "refused" && result.outcome == Outcome::kRefused);
    if (!fine || status == "not listed") {
      regressions.push_back(
          absl::StrCat(name, ": expected ", status, ", is ", StatusOf(result.outcome), " ", result.message));
    }
  }
  for (const auto& [name, expectation] : expected) {
    if (!results.contains(name)) regressions.push_back(absl::StrCat(name, ": not in the data"));
  }
  return regressions;
}

std::vector<std::string> FindProgress(const Expectations& expected, const Results& results) {
  std::vector<std::string> progress;
  for (const auto& [name, result] : results) {
    const auto it = expected.find(name);
    if (result.outcome != Outcome::kPass || it == expected.end()) continue;
    if (it->second.status == "ns" || it->second.status == "refused") progress.push_back(name);
  }
  return progress;
}

}  // namespace attune::conformance
