// attune sweep compare A B
#include <memory>
#include <string>

#include "base/status.h"
#include "cli/common/output.h"
#include "cli/sweep_command.h"
#include "cli/sweep_view.h"
#include "sweep/comparison.h"

namespace attune {
namespace {

struct SweepCompareFlags {
  std::string first, second, json;
};

absl::Status Compare(const SweepCompareFlags& flags) {
  ASSIGN_OR_RETURN(const ComparedSweep first, ReadComparedSweep(flags.first));
  ASSIGN_OR_RETURN(const ComparedSweep second, ReadComparedSweep(flags.second));
  absl::StatusOr<SweepComparison> comparison = CompareSweeps(first, second);
  if (!comparison.ok()) return Annotate(comparison.status(), absl::StrCat(flags.first, ", ", flags.second));
  if (!flags.json.empty()) RETURN_IF_ERROR(WriteJson(ComparisonJson(*comparison, first, second), flags.json));
  if (flags.json != "-") PrintResult(ComparisonText(*comparison, flags.first, flags.second));
  return absl::OkStatus();
}

}  // namespace

void AddSweepCompareCommand(CLI::App& sweep, Action& action) {
  CLI::App* command = sweep.add_subcommand(
      "compare", "Compare the inference times of two sweeps, run by run, with confidence intervals");
  auto flags = std::make_shared<SweepCompareFlags>();
  command->add_option("FIRST", flags->first, "the folder of a sweep")->required();
  command->add_option("SECOND", flags->second, "the folder of the other: below 1, it is faster")->required();
  command->add_option("--json", flags->json, "write the results as JSON to this file, or to stdout for -");
  command->callback([flags, &action] { action = [flags] { return Compare(*flags); }; });
}

}  // namespace attune
