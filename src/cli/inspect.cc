// attune inspect MODEL|OUT.atn
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/dtype.h"
#include "base/printable.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/contractions_view.h"
#include "cli/model_flags.h"
#include "cli/sizes_view.h"

namespace attune {
namespace {

struct InspectFlags {
  ModelFlags model;
  InputSources inputs;
  bool only_contractions = false;
};

std::string Ports(const std::vector<Port>& ports, const Program& program) {
  std::vector<std::string> texts;
  for (const Port& port : ports) {
    texts.push_back(
        absl::StrCat(WithoutControls(port.name), " ", TypeText(program.tensors[port.tensor], program)));
  }
  return absl::StrJoin(texts, ", ");
}

std::string Heading(const NetworkDescription& d) {
  const Provenance& provenance = d.manifest.provenance;
  const TargetInfo& target = d.variant().target;
  const Program& program = d.program();
  const std::string& sha256 = provenance.model_sha256;
  const auto clean = [](std::string_view text) { return WithoutControls(text); };
  return absl::StrFormat(
      "model     %s (sha256 %s)\nmade by   %s for %s (%s)\ninputs    %s\noutputs   %s\n"
      "sizes     code %s, weights %s, memory %s and %s a thread\n%s",
      clean(provenance.model_name), sha256.empty() ? "unknown" : clean(sha256),
      clean(provenance.compiler_version), clean(target.cpu), clean(absl::StrJoin(target.features, ", ")),
      Ports(program.inputs, program), Ports(program.outputs, program), FormatBytes(d.code_bytes),
      FormatWeights(d.stored_constant_bytes, d.weight_bytes()), SessionMemory(d.variant()),
      FormatBytes(d.variant().scratch_bytes),
      d.has_unchecked_indices() ? "indices   out of range are clamped (--unchecked-indices)\n" : "");
}

// The signer of the artifact; inspect trusts no key, and so does not verify it.
std::string Signers(const NetworkDescription& d) {
  std::vector<std::string> ids;
  for (const ArtifactSignature& signature : d.signatures) ids.push_back(KeyId(signature.key));
  return absl::StrCat("signed by ", ids.empty() ? "nobody" : absl::StrJoin(ids, ", "),
                      ids.empty() ? "" : " (attune run --trust KEY verifies it)", "\n");
}

// The variants and programs of the artifact; empty if there is only one.
std::string VariantTable(const NetworkDescription& d) {
  std::vector<std::vector<std::string>> rows = {
      {"processor", "kernels", "bytes prepacked", "memory", "inputs"}};
  for (const Variant& variant : d.manifest.variants) {
    for (const Program& program : variant.programs) {
      rows.push_back({WithoutControls(variant.target.cpu), absl::StrCat(variant.kernels.size()),
                      absl::StrCat(variant.prepacked_bytes), absl::StrCat(program.arena_bytes),
                      Ports(program.inputs, program)});
    }
  }
  constexpr size_t kHeadAndOne = 2;
  if (rows.size() <= kHeadAndOne) return "";
  return absl::StrCat("\nVariants; the rest is about ", WithoutControls(d.variant().target.cpu), "\n\n",
                      FormatTable(rows, {false, true, true, true, false}));
}

// Lists the parts of the file with their sizes in bytes.
std::string FileTable(const NetworkDescription& d) {
  constexpr size_t kMost = 12;  // weights that get their own line
  const auto row = [&](const std::string& what, uint64_t bytes, const std::string& prepacked) {
    const double share = 100.0 * static_cast<double>(bytes) / static_cast<double>(d.file_bytes);
    return std::vector<std::string>{absl::StrCat(bytes), absl::StrFormat("%.1f %%", share), prepacked, what};
  };
  std::vector<std::vector<std::string>> rows = {{"bytes", "share", "prepacked when loaded", "part"}};
  rows.push_back(row("all", d.file_bytes, ""));
  rows.push_back(row("code", d.code_bytes, ""));
  rows.push_back(row("weights", d.stored_constant_bytes, ""));
  const uint64_t rest = d.file_bytes - d.code_bytes - d.stored_constant_bytes;
  rows.push_back(row("manifest and padding", rest, ""));
  for (size_t i = 0; i < std::min(kMost, d.weights.size()); ++i) {
    const StoredWeight& weight = d.weights[i];
    rows.push_back(row(weight.name, weight.stored_bytes,
                       weight.prepacked_bytes == 0 ? "" : absl::StrCat(weight.prepacked_bytes)));
  }
  if (d.weights.size() > kMost)
    rows.push_back({"…", "", "", absl::StrCat(d.weights.size() - kMost, " more")});
  return absl::StrCat("\nFile\n\n", FormatTable(rows, {true, true, true, false}));
}

// How the weights are stored in the file; empty if they are stored as they are in memory.
std::string WeightsTable(const NetworkDescription& d) {
  if (d.constant_storage.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"bytes in the file", "in memory", "ranges", "written as"}};
  for (const ConstantStorage& storage : d.constant_storage) {
    rows.push_back({absl::StrCat(storage.stored_bytes), absl::StrCat(storage.bytes),
                    absl::StrCat(storage.ranges), storage.encoding});
  }
  return absl::StrCat("\nWeights\n\n", FormatTable(rows, {true, true, true, false}));
}

std::string_view PlaceName(Place place) {
  return place == Place::kArena ? "memory" : place == Place::kConstant ? "weights" : "prepacked";
}

std::string MemoryTable(const NetworkDescription& d) {
  std::vector<std::vector<std::string>> rows = {{"offset", "bytes", "place", "steps", "tensor", "type"}};
  for (size_t i = 0; i < d.uses.size(); ++i) {
    const TensorInfo& tensor = d.program().tensors[i];
    const TensorUse& use = d.uses[i];
    rows.push_back({absl::StrCat(tensor.offset), absl::StrCat(tensor.bytes),
                    std::string(PlaceName(tensor.place)),
                    use.first < 0 ? "" : absl::StrCat(use.first, "-", use.last), tensor.name,
                    TypeText(tensor, d.program())});
  }
  return FormatTable(rows, {true, true, false, true, false, false});
}

std::string KernelTable(const NetworkDescription& d) {
  const std::vector<KernelInfo>& kernels = d.variant().kernels;
  std::vector<uint64_t> calls(kernels.size(), 0);
  for (const Instruction& instruction : d.program().instructions) {
    if (instruction.opcode == Opcode::kCall) ++calls[instruction.kernel];
  }
  for (const Prepacking& prepacking : d.variant().prepackings) ++calls[prepacking.kernel];
  std::vector<std::vector<std::string>> rows = {
      {"calls", "MFLOP", "KB read", "KB written", "operator", "strategy", "kernel"}};
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelInfo& kernel = kernels[i];
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

Json VariantsJson(const Manifest& manifest) {
  Json variants = Json::array();
  for (const Variant& variant : manifest.variants) {
    Json shape_sets = Json::array();
    for (const Program& program : variant.programs) {
      Json inputs = Json::object();
      for (const Port& input : program.inputs) inputs[input.name] = program.tensors[input.tensor].shape;
      shape_sets.push_back({{"inputs", std::move(inputs)}, {"arena", program.arena_bytes}});
    }
    variants.push_back({{"arch", variant.target.arch},
                        {"cpu", variant.target.cpu},
                        {"features", variant.target.features},
                        {"kernels", variant.kernels.size()},
                        {"bytes_prepacked", variant.prepacked_bytes},
                        {"shape_sets", std::move(shape_sets)}});
  }
  return variants;
}

Json SignersJson(const NetworkDescription& d) {
  Json keys = Json::array();
  for (const ArtifactSignature& signature : d.signatures) keys.push_back(KeyHex(signature.key));
  return keys;
}

Json StoredWeightsJson(const NetworkDescription& d) {
  Json weights = Json::array();
  for (const StoredWeight& weight : d.weights) {
    weights.push_back(
        {{"name", weight.name}, {"bytes", weight.stored_bytes}, {"bytes_prepacked", weight.prepacked_bytes}});
  }
  return weights;
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
    const TensorInfo& tensor = d.program().tensors[i];
    tensors.push_back({{"name", tensor.name},
                       {"dtype", DTypeName(static_cast<DType>(tensor.dtype))},
                       {"shape", tensor.shape},
                       {"place", PlaceName(tensor.place)},
                       {"offset", tensor.offset},
                       {"bytes", tensor.bytes},
                       {"first_step", d.uses[i].first},
                       {"last_step", d.uses[i].last}});
  }
  return tensors;
}

Json KernelJson(const KernelInfo& kernel) {
  return {{"name", kernel.name},
          {"op", kernel.op},
          {"strategy", kernel.strategy},
          {"digest", kernel.digest},
          {"flops", kernel.flops},
          {"bytes_read", kernel.bytes_read},
          {"bytes_written", kernel.bytes_written}};
}

Json ToJson(const NetworkDescription& d) {
  const Provenance& provenance = d.manifest.provenance;
  const Variant& variant = d.variant();
  Json kernels = Json::array(), prepacking = Json::array(), program = Json::array();
  for (size_t i = 0; i < variant.kernels.size(); ++i) {
    const bool prepacks =
        std::ranges::any_of(variant.prepackings, [&](const Prepacking& p) { return p.kernel == i; });
    (prepacks ? prepacking : kernels).push_back(KernelJson(variant.kernels[i]));
  }
  constexpr std::string_view kOpcodes[] = {"call", "jump", "branch_if_false", "copy", "check_indices"};
  for (const Instruction& step : d.program().instructions) {
    Json json = {{"opcode", kOpcodes[static_cast<size_t>(step.opcode)]},
                 {"tensors", step.tensors},
                 {"label", step.label}};
    if (step.opcode == Opcode::kCall) {
      json["kernel"] = step.kernel;
      json["parallel"] = variant.kernels[step.kernel].interface.parallel;
    } else if (step.opcode == Opcode::kJump || step.opcode == Opcode::kBranchIfFalse) {
      json["target"] = step.target;
    }
    program.push_back(std::move(json));
  }
  const TargetInfo& target = variant.target;
  return {{"model", {{"name", provenance.model_name}, {"sha256", provenance.model_sha256}}},
          {"compiler", provenance.compiler_version},
          {"signed_by", SignersJson(d)},
          {"target", {{"arch", target.arch}, {"cpu", target.cpu}, {"features", target.features}}},
          {"variants", VariantsJson(d.manifest)},
          {"pass_plan", provenance.pass_plan},
          {"unchecked_indices", d.has_unchecked_indices()},
          {"records", std::vector<std::string>(absl::StrSplit(provenance.records, '\n', absl::SkipEmpty()))},
          {"graph", d.program().graph_summary},
          {"bytes",
           {{"file", d.file_bytes},
            {"code", d.code_bytes},
            {"constants", d.weight_bytes()},
            {"constants_stored", d.stored_constant_bytes},
            {"arena", d.program().arena_bytes},
            {"scratch", variant.scratch_bytes}}},
          {"stored_weights", StoredWeightsJson(d)},
          {"weights", WeightsJson(d)},
          {"inputs", PortsJson(d.program().inputs)},
          {"outputs", PortsJson(d.program().outputs)},
          {"tensors", TensorsJson(d)},
          {"kernels", std::move(kernels)},
          {"prepacking", std::move(prepacking)},
          {"program", std::move(program)}};
}

absl::Status InspectContractions(const InspectFlags& flags) {
  std::vector<PlannedContraction> contractions;
  {
    Progress progress;
    ASSIGN_OR_RETURN(ModelWork work, OpenModel(flags.model, flags.inputs, /*jobs=*/0, progress));
    ASSIGN_OR_RETURN(contractions, PlanContractions(std::move(work.model), work.source, work.request));
  }
  if (!flags.model.json.empty()) {
    RETURN_IF_ERROR(WriteJson({{"contractions", ToJson(contractions)}}, flags.model.json));
  }
  if (flags.model.json != "-") PrintResult(ContractionTables(contractions));
  return absl::OkStatus();
}

absl::Status Inspect(const InspectFlags& flags) {
  if (flags.only_contractions) return InspectContractions(flags);
  NetworkDescription description;
  std::optional<std::vector<PlannedContraction>> contractions;  // set for a model, not for an artifact
  {
    Progress progress;
    ASSIGN_OR_RETURN(const ReadyNetwork ready, LoadNetwork(flags.model, flags.inputs, progress));
    ASSIGN_OR_RETURN(description, ready.network.Describe());
    if (!ready.network.artifact().empty()) contractions = ready.network.compile_report().contractions;
  }
  if (!flags.model.json.empty()) {
    Json json = ToJson(description);
    if (contractions.has_value()) json["contractions"] = ToJson(*contractions);
    RETURN_IF_ERROR(WriteJson(json, flags.model.json));
  }
  if (flags.model.json == "-") return absl::OkStatus();
  PrintResult(Heading(description) + Signers(description));
  PrintResult(VariantTable(description));
  PrintResult(FileTable(description));
  PrintResult(absl::StrCat("\nGraph\n\n", description.program().graph_summary));
  PrintResult(WeightsTable(description));
  PrintResult(absl::StrCat("\nMemory plan: ", FormatBytes(description.program().arena_bytes), "\n\n",
                           MemoryTable(description)));
  PrintResult(absl::StrCat("\nKernels\n\n", KernelTable(description)));
  if (contractions.has_value() && !contractions->empty())
    PrintResult(absl::StrCat("\nContractions\n\n", ContractionTables(*contractions)));
  return absl::OkStatus();
}

}  // namespace

void AddInspectCommand(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("inspect", "Show the optimized graph, the memory plan and the kernels");
  auto flags = std::make_shared<InspectFlags>();
  flags->model.describe_only = true;
  AddModelFlags(*command, flags->model, "threads that compile");
  AddInputFlags(*command, flags->inputs);
  command->add_flag("--contractions", flags->only_contractions,
                    "for a model: show only how each convolution and matrix product would be computed, and "
                    "why not faster; generate no code");
  command->callback(
      [flags, &action] { action = ModelAction(flags->model, [flags] { return Inspect(*flags); }); });
}

}  // namespace attune
