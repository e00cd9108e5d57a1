// The public class Network, on top of that of api/network.h.
#include "api/network.h"

#include <algorithm>
#include <utility>

#include "api/inputs.h"
#include "api/opened_model.h"
#include "api/pipeline.h"
#include "base/status.h"
#include "library/convert.h"
#include "library/network_state.h"
#include "options/public_options.h"

namespace attune::compiler {
namespace {

OutputCheck FromOwn(const attune::OutputCheck& check) {
  return {.name = check.name,
          .criterion = check.criterion,
          .max_absolute_error = check.comparison.max_absolute_error,
          .max_relative_error = check.comparison.max_relative_error,
          .elements = check.comparison.elements,
          .mismatches = check.comparison.mismatches,
          .ok = check.ok};
}

KernelTime FromOwn(const KernelProfile& kernel) {
  return {.op = kernel.op,
          .labels = kernel.labels,
          .strategy = kernel.strategy,
          .calls = kernel.calls,
          .seconds = kernel.seconds,
          .share = kernel.share,
          .gflops_per_second = kernel.gflops_per_s,
          .gb_per_second = kernel.gb_per_s,
          .peak_share = kernel.peak_share,
          .roofline_share = kernel.roofline_share};
}

// Whether the options ask for nothing but a number of threads.
bool IsPlain(const CompileOptions& options) {
  CompileSettings settings;
  Assign(options, settings);
  settings.threads = 0;
  return ChangedOptions(settings).empty();
}

attune::Network Loaded(OpenedModel& model) {
  attune::Network network = attune::Network::Load(model);
  Check(network.status());
  return network;
}

}  // namespace

attune::Network Network::State::Optimized(const Control& control) const {
  if (optimized) return *optimized;
  Following following(control);
  CompileRequest request = ToOptimize();
  request.control = following.work();
  return Value(OptimizeFor(imported, request, ToOwn(optimizing.examples)));
}

attune::Network Network::State::Compiled() const {
  if (compiled) return *compiled;
  if (imported.is_compiled()) return imported;
  return Value(CompileFor(Optimized(), ToCompile()));
}

const QuantizedModel& Network::State::Quantized() const {
  const QuantizedModel* quantized = imported.quantized();
  if (quantized == nullptr)
    Check(InvalidInput(imported.source(), ": is not quantized; call quantize() first"));
  return *quantized;
}

Network::State Network::State::WithGraph(attune::Network graph) const {
  return {.imported = std::move(graph), .optimizing = optimizing, .compiling = compiling, .service = service};
}

Network::Network(std::shared_ptr<const State> state) : state_(std::move(state)) {}
Network::~Network() = default;
Network::Network(const Network&) = default;
Network& Network::operator=(const Network&) = default;

Network Network::load(const std::string& path, const LoadOptions& options) {
  NameFace();
  Following following(options.control);
  ModelOptions loading;
  loading.shapes = options.shapes;
  loading.signature = options.signature;
  loading.control = following.work();
  loading.artifact.sha256 = options.sha256;
  if (!options.trusted_keys.empty()) loading.artifact.trusted_keys = options.trusted_keys;
  for (const auto& [name, value] : options.values) loading.values[name] = TensorAccess::ToOwn(value);
  loading.artifact.describe_only = !options.device.is_here();
  const attune::Network network = attune::Network::Load(path, loading);
  Check(network.status());
  return Network(
      std::make_shared<const State>(State{.imported = network, .service = options.device.service_}));
}

std::vector<std::string> Network::zoo_names() { return ZooNames(); }

Network Network::zoo(const std::string& name) {
  NameFace();
  OpenedModel model = Value(OpenedModel::FromZoo(name));
  return Network(std::make_shared<const State>(State{.imported = Loaded(model)}));
}

Network Network::from_artifact(std::span<const std::byte> bytes) {
  NameFace();
  OpenedModel model = Value(OpenedModel::FromBytes(
      std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "the artifact"));
  return Network(std::make_shared<const State>(State{.imported = Loaded(model)}));
}

Network Network::on(const Device& device) const {
  State state = state_->WithGraph(state_->imported);
  state.compiling.cpus = {};
  state.service = device.service_;
  return Network(std::make_shared<const State>(std::move(state)));
}

Network Network::optimize(const OptimizeOptions& options) const {
  check(options);
  State state = state_->WithGraph(state_->imported);
  state.optimizing = options;
  state.optimizing.control = {};
  state.optimized = state.Optimized(options.control);
  return Network(std::make_shared<const State>(std::move(state)));
}

Network Network::quantize(std::span<const NamedTensors> samples, const QuantizeOptions& options) const {
  check(options);
  Following following(options.control);
  CompileRequest request;
  request.precision = options.is_mixed ? attune::Precision::kAuto : attune::Precision::kInt8;
  request.service = state_->service;
  request.threads = options.threads;
  request.control = following.work();
  QuantizeSettings settings;
  SampleSettings accuracy;
  Assign(options, settings, accuracy);
  const attune::QuantizeOptions quantizing = Value(QuantizeOptionsFor(request, accuracy, settings));
  std::vector<std::vector<attune::NamedTensor>> own;
  for (const NamedTensors& sample : samples) own.push_back(ToOwn(sample));
  State state = state_->WithGraph(state_->imported.Quantize(own, quantizing));
  Check(state.imported.status());
  if (state_->optimized) state.optimized = state.Optimized(options.control);
  return Network(std::make_shared<const State>(std::move(state)));
}

Network Network::with_shapes_of(const Network& other) const {
  State state = *state_;
  state.optimized = state.Optimized().WithShapesOf(other.state_->Optimized());
  Check(state.optimized->status());
  state.compiled.reset();
  state.is_as_measured = false;
  return Network(std::make_shared<const State>(std::move(state)));
}

Network Network::compile(const CompileOptions& options) const {
  check(options);
  const bool is_tuned = state_->tuning != nullptr;
  CompileOptions compiling = options;
  if (compiling.threads == 0) compiling.threads = state_->compiling.threads;
  // What a run has measured is compiled already.
  if (state_->is_as_measured && IsPlain(compiling) && compiling.threads == state_->tuning->threads)
    return *this;
  if (is_tuned && compiling.records.empty() && compiling.cpus.empty())
    compiling.records = state_->tuning->records;
  compiling.control = {};
  State state = *state_;
  state.optimized = state.Optimized(options.control);
  state.compiling = std::move(compiling);
  Following following(options.control);
  CompileRequest request = state.ToCompile();
  request.control = following.work();
  state.compiled = Value(CompileFor(*state.optimized, request));
  state.is_as_measured = false;
  return Network(std::make_shared<const State>(std::move(state)));
}

void Network::save(const std::string& path) const { Check(state_->Compiled().Save(path).status()); }

std::vector<std::byte> Network::artifact() const {
  const std::string bytes = Value(state_->Compiled().ArtifactBytes());
  const auto* begin = reinterpret_cast<const std::byte*>(bytes.data());
  return {begin, begin + bytes.size()};
}

void Network::save_onnx(const std::string& path) const { Check(state_->imported.SaveOnnx(path)); }

NamedTensors Network::run(const NamedTensors& inputs, int threads) const {
  const attune::Network compiled = state_->Compiled();
  return compiler::FromOwn(Value(state_->Device().Run(compiled, ToOwn(inputs), threads)));
}

std::vector<OutputCheck> Network::verify(const NamedTensors& inputs, uint64_t seed, int threads) const {
  std::vector<OutputCheck> checks;
  const attune::Network compiled = state_->Compiled();
  const VerifyReport report = Value(state_->Device().Verify(compiled, ToOwn(inputs), seed, threads));
  for (const attune::OutputCheck& check : report.outputs) checks.push_back(FromOwn(check));
  return checks;
}

std::vector<double> Network::bench(double seconds, std::optional<int> threads, const NamedTensors& inputs,
                                   uint64_t seed) const {
  const attune::Network compiled = state_->Compiled();
  TimedRuns runs = Value(
      state_->Device().Bench(compiled, threads.value_or(this->threads()), seconds, ToOwn(inputs), seed));
  return std::move(runs.milliseconds);
}

std::vector<KernelTime> Network::profile(int rounds, std::optional<int> threads, const NamedTensors& inputs,
                                         uint64_t seed) const {
  std::vector<KernelTime> times;
  const attune::Network compiled = state_->Compiled();
  const ProfileReport report = Value(
      state_->Device().Profile(compiled, threads.value_or(this->threads()), rounds, ToOwn(inputs), seed));
  for (const KernelProfile& kernel : report.kernels) times.push_back(FromOwn(kernel));
  return times;
}

std::vector<InputInfo> Network::inputs() const {
  std::vector<InputInfo> inputs;
  for (const InputDeclaration& input : Value(state_->imported.Inputs()))
    inputs.push_back(compiler::FromOwn(input));
  return inputs;
}

std::vector<InputInfo> Network::outputs() const {
  std::vector<InputInfo> outputs;
  for (const InputDeclaration& output : Value(state_->imported.Outputs()))
    outputs.push_back(compiler::FromOwn(output));
  return outputs;
}

NamedTensor Network::random_input(const std::string& name, uint64_t seed) const {
  return {name, TensorAccess::FromOwn(Value(state_->imported.RandomInput(name, seed)))};
}

NamedTensor Network::picture(const std::string& path, const PictureOptions& options) const {
  PictureSettings settings;
  Assign(options, settings);
  const std::vector<InputDeclaration> inputs = Value(state_->imported.Inputs());
  const attune::NamedTensor read = Value(ReadPicture(path, options.input, settings, inputs, options.note));
  return {read.name, TensorAccess::FromOwn(read.tensor)};
}

NetworkSizes Network::sizes() const {
  const NetworkDescription description = Value(state_->Compiled().Describe());
  NetworkSizes sizes;
  sizes.file_bytes = description.file_bytes;
  sizes.code_bytes = description.code_bytes;
  sizes.weight_bytes = description.weight_bytes();
  sizes.stored_weight_bytes = description.stored_constant_bytes;
  sizes.arena_bytes = static_cast<uint64_t>(description.program().arena_bytes);
  sizes.scratch_bytes = static_cast<uint64_t>(description.variant().scratch_bytes);
  for (const Variant& variant : description.manifest.variants) sizes.cpus.push_back(variant.target.cpu);
  return sizes;
}

bool Network::is_compiled() const { return state_->compiled.has_value() || state_->imported.is_compiled(); }
const CompileOptions& Network::compile_options() const { return state_->compiling; }
int Network::threads() const { return std::max(1, state_->compiling.threads); }
bool Network::is_quantized() const { return state_->imported.quantized() != nullptr; }

QuantizationResult Network::quantization() const {
  const quant::QuantizationReport& report = state_->Quantized().report;
  return {.agreement = report.agreement.agreement,
          .baseline_seconds = report.float_seconds,
          .quantized_seconds = report.seconds,
          .is_slower = report.is_slower(),
          .verdict = quant::Verdict(report)};
}

const TuningReport& Network::tuning() const {
  if (state_->tuning == nullptr)
    Check(InvalidInput(state_->imported.source(), ": is not tuned; call tune() first"));
  return *state_->tuning;
}

}  // namespace attune::compiler
