#include "cli/model_flags.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_join.h"
#include "api/fleet_device.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "cli/on_device.h"

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

absl::Status QuantizeNetwork(const ModelFlags& flags, const CompileRequest& request, const Samples& samples,
                             StageSeconds& seconds, Network& network) {
  ASSIGN_OR_RETURN(const QuantizeOptions options, QuantizeOptionsFor(request, flags.samples));
  const Stopwatch watch;
  network = network.Quantize(samples, options);
  seconds.quantize = watch.Seconds();
  return network.status();
}

// The model as it is in its file, quantized if the flags ask for that, and the inputs that the command line
// gives.
absl::StatusOr<ReadyNetwork> ReadNetwork(const ModelFlags& flags, const CompileRequest& request,
                                         const InputSources& input_flags, Progress& progress,
                                         StageSeconds& seconds) {
  const SampleOptions* samples = request.is_quantized() ? &flags.samples : nullptr;
  ASSIGN_OR_RETURN(Givens givens, ReadGivens(flags, input_flags, samples, progress));
  ASSIGN_OR_RETURN(givens.options.artifact, ReadArtifactFlags(flags.artifact));
  givens.options.artifact.describe_only = flags.describe_only || flags.service != nullptr;
  const Stopwatch watch;
  ReadyNetwork read = {Network::Load(flags.model, givens.options), std::move(givens.inputs.values)};
  seconds.load = watch.Seconds();
  RETURN_IF_ERROR(read.network.status());
  for (const auto& [name, seed] : givens.inputs.random) {
    ASSIGN_OR_RETURN(Tensor tensor, read.network.RandomInput(name, seed));
    read.inputs.push_back({name, std::move(tensor)});
  }
  if (request.is_quantized())
    RETURN_IF_ERROR(QuantizeNetwork(flags, request, givens.samples, seconds, read.network));
  return read;
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
    ASSIGN_OR_RETURN(flags.service, OpenFleetDevice(flags.on));
    return on_device();
  };
}

absl::StatusOr<CompileRequest> RequestOf(const ModelFlags& flags, int jobs, Progress& progress) {
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
  RETURN_IF_ERROR(CheckPrecision(request.precision));
  RETURN_IF_ERROR(CheckSamples(flags, request));
  progress.Show("reading the model");
  if (IsArtifact(flags.model)) {
    ExplainLostFile(flags.model);
    RETURN_IF_ERROR(CheckArtifactFlags(flags));
    return request;
  }
  if (!flags.passes.empty()) {
    constexpr int64_t kMaxPlanBytes = 1 << 20;
    ASSIGN_OR_RETURN(request.passes, ReadFile(flags.passes, kMaxPlanBytes));
    request.passes_source = flags.passes;
  }
  if (!flags.dump.empty()) RETURN_IF_ERROR(CreateFolder(flags.dump));
  return request;
}

absl::StatusOr<Network> LoadOptimized(const ModelFlags& flags, const CompileRequest& request,
                                      const InputSources& input_flags, Progress& progress) {
  StageSeconds seconds;
  ASSIGN_OR_RETURN(const ReadyNetwork read, ReadNetwork(flags, request, input_flags, progress, seconds));
  RETURN_IF_ERROR(TargetOf(request).status());
  return OptimizeFor(read.network, request, read.inputs);
}

absl::StatusOr<std::vector<PlannedContraction>> PlanContractions(const ModelFlags& flags,
                                                                 const InputSources& inputs,
                                                                 Progress& progress) {
  ASSIGN_OR_RETURN(const CompileRequest request, RequestOf(flags, 0, progress));
  ASSIGN_OR_RETURN(const Network optimized, LoadOptimized(flags, request, inputs, progress));
  progress.Show("planning");
  CompileOptions options;
  ASSIGN_OR_RETURN(options.target, TargetOf(request));
  ASSIGN_OR_RETURN(const std::shared_ptr<const KernelChooser> chooser, ChooserOf(request));
  options.chooser = chooser.get();
  return optimized.Contractions(options);
}

absl::StatusOr<ReadyNetwork> LoadNetwork(const ModelFlags& flags, const InputSources& input_flags, int jobs,
                                         Progress& progress, StageSeconds* seconds,
                                         const std::vector<std::string>& shape_sets) {
  StageSeconds local;
  StageSeconds& times = seconds == nullptr ? local : *seconds;
  ASSIGN_OR_RETURN(const CompileRequest request, RequestOf(flags, jobs, progress));
  if (!shape_sets.empty() && request.is_quantized()) {
    return InvalidInput("--shapes: samples have one shape; give --shapes without --precision ",
                        flags.precision, ", for the model that attune quantize writes");
  }
  std::vector<Network> imported;
  std::optional<std::vector<NamedTensor>> inputs;  // of the first set of shapes
  for (size_t i = 0; i < std::max<size_t>(shape_sets.size(), 1); ++i) {
    ModelFlags at_shapes = flags;
    if (!shape_sets.empty())
      std::ranges::copy(ShapesOfSet(shape_sets[i]), std::back_inserter(at_shapes.shapes));
    ASSIGN_OR_RETURN(ReadyNetwork read, ReadNetwork(at_shapes, request, input_flags, progress, times));
    imported.push_back(std::move(read.network));
    if (!inputs.has_value()) inputs = std::move(read.inputs);
  }
  ReadyNetwork ready = {imported.front(), *std::move(inputs)};
  if (ready.network.is_compiled()) return ready;
  ASSIGN_OR_RETURN(ready.network, OptimizeAndCompileFor(imported, request, ready.inputs, times));
  return ready;
}

}  // namespace attune
