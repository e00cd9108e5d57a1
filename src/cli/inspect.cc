// attune inspect MODEL|OUT.atn
#include <memory>
#include <optional>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/dtype.h"
#include "base/printable.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/contractions_view.h"
#include "cli/model_flags.h"

namespace attune {
namespace {

struct Flags {
  ModelFlags model;
  InputFlags inputs;
  bool only_contractions = false;
};

std::string TypeText(const TensorInfo& tensor) {
  std::vector<std::string> dims;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    dims.push_back(absl::StrCat(tensor.dim_slots[d] < 0 ? "" : "<=", tensor.shape[d]));
  }
  return absl::StrCat(DTypeName(static_cast<DType>(tensor.dtype)), "[", absl::StrJoin(dims, ","), "]");
}

std::string Ports(const std::vector<Port>& ports, const Manifest& manifest) {
  std::vector<std::string> texts;
  for (const Port& port : ports) {
    texts.push_back(absl::StrCat(WithoutControls(port.name), " ", TypeText(manifest.tensors[port.tensor])));
  }
  return absl::StrJoin(texts, ", ");
}

std::string Heading(const NetworkDescription& d) {
  const Manifest& m = d.manifest;
  const std::string& sha256 = m.provenance.model_sha256;
  const auto clean = [](std::string_view text) { return WithoutControls(text); };
  return absl::StrFormat(
      "model     %s (sha256 %s)\nmade by   %s for %s (%s)\ninputs    %s\noutputs   %s\n"
      "sizes     code %s, weights %s, memory %s a session and %s a thread\n",
      clean(m.provenance.model_name), sha256.empty() ? "unknown" : clean(sha256),
      clean(m.provenance.compiler_version), clean(m.target.cpu),
      clean(absl::StrJoin(m.target.features, ", ")), Ports(m.inputs, m), Ports(m.outputs, m),
      FormatBytes(d.code_bytes), FormatWeights(d.stored_constant_bytes, d.constant_bytes),
      FormatBytes(m.arena_bytes), FormatBytes(m.scratch_bytes));
}

// How the weights are written in the file; nothing where they are there as in memory.
std::string WeightsTable(const NetworkDescription& d) {
  if (d.constant_storage.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"bytes in the file", "in memory", "ranges", "written as"}};
  for (const ConstantStorage& storage : d.constant_storage) {
    rows.push_back({absl::StrCat(storage.stored_bytes), absl::StrCat(storage.bytes),
                    absl::StrCat(storage.ranges), storage.encoding});
  }
  return absl::StrCat("\nWeights\n\n", FormatTable(rows, {true, true, true, false}));
}

std::string MemoryTable(const NetworkDescription& d) {
  std::vector<std::vector<std::string>> rows = {{"offset", "bytes", "place", "steps", "tensor", "type"}};
  for (size_t i = 0; i < d.uses.size(); ++i) {
    const TensorInfo& tensor = d.manifest.tensors[i];
    const TensorUse& use = d.uses[i];
    rows.push_back({absl::StrCat(tensor.offset), absl::StrCat(tensor.bytes),
                    tensor.place == Place::kArena ? "memory" : "weights",
                    use.first < 0 ? "" : absl::StrCat(use.first, "-", use.last), tensor.name,
                    TypeText(tensor)});
  }
  return FormatTable(rows, {true, true, false, true, false, false});
}

std::string KernelTable(const Manifest& manifest) {
  std::vector<uint64_t> calls(manifest.kernels.size(), 0);
  for (const Instruction& instruction : manifest.program) {
    if (instruction.opcode == Opcode::kCall) ++calls[instruction.kernel];
  }
  std::vector<std::vector<std::string>> rows = {
      {"calls", "MFLOP", "KB read", "KB written", "operator", "strategy", "kernel"}};
  for (size_t i = 0; i < manifest.kernels.size(); ++i) {
    const KernelInfo& kernel = manifest.kernels[i];
    rows.push_back({absl::StrCat(calls[i]), absl::StrFormat("%.3f", static_cast<double>(kernel.flops) * 1e-6),
                    absl::StrFormat("%.1f", static_cast<double>(kernel.bytes_read) * 1e-3),
                    absl::StrFormat("%.1f", static_cast<double>(kernel.bytes_written) * 1e-3), kernel.op,
                    kernel.strategy, kernel.name});
  }
  return FormatTable(rows, {true, true, true, true, false, false, false});
}

Json PortsJson(const std::vector<Port>& ports) {
  Json json = Json::array();
  for (const Port& port : ports) json.push_back({{"name", port.name}, {"tensor", port.tensor}});
  return json;
}

Json WeightsJson(const NetworkDescription& d) {
  Json weights = Json::array();
  for (const ConstantStorage& storage : d.constant_storage) {
    weights.push_back({{"encoding", storage.encoding},
                       {"ranges", storage.ranges},
                       {"bytes", storage.bytes},
                       {"stored_bytes", storage.stored_bytes}});
  }
  return weights;
}

