#include "cli/model_flags.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "cli/on_device.h"
#include "cli/option_flags.h"
#include "fleet/client/joined_fleet.h"

namespace attune {
namespace {

// Ok, or an error that names the flag that cannot apply to an artifact.
absl::Status CheckArtifactFlags(const ModelFlags& flags) {
  for (const OptionRow* row : ChangedOptions(flags.compile)) {
    if (row->is_for_artifacts) continue;
    return InvalidInput(flags.model, ": is compiled already, so ", row->flag,
                        " has no effect; give the model that it was made from");
  }
  return absl::OkStatus();
}

absl::Status CreateFolder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  return error ? absl::FailedPreconditionError(
                     absl::StrCat(path, ": cannot create the folder: ", error.message()))
               : absl::OkStatus();
}

// Whether --precision and --data are given together, or neither is needed.
absl::Status CheckSamples(const ModelFlags& flags, const CompileRequest& request) {
  if (request.is_quantized() && flags.samples.folder.empty()) {
    return InvalidInput(
        "--precision ", Name(request.precision),
        ": which integers stand for which numbers is learned from samples; give attune compile "
        "or attune quantize a folder of them with --data");
  }
  if (!request.is_quantized() && !flags.samples.folder.empty()) {
    return InvalidInput("--data: ", Name(request.precision),
                        " needs no samples; give --precision int8 or auto too");
  }
  return absl::OkStatus();
}

absl::StatusOr<OpenedModel> OpenFile(const ModelFlags& flags) {
  OpenOptions options = {.signature = flags.signature, .artifact = {}};
  ASSIGN_OR_RETURN(options.artifact, ReadArtifactFlags(flags.artifact));
  options.artifact.describe_only = flags.describe_only || flags.service != nullptr;
  ASSIGN_OR_RETURN(OpenedModel model, OpenedModel::Open(flags.model, options));
  if (!model.is_artifact()) return model;
  if (!flags.why_no_artifact.empty()) return InvalidInput(flags.model, ": ", flags.why_no_artifact);
  ExplainLostFile(flags.model);
  RETURN_IF_ERROR(CheckArtifactFlags(flags));
  return model;
}

// Returns what the flags ask of the compiler, but for the files that they name.
CompileRequest RequestOf(const ModelFlags& flags, int jobs, Progress& progress) {
  CompileRequest request;
  static_cast<CompileSettings&>(request) = flags.compile;
  request.service = flags.service;
  request.jobs = jobs;
  request.control.progress = &progress;
  request.note = PrintNote;
  return request;
}

}  // namespace

void AddModelFlags(CLI::App& command, ModelFlags& flags, const std::string& thread_help) {
  constexpr char kModel[] = "a model (ONNX, TensorFlow Lite, TensorFlow, exported PyTorch)";
  const bool takes_artifacts = flags.why_no_artifact.empty();
  AddSourceFlags(command, flags,
                 absl::StrCat(kModel, takes_artifacts ? ", or an artifact that attune compile made" : ""));
  const std::string cpu_help = absl::StrCat(
      "processor to compile for, or several, separated by commas, of which the runtime takes the best that "
      "runs: ",
      absl::StrJoin(TargetNames(), ", "));
  AddOptionFlags(command, OptionsOf(flags.compile), {{"threads", thread_help}, {"cpus", cpu_help}});
  command.get_option("--cpu")->check(
      [](const std::string& name) { return std::string(TargetByName(name).status().message()); });
  AddOnFlag(command, flags.on);
  command.add_option("--json", flags.json, "write the results as JSON to this file, or to stdout for -");
}

bool IsForCompiling(std::string_view flag) {
  CompileSettings settings;
  return std::ranges::any_of(OptionsOf(settings), [&](const BoundOption& option) {
    return !option.row->is_for_artifacts && option.row->flag == absl::StrCat("--", flag);
  });
}

Action ModelAction(ModelFlags& flags, Action run) {
  if (flags.prints_plan()) {
    return [] {
      PrintResult(Print(DefaultPlan()));
      return absl::OkStatus();
    };
  }
  if (flags.model.empty()) throw CLI::RequiredError("MODEL");
  if (flags.on.empty()) return run;
  if (!flags.compile.cpus.empty())
    throw CLI::ValidationError("--on", "the device says what to compile for; leave --cpu out");
  return [&flags, on_device = std::move(run)]() -> absl::Status {
    ASSIGN_OR_RETURN(flags.service, MeasuringOn(flags.on));
    return on_device();
  };
}

absl::StatusOr<ModelWork> OpenModel(const ModelFlags& flags, const InputSources& inputs, int jobs,
                                    Progress& progress) {
  CompileRequest request = RequestOf(flags, jobs, progress);
  RETURN_IF_ERROR(CheckPrecision(request.precision));
  RETURN_IF_ERROR(CheckSamples(flags, request));
  progress.Show("reading the model");
  const Stopwatch watch;
  ASSIGN_OR_RETURN(OpenedModel model, OpenFile(flags));
  ModelWork work = {
      .model = std::move(model),
      .source = {.shapes = flags.shapes, .shape_sets = {}, .inputs = inputs, .samples = flags.samples},
      .request = std::move(request),
      .seconds = {.load = watch.Seconds()}};
  if (const std::optional<std::string>& file = flags.compile.passes) {
    constexpr int64_t kMaxPlanBytes = 1 << 20;
    ASSIGN_OR_RETURN(work.request.passes, ReadFile(*file, kMaxPlanBytes));
    work.request.passes_source = *file;
  }
  if (const std::string& folder = flags.compile.dump_folder; !folder.empty())
    RETURN_IF_ERROR(CreateFolder(folder));
  return work;
}

absl::StatusOr<ReadyNetwork> LoadNetwork(const ModelFlags& flags, const InputSources& inputs,
                                         Progress& progress) {
  ASSIGN_OR_RETURN(ModelWork work, OpenModel(flags, inputs, /*jobs=*/0, progress));
  return CompileModel(std::move(work.model), work.source, work.request);
}

}  // namespace attune
