// Describes a network: what it takes and gives, its tasks and its contractions. Nothing here changes or runs
// it.
#include <utility>

#include "absl/strings/str_cat.h"
#include "api/network_state.h"
#include "base/status.h"
#include "graph/digest.h"
#include "plan/arrange.h"

namespace attune {

absl::StatusOr<NetworkDescription> Network::Describe() const {
  ASSIGN_OR_RETURN(const std::string bytes, ArtifactBytes());
  absl::StatusOr<NetworkDescription> description = DescribeArtifact(bytes);
  if (!description.ok()) return Name(description.status(), state_->source);
  return description;
}

absl::StatusOr<std::unique_ptr<Graph>> Network::CloneOptimized() const {
  RETURN_IF_ERROR(status());
  if (state_->optimized == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat(state_->source, ": is not optimized; call Optimize() first"));
  }
  return state_->optimized->Clone();
}

absl::StatusOr<std::vector<TuningTask>> Network::Tasks(const Target& target,
                                                       const LayoutOverrides& overrides) const {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, CloneOptimized());
  RETURN_IF_ERROR(Name(ArrangeGroups(*graph, target, overrides).status(), state_->source));
  absl::StatusOr<std::vector<TuningTask>> tasks = ExtractTasks(*graph, target);
  if (!tasks.ok()) return Name(tasks.status(), state_->source);
  return tasks;
}

absl::StatusOr<std::vector<PlannedContraction>> Network::Contractions(const CompileOptions& options) const {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, CloneOptimized());
  const absl::StatusOr<NetworkPlan> plan = ArrangeAndPlan(*graph, options);
  if (!plan.ok()) return Name(plan.status(), state_->source);
  absl::StatusOr<std::vector<PlannedContraction>> contractions = ListContractions(*plan, options.target);
  if (!contractions.ok()) return Name(contractions.status(), state_->source);
  return contractions;
}

absl::StatusOr<int> Network::NumBlockClasses(const Target& target) const {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, CloneOptimized());
  const absl::StatusOr<int> classes = ArrangeGroups(*graph, target);
  if (!classes.ok()) return Name(classes.status(), state_->source);
  return classes;
}

absl::StatusOr<LayoutOverrides> Network::LayoutOverridesBy(const KernelChooser& chooser,
                                                           const Target& target) const {
  ASSIGN_OR_RETURN(const std::unique_ptr<Graph> graph, CloneOptimized());
  absl::StatusOr<LayoutOverrides> overrides = ChooseLayoutOverrides(*graph, target, chooser);
  if (!overrides.ok()) return Name(overrides.status(), state_->source);
  return overrides;
}

absl::StatusOr<std::vector<InputDeclaration>> Network::Inputs() const {
  RETURN_IF_ERROR(status());
  if (state_->compiled != nullptr) return state_->compiled->Inputs();
  std::vector<InputDeclaration> inputs;
  for (const auto& input : state_->imported->inputs()) {
    InputDeclaration declaration = DeclarationOf(input->name(), input->type());
    if (const auto known = state_->pictures.find(input->name()); known != state_->pictures.end())
      declaration.picture = known->second;
    inputs.push_back(std::move(declaration));
  }
  return inputs;
}

absl::StatusOr<std::vector<InputDeclaration>> Network::Outputs() const {
  RETURN_IF_ERROR(status());
  if (state_->imported == nullptr) return state_->compiled->Outputs();
  std::vector<InputDeclaration> outputs;
  for (const Graph::Output& output : state_->imported->outputs())
    outputs.push_back(DeclarationOf(output.name, output.value->type()));
  return outputs;
}

absl::StatusOr<std::shared_ptr<const Graph>> Network::Imported() const {
  RETURN_IF_ERROR(status());
  if (const absl::Status imported = CheckImported(); !imported.ok()) return Name(imported, state_->source);
  return state_->imported;
}

absl::StatusOr<std::string> Network::GraphDigest() const {
  ASSIGN_OR_RETURN(const std::shared_ptr<const Graph> graph, Imported());
  return attune::GraphDigest(*graph);
}

absl::StatusOr<std::string> Network::Interface() const {
  ASSIGN_OR_RETURN(const std::shared_ptr<const Graph> graph, Imported());
  std::string text;
  for (const auto& input : graph->inputs())
    absl::StrAppend(&text, "input ", input->name(), " ", ToString(input->type()), "\n");
  for (const Graph::Output& output : graph->outputs())
    absl::StrAppend(&text, "output ", output.name, " ", ToString(output.value->type()), "\n");
  return text;
}

absl::StatusOr<int64_t> Network::WeightBytes() const {
  ASSIGN_OR_RETURN(const std::shared_ptr<const Graph> graph, Imported());
  int64_t bytes = 0;
  for (const auto& node : graph->nodes())
    if (node->op() == Op::kConstant) bytes += node->output()->constant()->num_bytes();
  return bytes;
}

const std::string& Network::source() const { return state_->source; }
const std::string& Network::digest() const { return state_->sha256; }
const std::string& Network::pass_plan() const { return state_->pass_plan; }
bool Network::is_compiled() const { return state_->compiled != nullptr || !state_->artifact.empty(); }
const std::vector<StepReport>& Network::pass_report() const { return state_->passes; }
const CompileReport& Network::compile_report() const { return state_->report; }
const QuantizedModel* Network::quantized() const { return state_->quantized.get(); }
const std::optional<PrecisionReport>& Network::precision_report() const { return state_->precision_report; }
const std::string& Network::artifact() const { return state_->artifact; }

}  // namespace attune
