// attune quantize MODEL --data FOLDER -o Q.onnx
#include "api/quantize.h"

#include <memory>
#include <optional>
#include <utility>

#include "api/givens.h"
#include "api/network.h"
#include "api/opened_model.h"
#include "api/pipeline.h"
#include "base/file.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/destinations.h"
#include "cli/inputs.h"
#include "cli/samples.h"
#include "cli/source_flags.h"

namespace attune {
namespace {

struct Flags : SourceFlags {
  std::string output, plan, json;
  std::string calibration = "mse", precision = "int8";
  InputSources inputs;
  SampleOptions samples;
  double percentile = 99.99;
  int clusters = 0, threads = 0;
  bool keeps_ranges = false, keeps_biases = false;
};

absl::StatusOr<QuantizeOptions> OptionsOf(const Flags& flags, Progress& progress) {
  CompileRequest request;
  request.precision = *ParsePrecision(flags.precision);
  request.threads = flags.threads;
  request.control.progress = &progress;
  ASSIGN_OR_RETURN(QuantizeOptions options, QuantizeOptionsFor(request, flags.samples));
  options.calibration.method = *quant::ParseRangeMethod(flags.calibration);
  options.calibration.percentile = flags.percentile;
  options.clusters = flags.clusters;
  options.equalizes = !flags.keeps_ranges;
  options.corrects_biases = !flags.keeps_biases;
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
  if (!LeaveStdout({flags.output, flags.plan, flags.json})) return absl::OkStatus();
  PrintResult(quant::ToText(model.report));
  const std::string_view compact = flags.clusters > 0 ? ", and --compact stores its weights as indices" : "";
  PrintResult(absl::StrCat("wrote ", flags.output, "; compile it with attune compile to run it in integers",
                           compact, "\n"));
  return absl::OkStatus();
}

// The model, and the samples to quantize it with.
struct Source {
  Network network;
  Samples samples;
};

absl::StatusOr<Source> Load(const Flags& flags, Progress& progress) {
  ASSIGN_OR_RETURN(OpenedModel model, OpenedModel::Open(flags.model, {flags.signature, {}}));
  RETURN_IF_ERROR(model.CheckIsModel());
  ASSIGN_OR_RETURN(Givens givens,
                   ReadGivens(model, flags.shapes, flags.inputs, &flags.samples, {.progress = &progress}));
  return Source{Network::Load(model, givens.options), std::move(givens.samples)};
}

absl::Status Quantize(const Flags& flags) {
  std::optional<Network> network;
  {
    Progress progress;
    progress.Show("reading the model");
    ASSIGN_OR_RETURN(const Source source, Load(flags, progress));
    ASSIGN_OR_RETURN(const QuantizeOptions options, OptionsOf(flags, progress));
    network = source.network.Quantize(source.samples, options);
    RETURN_IF_ERROR(network->status());
    progress.Show("writing");
    RETURN_IF_ERROR(SaveOnnx(*network->quantized(), flags.output));
  }
  return WriteResults(flags, *network->quantized());
}

}  // namespace

void AddQuantizeCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("quantize", "Quantize a model to 8-bit integers, calibrated by samples");
  auto flags = std::make_shared<Flags>();
  AddSourceFlags(*command, *flags, "a model: ONNX, TensorFlow Lite, TensorFlow or exported PyTorch");
  command->get_option("MODEL")->required();
  AddSampleFlags(*command, flags->samples, /*needed=*/true);
  AddOutputFlag(*command, "-o,--output", flags->output, "the quantized model to write (ONNX)")->required();
  command
      ->add_option("--calibration", flags->calibration,
                   "how samples set ranges: min-max, percentile, entropy or mse (default)")
      ->check(CLI::IsMember({"min-max", "percentile", "entropy", "mse"}));
  command
      ->add_option("--percentile", flags->percentile,
                   "the percentile for --calibration percentile (default: 99.99)")
      ->check(CLI::Range(50.0, 100.0));
  command
      ->add_option("--precision", flags->precision,
                   "int8 (default), or auto: layers that lose too much become bf16 where this processor has "
                   "it, or stay fp32")
      ->check(CLI::IsMember({"int8", "auto"}));
  command
      ->add_option("--clusters", flags->clusters,
                   "most different weights of a layer: 16 or 32 (default: all)")
      ->check(CLI::IsMember({16, 32}));
  command->add_flag("--no-equalization", flags->keeps_ranges, "do not change the ranges of weights");
  command->add_flag("--no-bias-correction", flags->keeps_biases, "do not correct biases");
  constexpr int kMaxThreads = 1024;
  command->add_option("--threads", flags->threads, "threads that compile and run (default: all processors)")
      ->check(CLI::Range(1, kMaxThreads));
  AddInputFlags(*command, flags->inputs);
  AddOutputFlag(*command, "--plan", flags->plan, "write the ranges and precisions here (JSON)");
  command->add_option("--json", flags->json, "write the results as JSON to this file, or to stdout for -");
  command->callback([flags, &action] {
    RequireOneStdout({flags->output, flags->plan, flags->json});
    action = [flags] { return Quantize(*flags); };
  });
}

}  // namespace attune
