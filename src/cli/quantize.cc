// attune quantize MODEL --data FOLDER -o Q.onnx
#include "api/quantize.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "cli/shape_flag.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

struct Flags {
  std::string model, data, output, plan, json;
  std::string calibration = "mse", precision = "int8", max_drop = "1%";
  std::vector<std::string> shapes;
  InputFlags inputs;
  double percentile = 99.99;
  int clusters = 0, threads = 0;
  int64_t samples = 200;
  bool keeps_ranges = false, keeps_biases = false;
};

// "1%", or 0.01.
std::optional<double> ParseShare(const std::string& text) {
  absl::string_view number = text;
  const bool is_percent = absl::ConsumeSuffix(&number, "%");
  double share = 0;
  if (!absl::SimpleAtod(number, &share)) return std::nullopt;
  if (is_percent) share /= 100;
  return share >= 0 && share <= 1 ? std::optional(share) : std::nullopt;
}

// What the folder holds, by name; hidden files are no samples.
absl::StatusOr<std::vector<fs::path>> Entries(const std::string& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().filename().string().starts_with(".")) entries.push_back(it->path());
  }
  if (error) return InvalidInput(folder, ": cannot list the folder: ", error.message());
  std::ranges::sort(entries);
  return entries;
}

// The values of one sample: a file, of the one input that no flag gives, or a folder of files that are named
// as the inputs.
absl::StatusOr<std::vector<std::string>> ArgumentsOf(const fs::path& entry,
                                                     const std::vector<InputDeclaration>& open) {
  std::error_code error;
  if (!fs::is_directory(entry, error)) {
    if (open.size() == 1) return std::vector<std::string>{absl::StrCat(open[0].name, "=", entry.string())};
    return InvalidInput(entry.string(), ": the network takes ", open.size(),
                        " inputs, so a sample is a folder of files that are named as these");
  }
  std::vector<std::string> arguments;
  ASSIGN_OR_RETURN(const std::vector<fs::path> files, Entries(entry.string()));
  for (const fs::path& file : files) {
    arguments.push_back(absl::StrCat(file.stem().string(), "=", file.string()));
  }
  return arguments;
}

using Samples = std::vector<std::vector<NamedTensor>>;

absl::StatusOr<Samples> ReadSamples(const Flags& flags, const std::vector<InputDeclaration>& declarations,
                                    Progress& progress) {
  // What the command line gives is the same in every sample.
  ASSIGN_OR_RETURN(const GivenInputs fixed, ReadInputs(flags.inputs, declarations));
  if (!fixed.random.empty()) {
    return InvalidInput("--input: a network is calibrated with data, not with random numbers");
  }
  std::vector<InputDeclaration> open;
  for (const InputDeclaration& declaration : declarations) {
    const bool is_fixed = std::ranges::any_of(
        fixed.values, [&](const NamedTensor& value) { return value.name == declaration.name; });
    if (!is_fixed) open.push_back(declaration);
  }
  ASSIGN_OR_RETURN(std::vector<fs::path> entries, Entries(flags.data));
  if (entries.empty()) return InvalidInput(flags.data, ": holds no samples");
  if (std::ssize(entries) > flags.samples) entries.resize(static_cast<size_t>(flags.samples));
  Samples samples;
  for (const fs::path& entry : entries) {
    progress.Show(absl::StrCat("reading sample ", samples.size() + 1, " of ", entries.size()));
    InputFlags of_sample = flags.inputs;
    ASSIGN_OR_RETURN(of_sample.inputs, ArgumentsOf(entry, open));
    ASSIGN_OR_RETURN(GivenInputs given, ReadInputs(of_sample, open));
    std::ranges::copy(fixed.values, std::back_inserter(given.values));
    samples.push_back(std::move(given.values));
  }
  return samples;
}

QuantizeOptions OptionsOf(const Flags& flags, Progress& progress) {
  QuantizeOptions options;
  options.calibration.method = *quant::ParseRangeMethod(flags.calibration);
  options.calibration.percentile = flags.percentile;
  options.is_mixed = flags.precision == "auto";
  const absl::StatusOr<Target> host = HostTarget();
  if (host.ok() && host->Has("avx512_bf16")) options.otherwise = quant::Precision::kBF16;
  options.max_drop = *ParseShare(flags.max_drop);
  options.clusters = flags.clusters;
  options.equalizes = !flags.keeps_ranges;
  options.corrects_biases = !flags.keeps_biases;
  options.threads = flags.threads;
  options.progress = [&progress](std::string_view stage) { progress.Show(stage); };
  return options;
}

