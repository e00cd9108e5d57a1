// A small sweep for tests.
#ifndef ATTUNE_SWEEP_SWEEP_FOR_TEST_H_
#define ATTUNE_SWEEP_SWEEP_FOR_TEST_H_

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "sweep/command_options.h"
#include "sweep/expansion.h"
#include "sweep/sweep_file.h"
#include "sweep/sweep_plan.h"

namespace attune {

// A command line that knows these options alone, and takes every value but "wrong".
class DefinitionsForTest final : public CommandDefinitions {
 public:
  std::vector<CommandOption> OptionsOf(const std::string& command) const override {
    using Kind = CommandOption::Kind;
    std::vector<CommandOption> options = {
        {"threads", Kind::kValue}, {"shape", Kind::kValues}, {"json", Kind::kValue}};
    if (command == "tune")
      options.insert(options.end(),
                     {{"batch", Kind::kValue}, {"seed", Kind::kValue}, {"no-layouts", Kind::kFlag}});
    if (command != "quantize") {
      options.push_back({"precision", Kind::kValue, /*is_for_models=*/true});
      options.push_back({"on", Kind::kValue});
    }
    return options;
  }
  absl::Status CheckValues(const std::string& /*command*/, const std::string& option,
                           const std::vector<std::string>& values) const override {
    const bool is_wrong = std::ranges::find(values, "wrong") != values.end();
    return is_wrong ? InvalidInput("--", option, ": is wrong") : absl::OkStatus();
  }
  absl::Status CheckArguments(const std::vector<std::string>& /*arguments*/) const override {
    return absl::OkStatus();
  }
};

// A sweep without errors.
struct SweepForTest {
  explicit SweepForTest(const std::string& yaml)
      : file(*ParseSweepFile(yaml, "s.yaml", "/base")),
        expanded(*ExpandSweep(file)),
        used(*ResolveOptions(file, expanded, DefinitionsForTest())),
        plan(MakeSweepPlan(file, expanded, "1.0", "a-processor")) {}

  SweepFile file;
  ExpandedSweep expanded;
  UsedOptions used;
  SweepPlan plan;
};

}  // namespace attune

#endif  // ATTUNE_SWEEP_SWEEP_FOR_TEST_H_
