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
#include "cli/option_flags.h"
#include "cli/source_flags.h"

namespace attune {
namespace {

struct QuantizeFlags : SourceFlags {
  std::string output, plan, json;
  InputSources inputs;
  SampleSettings samples;
  QuantizeSettings quantize;
};

absl::StatusOr<QuantizeOptions> OptionsOf(const QuantizeFlags& flags, Progress& progress) {
  CompileRequest request;
  request.precision = flags.quantize.is_mixed ? Precision::kAuto : Precision::kInt8;
  request.threads = flags.quantize.threads;
  request.control.progress = &progress;
  return QuantizeOptionsFor(request, flags.samples, flags.quantize);
}

absl::Status WriteResults(const QuantizeFlags& flags, const QuantizedModel& model) {
  if (!flags.plan.empty()) RETURN_IF_ERROR(WriteFileAtomically(flags.plan, quant::ToJson(model.plan)));
  if (!flags.json.empty()) {
    Json json = quant::ToJson(model.report);
    json["model"] = flags.model;
    json["output"] = flags.output;
    json["calibration"] = Name(flags.quantize.calibration);
    RETURN_IF_ERROR(WriteJson(json, flags.json));
  }
  if (!LeaveStdout({flags.output, flags.plan, flags.json})) return absl::OkStatus();
  PrintResult(quant::ToText(model.report));
  const std::string_view compact =
      flags.quantize.clusters > 0 ? ", and --compact stores its weights as indices" : "";
  PrintResult(absl::StrCat("wrote ", flags.output, "; compile it with attune compile to run it in integers",
                           compact, "\n"));
  return absl::OkStatus();
}

// The model, and the samples to quantize it with.
struct Source {
  Network network;
  Samples samples;
};

absl::StatusOr<Source> Load(const QuantizeFlags& flags, Progress& progress) {
  ASSIGN_OR_RETURN(OpenedModel model, OpenedModel::Open(flags.model, {flags.signature, {}}));
  RETURN_IF_ERROR(model.CheckIsModel());
  ASSIGN_OR_RETURN(Givens givens,
                   ReadGivens(model, flags.shapes, flags.inputs, &flags.samples, {.progress = &progress}));
  Source source = {Network::Load(model, givens.options), std::move(givens.samples)};
  NoteRawPictures(givens, source.network, flags.inputs.note);
  return source;
}

absl::Status Quantize(const QuantizeFlags& flags) {
  std::optional<Network> network;
  {
    Progress progress;
    progress.Show("reading the model");
    ASSIGN_OR_RETURN(const Source source, Load(flags, progress));
    ASSIGN_OR_RETURN(const QuantizeOptions options, OptionsOf(flags, progress));
    network = source.network.Quantize(source.samples, options);
    RETURN_IF_ERROR(network->status());
    progress.Show("writing");
    RETURN_IF_ERROR(network->SaveOnnx(flags.output));
  }
  return WriteResults(flags, *network->quantized());
}

}  // namespace

void AddQuantizeCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("quantize", "Quantize a model to 8-bit integers, calibrated by samples");
  auto flags = std::make_shared<QuantizeFlags>();
  AddSourceFlags(*command, *flags, "a model: ONNX, TensorFlow Lite, TensorFlow or exported PyTorch");
  command->get_option("MODEL")->required();
  AddOptionFlags(*command, OptionsOf(flags->samples));
  command->get_option("--data")->required();
  AddOutputFlag(*command, "-o,--output", flags->output, "the quantized model to write (ONNX)")->required();
  AddOptionFlags(*command, OptionsOf(flags->quantize));
  AddInputFlags(*command, flags->inputs);
  AddOutputFlag(*command, "--plan", flags->plan, "write the ranges and precisions here (JSON)");
  command->add_option("--json", flags->json, "write the results as JSON to this file, or to stdout for -");
  command->callback([flags, &action] {
    RequireOneStdout({flags->output, flags->plan, flags->json});
    action = [flags] { return Quantize(*flags); };
  });
}

}  // namespace attune
