#include "api/network.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "api/compiled_executor.h"
#include "api/network_state.h"
#include "api/open_model.h"
#include "api/pictures.h"
#include "base/face.h"
#include "base/file.h"
#include "base/processors.h"
#include "base/status.h"
#include "device/host.h"
#include "export/onnx/export.h"

namespace attune {
namespace {

// The planner needs groups of operators: if no pass has made any, each operator becomes a group.
absl::Status MakeGroups(std::shared_ptr<const Graph>& graph) {
  const bool has_groups = std::none_of(graph->nodes().begin(), graph->nodes().end(), [](const auto& node) {
    return node->op() != Op::kFused && node->op() != Op::kConstant && node->num_regions() == 0;
  });
  if (has_groups) return absl::OkStatus();
  std::shared_ptr<Graph> grouped = graph->Clone();
  RETURN_IF_ERROR(RunPlan(*grouped, {.steps = {{"check_indices", {}}, {"fuse", {}}}}).status());
  graph = std::move(grouped);
  return absl::OkStatus();
}

std::map<std::string, Shape> ShapesOf(const InputOptions& options) {
  std::map<std::string, Shape> shapes = options.shapes;
  for (const auto& [name, value] : options.values) shapes.emplace(name, value.shape());
  return shapes;
}

// Fails if a shape or a value is for an input that the model does not have.
absl::Status CheckNamesOf(OpenedModel& model, const std::map<std::string, Shape>& given) {
  if (given.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<InputDeclaration> declarations, model.Inputs());
  for (const auto& [name, shape] : given)
    if (std::ranges::find(declarations, name, &InputDeclaration::name) == declarations.end())
      return UnknownInput(name, declarations);
  return absl::OkStatus();
}

// The error of a network that cannot be had with open sizes, and how to have it at one set of them.
absl::Status InsteadOf(const absl::Status& open, const absl::Status& demand) {
  if (absl::IsCancelled(open)) return open;
  if (absl::IsUnimplemented(demand)) return demand;
  return absl::Status(open.code(), absl::StrCat(open.message(), "; ", demand.message()));
}

absl::Status InsteadOf(const absl::Status& open, const Graph& graph) {
  std::vector<WrittenShape> shapes;
  for (const auto& input : graph.inputs()) {
    WrittenShape& shape = shapes.emplace_back(input->name(), std::vector<std::string>());
    for (const int64_t size : input->type().shape()) shape.second.push_back(absl::StrCat(size));
  }
  return InsteadOf(
      open, InvalidInput("give shapes to compile for one set of sizes, for example ", ShapesAsGiven(shapes)));
}

// Returns the formats of pictures for the graph's inputs: by the caller, or else the model, or else its
// graph.
PictureFormats KnownFormats(OpenedModel& model, const InputOptions& options, const Graph& graph) {
  PictureFormats declared;
  if (const absl::StatusOr<std::vector<InputDeclaration>> inputs = model.Inputs(); inputs.ok()) {
    for (const InputDeclaration& input : *inputs)
      if (input.picture.has_value()) declared[input.name] = *input.picture;
  }
  PictureFormats known;
  for (const auto& input : graph.inputs()) {
    const std::string& name = input->name();
    if (const auto said = options.pictures.find(name); said != options.pictures.end()) {
      known.insert(*said);
    } else if (const auto own = declared.find(name); own != declared.end()) {
      known.insert(*own);
    } else if (IsFloat(input->type().dtype) && TakesPictures(input->type().shape()) &&
               ScalesSamples(*input)) {
      known[name] = PictureFormat();
    }
  }
  return known;
}

}  // namespace

Network Network::Failed(absl::Status status) const {
  auto state = std::make_shared<State>(*state_);
  state->status = Name(status, state_->source);
  return Network(std::move(state));
}

Network Network::Load(const std::string& path, const ModelOptions& options) {
  absl::StatusOr<OpenedModel> model = OpenedModel::Open(path, options);
  if (model.ok()) return Load(*model, options);
  auto state = std::make_shared<State>();
  state->source = path;
  return Network(state).Failed(model.status());
}

Network Network::Load(OpenedModel& model, const InputOptions& options) {
  auto state = std::make_shared<State>();
  state->source = model.path();
  state->fixed_inputs = options.values;
  const Network network(state);
  if (absl::Status known = CheckNamesOf(model, ShapesOf(options)); !known.ok())
    return network.Failed(std::move(known));
  if (model.is_artifact()) {
    absl::StatusOr<std::shared_ptr<const CompiledModel>> compiled = model.Artifact();
    if (compiled.ok()) compiled = (*compiled)->ForShapes(ShapesOf(options));
    if (!compiled.ok()) return network.Failed(compiled.status());
    state->compiled = *std::move(compiled);
    state->open_shapes = ShapesOf(options);
    return network;
  }
  if (absl::Status imported = Import(model, options, *state); !imported.ok())
    return network.Failed(std::move(imported));
  state->sha256 = model.sha256();
  state->pictures = KnownFormats(model, options, *state->imported);
  return network;
}

absl::Status Network::Import(OpenedModel& model, const InputOptions& options, State& state) {
  if (options.leaves_open) {
    ASSIGN_OR_RETURN(const bool is_open, LeavesOpen(model, options));
    if (is_open) {
      absl::StatusOr<OpenImport> open = ImportOpen(model, options);
      // An import without shapes says which ones to give.
      if (!open.ok()) return InsteadOf(open.status(), model.Import(options).status());
      state.open = std::move(open->open);
      state.open_must_be_fast = options.open_must_be_fast;
      state.imported = std::move(open->graphs.front());
      std::move(open->graphs.begin() + 1, open->graphs.end(), std::back_inserter(state.imported_elsewhere));
      return absl::OkStatus();
    }
  }
  for (const auto& [name, shape] : options.shapes) {
    if (std::ranges::find(shape, -1) != shape.end())
      return InvalidInput("the shape of input \"", name,
                          "\" leaves a size open, which compiling to a file can do");
  }
  ASSIGN_OR_RETURN(state.imported, model.Import(options));
  return absl::OkStatus();
}

Network Network::FromGraph(const Graph& graph, const std::string& name) {
  auto state = std::make_shared<State>();
  state->source = name;
  state->imported = graph.Clone();
  return Network(std::move(state));
}

const absl::Status& Network::status() const { return state_->status; }

absl::Status Network::CheckImported() const {
  if (state_->imported != nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError("is compiled already; give the model that it was made from");
}

Network Network::Quantize(const std::vector<std::vector<NamedTensor>>& samples,
                          const QuantizeOptions& options) const {
  if (!status().ok()) return *this;
  if (absl::Status imported = CheckImported(); !imported.ok()) return Failed(std::move(imported));
  for (const std::vector<NamedTensor>& sample : samples)
    if (absl::Status known = CheckNames(sample); !known.ok()) return Failed(std::move(known));
  absl::StatusOr<QuantizedModel> quantized = QuantizeGraph(*state_->imported, samples, options);
  if (!quantized.ok()) return Failed(quantized.status());
  auto state = std::make_shared<State>(*state_);
  state->imported = quantized->graph;
  state->quantized = std::make_shared<const QuantizedModel>(*std::move(quantized));
  return Network(std::move(state));
}

absl::Status Network::CheckNames(const std::vector<NamedTensor>& given) const {
  if (given.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<InputDeclaration> declarations, Inputs());
  for (const NamedTensor& tensor : given) {
    const bool is_known =
        std::ranges::find(declarations, tensor.name, &InputDeclaration::name) != declarations.end();
    if (!is_known && !state_->fixed_inputs.contains(tensor.name))
      return Name(UnknownInput(tensor.name, declarations), state_->source);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Tensor>> Network::Examples(const OptimizeOptions& options) const {
  if (!options.measure) return absl::FailedPreconditionError("the code is for another processor");
  constexpr uint64_t kSeed = 0;
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> complete, Complete(options.examples, kSeed));
  std::vector<Tensor> examples;
  for (const auto& input : state_->imported->inputs()) {
    const auto named =
        std::ranges::find_if(complete, [&](const NamedTensor& t) { return t.name == input->name(); });
    if (named == complete.end()) return InvalidInput("input \"", input->name(), "\" has no value");
    examples.push_back(named->tensor);
  }
  return examples;
}

Network Network::Optimize(PassPlan plan, const OptimizeOptions& options) const {
  if (!status().ok()) return *this;
  if (absl::Status imported = CheckImported(); !imported.ok()) return Failed(std::move(imported));
  if (absl::Status known = CheckNames(options.examples); !known.ok()) return Failed(std::move(known));
  auto state = std::make_shared<State>(*state_);
  std::unique_ptr<Graph> graph = state_->imported->Clone();
  EnsureIndexChecks(plan);
  PassPlan only_groups{.steps = {{"fuse", {}}}};
  SetUncheckedIndices(only_groups);  // rounding may produce a wrong index
  const CompiledExecutor executor(only_groups, options.jobs);
  NarrowingReport narrowing;
  RunOptions run;
  run.dump_folder = options.dump_folder;
  run.narrowing = &narrowing;
  run.control = options.control;
  if (IsBF16(plan)) {
    absl::StatusOr<std::vector<Tensor>> examples = Examples(options);
    if (examples.ok()) {
      state->examples = *std::move(examples);
      run.measurement = {&executor, &state->examples};
    } else {
      narrowing.failure = examples.status().message();
    }
  }
  absl::StatusOr<std::vector<StepReport>> passes = RunPlan(*graph, plan, run);
  if (!passes.ok()) return Failed(passes.status());
  const DType narrowest = IsBF16(plan) ? DType::kBF16 : WeightsOf(plan);
  state->precision = {narrowest, IsBF16x3(plan)};
  state->precision_report.reset();
  if (IsBF16(plan) || IsBF16x3(plan)) {
    state->precision_report = {.precision = IsBF16(plan) ? "bf16" : "bf16x3",
                               .layers = std::move(narrowing.layers),
                               .outputs = {},
                               .not_measured = std::move(narrowing.failure)};
  }
  state->expected = std::move(narrowing.outputs);
  state->other_shapes.clear();
  for (const std::shared_ptr<const Graph>& elsewhere : state_->imported_elsewhere) {
    std::shared_ptr<Graph> other = elsewhere->Clone();
    RunOptions elsewhere_run;
    elsewhere_run.control = options.control;
    const absl::Status ran = RunPlan(*other, plan, elsewhere_run).status();
    if (!ran.ok()) return Failed(ran);
    state->other_shapes.push_back(std::move(other));
  }
  state->optimized = std::move(graph);
  state->pass_plan = Print(plan);
  state->passes = *std::move(passes);
  return Network(std::move(state));
}

Network Network::WithShapesOf(const Network& other) const {
  if (!status().ok()) return *this;
  if (!other.status().ok()) return other;
  if (state_->optimized == nullptr || other.state_->optimized == nullptr)
    return Failed(absl::FailedPreconditionError("is not optimized; call Optimize() first"));
  auto state = std::make_shared<State>(*state_);
  state->other_shapes.push_back(other.state_->optimized);
  return Network(std::move(state));
}

Network Network::Compile(CompileOptions options) const {
  if (!status().ok()) return *this;
  if (absl::Status imported = CheckImported(); !imported.ok()) return Failed(std::move(imported));
  if (options.target.name.empty()) {
    absl::StatusOr<Target> host = HostTarget();
    if (!host.ok()) return Failed(host.status());
    options.target = *std::move(host);
  }
  if (options.jobs <= 0) options.jobs = Processors();
  options.model_name = std::filesystem::path(state_->source).filename().string();
  options.model_sha256 = state_->sha256;
  options.pass_plan = state_->pass_plan;
  options.pictures = state_->pictures;
  options.open = state_->open;
  options.open_must_be_fast = state_->open_must_be_fast;

  auto state = std::make_shared<State>(*state_);
  std::vector<std::shared_ptr<const Graph>> graphs = {state_->optimized == nullptr ? state_->imported
                                                                                   : state_->optimized};
  graphs.insert(graphs.end(), state_->other_shapes.begin(), state_->other_shapes.end());
  std::vector<const Graph*> grouped;
  for (std::shared_ptr<const Graph>& graph : graphs) {
    if (absl::Status status = MakeGroups(graph); !status.ok()) return Failed(std::move(status));
    grouped.push_back(graph.get());
  }
  absl::StatusOr<std::string> artifact = attune::Compile(grouped, options, &state->report);
  if (!artifact.ok()) {
    return Failed(options.open.empty() ? artifact.status() : InsteadOf(artifact.status(), *state->imported));
  }
  absl::StatusOr<std::shared_ptr<const CompiledModel>> compiled = CompiledModel::FromBytes(*artifact);
  // Code for another processor is only saved, not run here.
  if (!compiled.ok() && !absl::IsFailedPrecondition(compiled.status())) return Failed(compiled.status());
  const bool runs_here = compiled.ok();
  if (runs_here) state->compiled = *std::move(compiled);
  state->artifact = *std::move(artifact);
  if (runs_here && !state->expected.empty()) {
    // Rounding may produce a wrong index, so the run may fail; the network is fine even then.
    const absl::Status measured = MeasureOutputs(*state, options.jobs);
    state->precision_report->not_measured = measured.message();
  }
  return Network(std::move(state));
}

absl::Status Network::MeasureOutputs(State& state, int jobs) {
  std::vector<NamedTensor> examples;
  for (size_t i = 0; i < state.examples.size(); ++i) {
    examples.push_back({state.imported->inputs()[i]->name(), state.examples[i]});
  }
  const Network network(std::make_shared<State>(state));
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> actual, network.Run(examples, jobs));
  state.precision_report->outputs = OutputErrors(state.expected, actual);
  state.expected.clear();
  return absl::OkStatus();
}

Network Network::Save(const std::string& path) const {
  if (!status().ok()) return *this;
  if (state_->artifact.empty()) {
    return Failed(absl::FailedPreconditionError("there is no new artifact to save; compile the model first"));
  }
  if (absl::Status status = WriteFileAtomically(path, state_->artifact); !status.ok()) {
    auto state = std::make_shared<State>(*state_);
    state->status = std::move(status);  // names the file that could not be written
    return Network(std::move(state));
  }
  return *this;
}

absl::StatusOr<std::string> Network::ArtifactBytes() const {
  RETURN_IF_ERROR(status());
  if (!is_compiled()) return absl::FailedPreconditionError(absl::StrCat(state_->source, ": is not compiled"));
  // The loaded bytes were checked; the file may have changed since then.
  return state_->artifact.empty() ? std::string(state_->compiled->FileBytes()) : state_->artifact;
}

absl::Status Network::SaveOnnx(const std::string& path) const {
  RETURN_IF_ERROR(status());
  if (state_->quantized == nullptr)
    return InvalidInput(state_->source, ": is not quantized; call quantize() first");
  return ExportOnnx(*state_->imported, path, state_->pictures);
}

}  // namespace attune