Json TensorsJson(const NetworkDescription& d) {
  Json tensors = Json::array();
  for (size_t i = 0; i < d.uses.size(); ++i) {
    const TensorInfo& tensor = d.manifest.tensors[i];
    tensors.push_back({{"name", tensor.name},
                       {"dtype", DTypeName(static_cast<DType>(tensor.dtype))},
                       {"shape", tensor.shape},
                       {"place", tensor.place == Place::kArena ? "memory" : "weights"},
                       {"offset", tensor.offset},
                       {"bytes", tensor.bytes},
                       {"first_step", d.uses[i].first},
                       {"last_step", d.uses[i].last}});
  }
  return tensors;
}

Json ToJson(const NetworkDescription& d) {
  const Manifest& m = d.manifest;
  Json kernels = Json::array(), program = Json::array();
  for (const KernelInfo& kernel : m.kernels) {
    kernels.push_back({{"name", kernel.name},
                       {"op", kernel.op},
                       {"strategy", kernel.strategy},
                       {"digest", kernel.digest},
                       {"flops", kernel.flops},
                       {"bytes_read", kernel.bytes_read},
                       {"bytes_written", kernel.bytes_written}});
  }
  constexpr std::string_view kOpcodes[] = {"call", "jump", "branch_if_false", "copy"};
  for (const Instruction& step : m.program) {
    Json json = {{"opcode", kOpcodes[static_cast<size_t>(step.opcode)]},
                 {"tensors", step.tensors},
                 {"label", step.label}};
    if (step.opcode == Opcode::kCall) {
      json["kernel"] = step.kernel;
      json["parallel"] = m.kernels[step.kernel].interface.parallel;
    } else if (step.opcode != Opcode::kCopy) {
      json["target"] = step.target;
    }
    program.push_back(std::move(json));
  }
  return {{"model", {{"name", m.provenance.model_name}, {"sha256", m.provenance.model_sha256}}},
          {"compiler", m.provenance.compiler_version},
          {"target", {{"arch", m.target.arch}, {"cpu", m.target.cpu}, {"features", m.target.features}}},
          {"pass_plan", m.provenance.pass_plan},
          {"graph", m.graph_summary},
          {"bytes",
           {{"file", d.file_bytes},
            {"code", d.code_bytes},
            {"constants", d.constant_bytes},
            {"constants_stored", d.stored_constant_bytes},
            {"arena", m.arena_bytes},
            {"scratch", m.scratch_bytes}}},
          {"weights", WeightsJson(d)},
          {"inputs", PortsJson(m.inputs)},
          {"outputs", PortsJson(m.outputs)},
          {"tensors", TensorsJson(d)},
          {"kernels", std::move(kernels)},
          {"program", std::move(program)}};
}

absl::Status InspectContractions(const Flags& flags) {
  std::vector<Contraction> contractions;
  {
    Progress progress;
    ASSIGN_OR_RETURN(contractions, PlanContractions(flags.model, flags.inputs, progress));
  }
  if (!flags.model.json.empty()) {
    RETURN_IF_ERROR(WriteJson({{"contractions", ToJson(contractions)}}, flags.model.json));
  }
  if (flags.model.json != "-") PrintResult(ContractionTables(contractions));
  return absl::OkStatus();
}

absl::Status Inspect(const Flags& flags) {
  if (flags.only_contractions) return InspectContractions(flags);
  NetworkDescription description;
  std::optional<std::vector<Contraction>> contractions;  // of a model
  {
    Progress progress;
    ASSIGN_OR_RETURN(const ReadyNetwork ready, LoadNetwork(flags.model, flags.inputs, 0, progress));
    ASSIGN_OR_RETURN(description, ready.network.Describe());
    if (!ready.network.artifact().empty()) contractions = ready.network.compile_report().contractions;
  }
  if (!flags.model.json.empty()) {
    Json json = ToJson(description);
    if (contractions.has_value()) json["contractions"] = ToJson(*contractions);
    RETURN_IF_ERROR(WriteJson(json, flags.model.json));
  }
  if (flags.model.json == "-") return absl::OkStatus();
  PrintResult(Heading(description));
  PrintResult(absl::StrCat("\nGraph\n\n", description.manifest.graph_summary));
  PrintResult(WeightsTable(description));
  PrintResult(absl::StrCat("\nMemory plan: ", FormatBytes(description.manifest.arena_bytes), "\n\n",
                           MemoryTable(description)));
  PrintResult(absl::StrCat("\nKernels\n\n", KernelTable(description.manifest)));
  if (contractions.has_value() && !contractions->empty())
    PrintResult(absl::StrCat("\nContractions\n\n", ContractionTables(*contractions)));
  return absl::OkStatus();
}

}  // namespace

void AddInspectCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("inspect", "Show the optimized graph, the memory plan and the kernels");
  auto flags = std::make_shared<Flags>();
  flags->model.describe_only = true;
  AddModelFlags(*command, flags->model, "threads that compile");
  AddInputFlags(*command, flags->inputs);
  command->add_flag("--contractions", flags->only_contractions,
                    "of a model: only how each convolution and matrix product would be computed, and why not "
                    "faster; generates no code");
  command->callback(
      [flags, &action] { action = ModelAction(flags->model, [flags] { return Inspect(*flags); }); });
}

}  // namespace attune
