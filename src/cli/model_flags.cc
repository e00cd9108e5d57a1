#include "cli/model_flags.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/strings/str_join.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "cli/on_device.h"
#include "fleet/client/joined_fleet.h"

namespace attune {
namespace {

constexpr int kMaxThreads = 1024;

// A flag that says how a model becomes an artifact.
struct CompilingFlag {
  const char* name;  // without dashes
  bool (*is_given)(const ModelFlags& flags);
};
constexpr CompilingFlag kCompilingFlags[] = {
    {"cpu", [](const ModelFlags& flags) { return !flags.cpus.empty(); }},
    {"passes", [](const ModelFlags& flags) { return !flags.passes.empty(); }},
    {"dump", [](const ModelFlags& flags) { return !flags.dump.empty(); }},
    {"records", [](const ModelFlags& flags) { return !flags.records.empty(); }},
    {"precision", [](const ModelFlags& flags) { return flags.precision != "fp32"; }},
    {"weights", [](const ModelFlags& flags) { return flags.weights != "fp32"; }},
    {"compact", [](const ModelFlags& flags) { return flags.compact; }},
    {"unchecked-indices", [](const ModelFlags& flags) { return flags.unchecked_indices; }}};

// Ok, or an error that names the flag that cannot apply to an artifact.
absl::Status CheckArtifactFlags(const ModelFlags& flags) {
  for (const CompilingFlag& flag : kCompilingFlags) {
    if (!flag.is_given(flags)) continue;
    return InvalidInput(flags.model, ": is compiled already, so --", flag.name,
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
        "--precision ", flags.precision,
        ": which integers stand for which numbers is learned from samples; give attune compile "
        "or attune quantize a folder of them with --data");
  }
  if (!request.is_quantized() && !flags.samples.folder.empty()) {
    return InvalidInput("--data: ", flags.precision, " needs no samples; give --precision int8 or auto too");
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
  request.precision = *ParsePrecision(flags.precision);
  request.weights = *ParseWeightType(flags.weights);
  request.compact = flags.compact;
  request.unchecked_indices = flags.unchecked_indices;
  request.cpus = flags.cpus;
  request.service = flags.service;
  request.records = flags.records;
  request.threads = flags.threads;
  request.jobs = jobs;
  request.dump_folder = flags.dump;
  request.control.progress = &progress;
  request.note = PrintNote;
  return request;
}

}  // namespace

void AddModelFlags(CLI::App& command, ModelFlags& flags, const std::string& thread_help) {
  AddSourceFlags(command, flags,
                 "a model (ONNX, TensorFlow Lite, TensorFlow, exported PyTorch), or an artifact that attune "
                 "compile made");
  command.add_option("--threads", flags.threads, thread_help + " (default: as many as processors)")
      ->check(CLI::Range(1, kMaxThreads));
  command
      .add_option(
          "--cpu", flags.cpus,
          absl::StrCat("processor to compile for, or several, separated by commas, of which the runtime "
                       "takes the best that runs: ",
                       absl::StrJoin(TargetNames(), ", "), " (default: this machine)"))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(TargetNames()));
  AddOnFlag(command, flags.on);
  command
      .add_option(
          "--precision", flags.precision,
          "fp32, bf16, bf16x3 (fp32 but for products, each of them the sum of three of bf16, which keep "
          "about 16 bits), fp16, int8 or auto")
      ->check(CLI::IsMember(PrecisionNames()));
  command
      .add_option(
          "--weights", flags.weights,
          "fp32, or fp16 or bf16: round weights and store them in 16 bits each; kernels compute as before, "
          "and those that wait for weights read half the bytes")
      ->check(CLI::IsMember(WeightTypeNames()));
  command.add_flag("--compact", flags.compact,
                   "compress weights without loss, such as those of few values: a smaller file, which takes "
                   "longer to load and more memory of its own");
  command.add_flag("--unchecked-indices", flags.unchecked_indices,
                   "clamp indices of gathers, scatters and embeddings that are out of range; without it they "
                   "are an error");
  command.add_option("--passes", flags.passes, "file with the pass plan; \"print\" prints the default one");
  command.add_option("--dump", flags.dump, "folder for the graph after each pass and for each kernel's code");
  command.add_option("--records", flags.records,
                     "database of tuning records that kernels are chosen by, or none (default: the one that "
                     "attune records shows, if there is one)");
  command.add_option("--json", flags.json, "write the results as JSON to this file, or to stdout for -");
}

bool IsForCompiling(std::string_view flag) {
  return std::ranges::any_of(kCompilingFlags, [&](const CompilingFlag& known) { return flag == known.name; });
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
  if (!flags.cpus.empty())
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
  if (!flags.passes.empty()) {
    constexpr int64_t kMaxPlanBytes = 1 << 20;
    ASSIGN_OR_RETURN(work.request.passes, ReadFile(flags.passes, kMaxPlanBytes));
    work.request.passes_source = flags.passes;
  }
  if (!flags.dump.empty()) RETURN_IF_ERROR(CreateFolder(flags.dump));
  return work;
}

absl::StatusOr<ReadyNetwork> LoadNetwork(const ModelFlags& flags, const InputSources& inputs,
                                         Progress& progress) {
  ASSIGN_OR_RETURN(ModelWork work, OpenModel(flags, inputs, /*jobs=*/0, progress));
  return CompileModel(std::move(work.model), work.source, work.request);
}

}  // namespace attune
