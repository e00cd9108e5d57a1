// attune verify MODEL
#include <memory>
#include <optional>

#include "absl/strings/str_format.h"
#include "base/printable.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/model_flags.h"
#include "cli/on_device.h"
#include "cli/precision.h"

namespace attune {
namespace {

struct VerifyFlags {
  ModelFlags model;
  InputSources inputs;
  uint64_t seed = 0;
};

Json ToJson(const VerifyFlags& flags, const VerifyReport& report,
            const std::optional<PrecisionReport>& precision) {
  Json outputs = Json::array();
  for (const OutputCheck& check : report.outputs) {
    const Comparison& c = check.comparison;
    outputs.push_back({{"name", check.name},
                       {"ok", check.ok},
                       {"criterion", check.criterion},
                       {"type_mismatch", c.type_mismatch},
                       {"elements", c.elements},
                       {"mismatches", c.mismatches},
                       {"max_absolute_error", c.max_absolute_error},
                       {"max_relative_error", c.max_relative_error},
                       {"rms_error", c.rms_error},
                       {"rms_expected", c.rms_expected},
                       {"cosine", c.cosine}});
  }
  Json json = {{"model", flags.model.model},
               {"ok", report.ok()},
               {"reference_seconds", report.reference_seconds},
               {"outputs", std::move(outputs)}};
  AddPrecision(precision, json);
  return json;
}

absl::Status Verify(const VerifyFlags& flags) {
  VerifyReport report;
  std::optional<PrecisionReport> precision;
  {
    Progress progress;
    ASSIGN_OR_RETURN(const ReadyNetwork ready, LoadNetwork(flags.model, flags.inputs, progress));
    progress.Show("running the reference");
    WorkOnDevice work(flags.model.service.get(), progress);
    ASSIGN_OR_RETURN(report,
                     work->Verify(ready.network, ready.inputs, flags.seed, flags.model.compile.threads));
    precision = ready.network.precision_report();
  }
  PrintNotes(precision);
  if (!flags.model.json.empty())
    RETURN_IF_ERROR(WriteJson(ToJson(flags, report, precision), flags.model.json));
  int wrong = 0;
  for (const OutputCheck& check : report.outputs) {
    wrong += !check.ok;
    if (flags.model.json == "-") continue;
    PrintResult(absl::StrFormat("%s %s: %s (required: %s)\n", check.ok ? "ok  " : "FAIL",
                                WithoutControls(check.name), check.comparison.ToString(), check.criterion));
  }
  if (report.ok()) return absl::OkStatus();
  return absl::DataLossError(absl::StrFormat("%s: %d of %d outputs differ from the reference",
                                             flags.model.model, wrong, report.outputs.size()));
}

}  // namespace

void AddVerifyCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("verify", "Compare compiled code with the reference interpreter, output by output");
  auto flags = std::make_shared<VerifyFlags>();
  flags->model.why_no_artifact = "is compiled already; to verify it, give the model that it was made from";
  AddModelFlags(*command, flags->model, "threads that the compiled code runs on");
  AddInputFlags(*command, flags->inputs);
  command->add_option("--seed", flags->seed, "seed of the random values of inputs that are not given")
      ->check(CLI::NonNegativeNumber);
  command->callback(
      [flags, &action] { action = ModelAction(flags->model, [flags] { return Verify(*flags); }); });
}

}  // namespace attune
