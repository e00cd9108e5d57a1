#include "cli/model_flags.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/str_join.h"
#include "api/records.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/processors.h"
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

absl::Status CheckPrecision(const ModelFlags& flags) {
  if (flags.is_quantized() && flags.samples.folder.empty()) {
    return InvalidInput(
        "--precision ", flags.precision,
        ": which integers stand for which numbers is learned from samples; give attune compile "
        "or attune quantize a folder of them with --data");
  }
  if (!flags.is_quantized() && !flags.samples.folder.empty()) {
    return InvalidInput("--data: ", flags.precision, " needs no samples; give --precision int8 or auto too");
  }
  if (flags.precision != "fp16") return absl::OkStatus();
  return NotSupported(
      "NS --precision fp16: this processor's kernels do not compute in it; --weights fp16 stores "
      "weights so, and --precision bf16 computes in 16 bits");
}

absl::StatusOr<Target> CheckedTarget(const ModelFlags& flags, absl::StatusOr<Target> named) {
  ASSIGN_OR_RETURN(const Target target, std::move(named));
  const std::string_view dots = MissingForDotsOfBF16(target), matrices = MissingForMatricesOfBF16(target);
  if (flags.precision == "bf16" && !dots.empty())
    return NotSupported("NS --precision bf16: ", target.name, " has no ", dots,
                        "; leave the flag out, or give --weights bf16, which stores weights in 16 bits");
  if (flags.precision == "bf16x3" && !matrices.empty())
    return NotSupported("NS --precision bf16x3: ", target.name, " has no ", matrices,
                        ", without which three products of bf16 take longer than one of fp32; leave the flag "
                        "out");
  return target;
}

// Whether code is for this machine, so that it can be measured here while the network is optimized.
bool IsForThisMachine(const ModelFlags& flags) { return flags.cpus.empty() && flags.service == nullptr; }

// The targets that --cpu names, or the device.
absl::StatusOr<std::vector<Target>> TargetsOf(const ModelFlags& flags) {
  std::vector<Target> targets;
  for (const std::string& cpu : flags.cpus) {
    ASSIGN_OR_RETURN(targets.emplace_back(), CheckedTarget(flags, TargetByName(cpu)));
  }
  if (targets.empty()) {
    ASSIGN_OR_RETURN(
        targets.emplace_back(),
        CheckedTarget(flags, flags.service != nullptr ? flags.service->device().target : HostTarget()));
  }
  return targets;
}

// The only target, for decisions that are made once for all code.
absl::StatusOr<Target> TargetOf(const ModelFlags& flags) {
  ASSIGN_OR_RETURN(std::vector<Target> targets, TargetsOf(flags));
  if (targets.size() == 1) return std::move(targets.front());
  return InvalidInput("--cpu ", absl::StrJoin(flags.cpus, ","),
                      ": several are for attune compile, without int8 "
                      "and auto; give one");
}

absl::StatusOr<Network> OptimizeNetwork(const ModelFlags& flags, const Network& loaded,
                                        std::vector<NamedTensor> inputs, int jobs, Progress& progress) {
  ASSIGN_OR_RETURN(const PassPlan plan, ReadPlan(flags));
  if (!flags.dump.empty()) RETURN_IF_ERROR(CreateFolder(flags.dump));
  progress.Show("optimizing");
  const Network optimized = loaded.Optimize(plan, {.dump_folder = flags.dump,
                                                   .measure = IsForThisMachine(flags),
                                                   .examples = std::move(inputs),
                                                   .jobs = jobs,
                                                   .control = {.progress = &progress}});
  RETURN_IF_ERROR(optimized.status());
  return optimized;
}

