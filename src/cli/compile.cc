// attune compile MODEL -o OUT.atn
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/contractions_view.h"
#include "cli/destinations.h"
#include "cli/model_flags.h"
#include "cli/option_flags.h"
#include "cli/precision.h"
#include "cli/signing.h"
#include "cli/sizes_view.h"

namespace attune {
namespace {

struct CompileFlags {
  ModelFlags model;
  InputSources inputs;
  std::string output;
  std::vector<std::string> shape_sets;  // "a=1x128 b=1x128"
  std::string signing_key;              // a file; empty: it is not signed
};

std::vector<std::string> Cpus(const NetworkDescription& d) {
  std::vector<std::string> cpus;
  for (const Variant& variant : d.manifest.variants) cpus.push_back(variant.target.cpu);
  return cpus;
}

Json ToJson(const CompileFlags& flags, const NetworkDescription& d, const Network& network,
            const StageSeconds& seconds) {
  const CompileReport& report = network.compile_report();
  Json passes = Json::array();
  for (const StepReport& step : network.pass_report()) {
    passes.push_back({{"pass", step.pass},
                      {"seconds", step.seconds},
                      {"changed", step.changed},
                      {"nodes", step.nodes_after}});
  }
  Json json = {{"model", flags.model.model},
               {"artifact", flags.output},
               {"cpus", Cpus(d)},
               {"kernels", report.num_kernels},
               {"kernels_by_records", report.num_measured},
               {"kernels_of_other_code_than_measured", report.num_changed},
               {"kernels_by_similar_records", report.num_similar},
               {"slow_contractions", SlowJson(report.contractions)},
               {"bytes",
                {{"file", d.file_bytes},
                 {"code", d.code_bytes},
                 {"constants", d.weight_bytes()},
                 {"constants_stored", d.stored_constant_bytes},
                 {"arena", d.program().arena_bytes},
                 {"scratch", d.variant().scratch_bytes}}},
               {"seconds",
                {{"load", seconds.load},
                 {"quantize", seconds.quantize},
                 {"passes", seconds.optimize},
                 {"plan", report.plan_seconds},
                 {"code", report.codegen_seconds},
                 {"weights", report.pack_seconds},
                 {"link", report.link_seconds},
                 {"total", seconds.total()}}},
               {"passes", std::move(passes)}};
  AddPrecision(network.precision_report(), json);
  if (network.quantized() != nullptr) json["quantization"] = quant::ToJson(network.quantized()->report);
  return json;
}

// Says how many kernels were chosen by records; empty if none.
std::string Measured(const CompileReport& report) {
  if (report.num_measured + report.num_similar == 0) return "";
  const std::string similar =
      report.num_similar == 0 ? "" : absl::StrFormat(", %d like similar ones", report.num_similar);
  const std::string changed =
      report.num_changed == 0
          ? ""
          : absl::StrFormat(", %d of these compiled differently since", report.num_changed);
  return absl::StrFormat(" (%d as measured%s%s, by records)", report.num_measured, changed, similar);
}

std::string Summary(const CompileFlags& flags, const NetworkDescription& d, const Network& network,
                    const StageSeconds& seconds) {
  const CompileReport& report = network.compile_report();
  std::string text = absl::StrFormat(
      "%s: %s for %s\n"
      "  kernels   %d%s, code %s\n"
      "  weights   %s\n"
      "  memory    %s, and %s a thread\n"
      "  seconds   %.2f: load %.2f, quantize %.2f, passes %.2f, plan %.2f, code %.2f, weights %.2f, link "
      "%.2f\n",
      flags.output, FormatBytes(d.file_bytes), absl::StrJoin(Cpus(d), ", "), report.num_kernels,
      Measured(report), FormatBytes(d.code_bytes), FormatWeights(d.stored_constant_bytes, d.weight_bytes()),
      SessionMemory(d.variant()), FormatBytes(d.variant().scratch_bytes), seconds.total(), seconds.load,
      seconds.quantize, seconds.optimize, report.plan_seconds, report.codegen_seconds, report.pack_seconds,
      report.link_seconds);
  if (const std::string slow = DescribeSlow(report.contractions); !slow.empty())
    absl::StrAppend(&text, "  slow      ", slow, "\n");
  for (const std::string& product : report.slow_products)
    absl::StrAppend(&text, "  slow      plain loops compute ", WithoutControls(product), "\n");
  if (network.precision_report().has_value()) {
    for (const std::string& line : Describe(*network.precision_report())) {
      absl::StrAppendFormat(&text, "  %-9s %s\n", network.precision_report()->precision, line);
    }
  }
  if (network.quantized() != nullptr) {
    for (const std::string& line : Summarize(network.quantized()->report)) {
      absl::StrAppend(&text, "  integers  ", line, "\n");
    }
  }
  return text;
}

absl::StatusOr<Network> CompileNetwork(const CompileFlags& flags, Progress& progress, StageSeconds& seconds) {
  ASSIGN_OR_RETURN(ModelWork work,
                   OpenModel(flags.model, flags.inputs, flags.model.compile.threads, progress));
  if (!flags.shape_sets.empty() && work.request.is_quantized()) {
    return InvalidInput("--shapes: samples have one shape; give --shapes without --precision ",
                        Name(work.request.precision), ", for the model that attune quantize writes");
  }
  for (const std::string& set : flags.shape_sets) work.source.shape_sets.push_back(ShapesOfSet(set));
  seconds = work.seconds;
  work.source.leaves_open = true;
  ASSIGN_OR_RETURN(ReadyNetwork ready,
                   CompileModel(std::move(work.model), work.source, work.request, &seconds));
  return std::move(ready.network);
}

absl::Status Compile(const CompileFlags& flags) {
  Progress progress;
  StageSeconds seconds;
  ASSIGN_OR_RETURN(const Network network, CompileNetwork(flags, progress, seconds));
  progress.Show("writing");
  RETURN_IF_ERROR(network.Save(flags.output).status());
  if (!flags.signing_key.empty()) RETURN_IF_ERROR(SignFile(flags.output, flags.signing_key));
  ASSIGN_OR_RETURN(const NetworkDescription description, network.Describe());
  if (!flags.model.json.empty()) {
    RETURN_IF_ERROR(WriteJson(ToJson(flags, description, network, seconds), flags.model.json));
  }
  if (LeaveStdout({flags.output, flags.model.json}))
    PrintResult(Summary(flags, description, network, seconds));
  return absl::OkStatus();
}

}  // namespace

void AddCompileCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("compile", "Compile a model into one file that the runtime runs");
  auto flags = std::make_shared<CompileFlags>();
  flags->model.why_no_artifact = kWhyCompiledAlready;
  AddModelFlags(*command, flags->model,
                "threads that compile, and that one inference will run on; records for this number of "
                "threads are preferred");
  AddInputFlags(*command, flags->inputs);
  AddOptionFlags(*command, OptionsOf(flags->model.samples));
  AddOutputFlag(*command, "-o,--output", flags->output, "the artifact to write");
  command
      ->add_option("--sign", flags->signing_key,
                   "sign the artifact by the private key in this file (attune key create)")
      ->type_name("KEY");
  command
      ->add_option("--shapes", flags->shape_sets,
                   "shapes of inputs, as for --shape, separated by spaces; may be repeated: the artifact "
                   "serves each of these sets, and holds the weights once")
      ->allow_extra_args(false)
      ->check(CheckShapeSet);
  command->callback([flags, &action] {
    if (flags->output.empty() && !flags->model.prints_plan()) throw CLI::RequiredError("-o");
    RequireOneStdout({flags->output, flags->model.json});
    action = ModelAction(flags->model, [flags] { return Compile(*flags); });
  });
}

}  // namespace attune