absl::Status WriteResults(const Flags& flags, const QuantizedModel& model) {
  if (!flags.plan.empty()) RETURN_IF_ERROR(WriteFileAtomically(flags.plan, quant::ToJson(model.plan)));
  if (!flags.json.empty()) {
    Json json = quant::ToJson(model.report);
    json["model"] = flags.model;
    json["output"] = flags.output;
    json["calibration"] = flags.calibration;
    RETURN_IF_ERROR(WriteJson(json, flags.json));
  }
  if (flags.json == "-") return absl::OkStatus();
  PrintResult(quant::ToText(model.report));
  const std::string_view compact = flags.clusters > 0 ? ", and --compact stores its weights as indices" : "";
  PrintResult(
      absl::StrCat("wrote ", flags.output, "; attune compile makes it run in integers", compact, "\n"));
  return absl::OkStatus();
}

absl::Status Quantize(const Flags& flags) {
  if (IsArtifact(flags.model)) {
    return InvalidInput(flags.model, ": is compiled already; give the model that it was made from");
  }
  QuantizedModel model;
  {
    Progress progress;
    progress.Show("reading the model");
    ModelOptions options;
    for (const std::string& text : flags.shapes) options.shapes.insert(*ParseShape(text));
    ASSIGN_OR_RETURN(std::vector<InputDeclaration> declarations, ReadInputDeclarations(flags.model));
    RETURN_IF_ERROR(Annotate(BindShapes(options.shapes, declarations), flags.model));
    ASSIGN_OR_RETURN(const Samples samples, ReadSamples(flags, declarations, progress));
    ASSIGN_OR_RETURN(model,
                     QuantizeModel(flags.model, std::move(options), samples, OptionsOf(flags, progress)));
    progress.Show("writing");
    RETURN_IF_ERROR(SaveOnnx(model, flags.output));
  }
  return WriteResults(flags, model);
}

}  // namespace

void AddQuantizeCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("quantize", "Make a model of 8-bit integers, by samples of what it is for");
  auto flags = std::make_shared<Flags>();
  command->add_option("MODEL", flags->model, "a model: ONNX, TensorFlow Lite, TensorFlow or exported PyTorch")
      ->required();
  command
      ->add_option(
          "--data", flags->data,
          "folder of samples: a file each (as of --input), or, of several inputs, a folder each with "
          "files named as the inputs")
      ->required();
  command->add_option("-o,--output", flags->output, "the quantized model to write (ONNX)")->required();
  command
      ->add_option("--calibration", flags->calibration,
                   "how ranges follow from the samples: min-max, percentile, entropy or mse (default)")
      ->check(CLI::IsMember({"min-max", "percentile", "entropy", "mse"}));
  command->add_option("--percentile", flags->percentile, "what percentile keeps (default: 99.99)")
      ->check(CLI::Range(50.0, 100.0));
  command
      ->add_option(
          "--precision", flags->precision,
          "int8 (default), or auto: layers that cost too much become bf16 where this processor has it, or "
          "stay fp32")
      ->check(CLI::IsMember({"int8", "auto"}));
  command->add_option("--max-drop", flags->max_drop, "what auto may lose of the agreement (default: 1%)")
      ->check([](const std::string& text) {
        return ParseShare(text).has_value() ? "" : "\"" + text + "\" is no share like 1% or 0.01";
      });
  command->add_option("--clusters", flags->clusters, "different weights of a layer: 16 or 32 (default: all)")
      ->check(CLI::IsMember({16, 32}));
  command->add_option("--samples", flags->samples, "how many samples are read at most (default: 200)")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}));
  command->add_flag("--no-equalization", flags->keeps_ranges, "leave the ranges of weights as they are");
  command->add_flag("--no-bias-correction", flags->keeps_biases, "leave biases as they are");
  constexpr int kMaxThreads = 1024;
  command->add_option("--threads", flags->threads, "threads that compile and run (default: all processors)")
      ->check(CLI::Range(1, kMaxThreads));
  AddShapeFlag(*command, flags->shapes);
  AddInputFlags(*command, flags->inputs);
  command->add_option("--plan", flags->plan, "write the ranges and precisions here (JSON)");
  command->add_option("--json", flags->json, "write the results as JSON to this file, or to stdout for -");
  command->callback([flags, &action] { action = [flags] { return Quantize(*flags); }; });
}

}  // namespace attune