// The chooser of kernels; null: the strategies' cost models choose.
absl::StatusOr<std::shared_ptr<const KernelChooser>> ChooserOf(const ModelFlags& flags) {
  // Records describe devices, not processors of a name.
  if (!flags.cpus.empty() || flags.records == "none") return nullptr;
  const std::string fingerprint =
      flags.service != nullptr ? flags.service->device().fingerprint : DeviceFingerprint();
  absl::StatusOr<std::shared_ptr<const KernelChooser>> chooser =
      LoadRecordChooser(flags.records, fingerprint, ThreadsOf(flags));
  if (chooser.ok() || !flags.records.empty()) return chooser;
  // The user did not ask for records, so a failure is only a note.
  PrintNote(absl::StrCat("compiled without records: ", chooser.status().message()));
  return nullptr;
}

// `others` are the same model at other input shapes.
absl::StatusOr<Network> CompileNetwork(const ModelFlags& flags, const ReadyNetwork& read,
                                       const std::vector<Network>& others, int jobs, Progress& progress,
                                       StageSeconds& seconds) {
  CompileOptions options;
  options.jobs = jobs;
  options.dump_folder = flags.dump;
  options.compress_constants = CompressesConstants(flags);
  ASSIGN_OR_RETURN(options.more_targets, TargetsOf(flags));
  options.target = options.more_targets.front();
  options.more_targets.erase(options.more_targets.begin());
  ASSIGN_OR_RETURN(const std::shared_ptr<const KernelChooser> chooser, ChooserOf(flags));
  options.chooser = chooser.get();
  options.control.progress = &progress;
  Stopwatch watch;
  ASSIGN_OR_RETURN(Network optimized, OptimizeNetwork(flags, read.network, read.inputs, jobs, progress));
  for (const Network& other : others) {
    ASSIGN_OR_RETURN(const Network at_others, OptimizeNetwork(flags, other, read.inputs, jobs, progress));
    optimized = optimized.WithShapesOf(at_others);
  }
  seconds.optimize = watch.Lap();
  progress.Show("compiling");
  const Network compiled = optimized.Compile(options);
  seconds.compile = watch.Lap();
  RETURN_IF_ERROR(compiled.status());
  return compiled;
}

absl::Status QuantizeNetwork(const ModelFlags& flags, const Samples& samples, Progress& progress,
                             StageSeconds& seconds, Network& network) {
  ASSIGN_OR_RETURN(const Target target, TargetOf(flags));
  QuantizeOptions options = QuantizeOptionsOf(flags.precision, flags.samples, target, IsForThisMachine(flags),
                                              {.progress = &progress});
  options.threads = flags.threads;
  const Stopwatch watch;
  network = network.Quantize(samples, options);
  seconds.quantize = watch.Seconds();
  return network.status();
}

// The model as it is in its file, quantized if the flags ask for that, and the inputs that the command line
// gives.
absl::StatusOr<ReadyNetwork> ReadNetwork(const ModelFlags& flags, const InputSources& input_flags,
                                         Progress& progress, StageSeconds& seconds) {
  RETURN_IF_ERROR(CheckPrecision(flags));
  progress.Show("reading the model");
  if (IsArtifact(flags.model)) ExplainLostFile(flags.model);
  const SampleOptions* samples = flags.is_quantized() ? &flags.samples : nullptr;
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
  if (flags.is_quantized())
    RETURN_IF_ERROR(QuantizeNetwork(flags, givens.samples, progress, seconds, read.network));
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
      ->check(CLI::IsMember({"fp32", "bf16", "bf16x3", "fp16", "int8", "auto"}));
  command
      .add_option(
          "--weights", flags.weights,
          "fp32, or fp16 or bf16: round weights and store them in 16 bits each; kernels compute as before, "
          "and those that wait for weights read half the bytes")
      ->check(CLI::IsMember({"fp32", "fp16", "bf16"}));
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

bool CompressesConstants(const ModelFlags& flags) { return flags.compact || flags.weights != "fp32"; }

int ThreadsOf(const ModelFlags& flags) {
  if (flags.threads > 0) return flags.threads;
  return flags.service == nullptr ? Processors() : static_cast<int>(flags.service->device().usable.size());
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

absl::StatusOr<PassPlan> ReadPlan(const ModelFlags& flags) {
  PassPlan plan = DefaultPlan();
  if (!flags.passes.empty()) {
    constexpr int64_t kMaxPlanBytes = 1 << 20;
    ASSIGN_OR_RETURN(const std::string text, ReadFile(flags.passes, kMaxPlanBytes));
    absl::StatusOr<PassPlan> given = ParsePassPlan(text);
    if (!given.ok()) return Annotate(given.status(), flags.passes);
    plan = *std::move(given);
  }
  if (flags.precision == "bf16") RETURN_IF_ERROR(Annotate(SetBF16(plan), flags.passes));
  if (flags.precision == "bf16x3") RETURN_IF_ERROR(Annotate(SetBF16x3(plan), flags.passes));
  if (flags.weights == "fp16") RETURN_IF_ERROR(Annotate(SetWeights(plan, DType::kF16), flags.passes));
  if (flags.weights == "bf16") RETURN_IF_ERROR(Annotate(SetWeights(plan, DType::kBF16), flags.passes));
  if (flags.unchecked_indices) SetUncheckedIndices(plan);
  return plan;
}

absl::StatusOr<Network> LoadOptimized(const ModelFlags& flags, const InputSources& input_flags,
                                      Progress& progress) {
  StageSeconds seconds;
  ASSIGN_OR_RETURN(ReadyNetwork read, ReadNetwork(flags, input_flags, progress, seconds));
  RETURN_IF_ERROR(TargetOf(flags).status());
  return OptimizeNetwork(flags, read.network, std::move(read.inputs), 0, progress);
}

absl::StatusOr<std::vector<PlannedContraction>> PlanContractions(const ModelFlags& flags,
                                                                 const InputSources& inputs,
                                                                 Progress& progress) {
  ASSIGN_OR_RETURN(const Network optimized, LoadOptimized(flags, inputs, progress));
  progress.Show("planning");
  CompileOptions options;
  ASSIGN_OR_RETURN(options.target, TargetOf(flags));
  ASSIGN_OR_RETURN(const std::shared_ptr<const KernelChooser> chooser, ChooserOf(flags));
  options.chooser = chooser.get();
  return optimized.Contractions(options);
}

absl::StatusOr<ReadyNetwork> LoadNetwork(const ModelFlags& flags, const InputSources& input_flags, int jobs,
                                         Progress& progress, StageSeconds* seconds,
                                         const std::vector<std::string>& shape_sets) {
  StageSeconds local;
  StageSeconds& times = seconds == nullptr ? local : *seconds;
  if (!shape_sets.empty() && flags.is_quantized()) {
    return InvalidInput("--shapes: samples have one shape; give --shapes without --precision ",
                        flags.precision, ", for the model that attune quantize writes");
  }
  std::vector<ReadyNetwork> read;
  for (size_t i = 0; i < std::max<size_t>(shape_sets.size(), 1); ++i) {
    ModelFlags at_shapes = flags;
    if (!shape_sets.empty())
      std::ranges::copy(ShapesOfSet(shape_sets[i]), std::back_inserter(at_shapes.shapes));
    ASSIGN_OR_RETURN(ReadyNetwork at_set, ReadNetwork(at_shapes, input_flags, progress, times));
    read.push_back(std::move(at_set));
  }
  ReadyNetwork ready = std::move(read.front());
  if (ready.network.is_compiled()) {
    RETURN_IF_ERROR(CheckArtifactFlags(flags));
    return ready;
  }
  std::vector<Network> others;
  for (size_t i = 1; i < read.size(); ++i) others.push_back(std::move(read[i].network));
  ASSIGN_OR_RETURN(ready.network, CompileNetwork(flags, ready, others, jobs, progress, times));
  return ready;
}

}  // namespace attune
