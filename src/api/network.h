// All steps from a model file to outputs, as a chain of calls that reads like a sentence:
//
//   absl::StatusOr<std::vector<NamedTensor>> outputs = Network::Load("resnet50.onnx")
//                                                          .Optimize()
//                                                          .Compile()
//                                                          .Save("resnet50.atn")
//                                                          .Run({{"input", image}});
//
// Every step returns a new Network and does not change the previous one, so that a network can be continued
// in two ways. The first error stays in the chain: later steps do nothing, and a function that returns a
// result returns that error. It names the model's file.
#ifndef ATTUNE_API_NETWORK_H_
#define ATTUNE_API_NETWORK_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/compiled_model.h"
#include "api/description.h"
#include "api/opened_model.h"
#include "api/precision.h"
#include "api/profile.h"
#include "api/quantize.h"
#include "api/tensors.h"
#include "api/verify.h"
#include "base/progress.h"
#include "compile/compile.h"
#include "device/host.h"
#include "device/run_times.h"
#include "graph/graph.h"
#include "graph/text.h"
#include "opt/driver.h"
#include "opt/pass_plan.h"
#include "target/target.h"
#include "tune/task/task.h"

namespace attune {

// How to open a model's file, and the inputs to import it for.
struct ModelOptions : OpenOptions, InputOptions {};

struct OptimizeOptions {
  // If not empty, an existing folder to write each step's graph to.
  std::string dump_folder;
  // Whether a plan for bf16 also considers the errors of the layers, measured with code for this machine,
  // and not only the kinds of operators. For networks that are compiled for this machine.
  bool measure = true;
  // Inputs to measure with; missing inputs are random with seed 0. The same inputs give the same network.
  std::vector<NamedTensor> examples;
  // Threads that compile and run the measured code; 0: as many as processors.
  int jobs = 0;
  // Called before each pass.
  WorkControl control = {};
};

// How long each run took, and how far other programs disturbed the device meanwhile (Measurement).
struct TimedRuns {
  std::vector<double> milliseconds = {};
  double waited_share = 0;
  RunTimes times = {};  // on this machine alone

  // A sentence for people if other programs disturbed them; otherwise empty.
  std::string disturbance() const { return DescribeDisturbance(waited_share, times); }
};

// A value type: copies are cheap and share all large data. Thread safe.
class Network {
 public:
  // The model (ONNX, TensorFlow Lite, TensorFlow, exported PyTorch) or artifact at `path`, recognized by
  // its content. An artifact is compiled already: it can be run, measured and described, but not optimized,
  // compiled or verified.
  static Network Load(const std::string& path, const ModelOptions& options = {});
  // The same of a model that has been opened, which may be loaded again for other inputs.
  static Network Load(OpenedModel& model, const InputOptions& options = {});
  // A verified graph, as if it had been imported. `name` is used in messages instead of the file.
  static Network FromGraph(const Graph& graph, const std::string& name);

  const absl::Status& status() const;

  // Quantizes the imported graph to 8-bit integers, calibrated with `samples` of typical inputs. To be
  // called before Optimize(). Each sample has all inputs by name.
  Network Quantize(const std::vector<std::vector<NamedTensor>>& samples,
                   const QuantizeOptions& options = {}) const;
  // Optimizes the graph by the passes of `plan`, to which it adds check_indices where that is missing.
  Network Optimize(PassPlan plan = DefaultPlan(), const OptimizeOptions& options = {}) const;
  // Also compiles for the input shapes of `other`, which must be the same model, optimized in the same way.
  // Run() and other functions that take inputs then select the code by their shapes.
  Network WithShapesOf(const Network& other) const;
  // Compiles the optimized graph, or if Optimize() was not called, each operator of the imported graph by
  // itself. An empty target means this machine; 0 jobs means as many as processors. Sets the options' name,
  // digest and plan itself.
  Network Compile(CompileOptions options = {}) const;
  // Writes the artifact's file, either completely or not at all.
  Network Save(const std::string& path) const;
  // Writes the quantized graph as an ONNX model, either completely or not at all. Fails if it is not
  // quantized.
  absl::Status SaveOnnx(const std::string& path) const;

  // Returns the outputs, in the model's order. Every input must be given; inputs that InputOptions fixed
  // and that disappeared from the network may be given too, with the same value. `threads` 0: as many as
  // processors.
  absl::StatusOr<std::vector<NamedTensor>> Run(const std::vector<NamedTensor>& inputs, int threads = 0) const;

  // Compares the compiled code with the reference interpreter on the imported graph, output by output. Here
  // and below, inputs that are not given are random with `seed`.
  absl::StatusOr<VerifyReport> Verify(const std::vector<NamedTensor>& inputs = {}, uint64_t seed = 0,
                                      int threads = 0) const;
  // Compares outputs that the compiled code has computed elsewhere from these inputs, all of them.
  absl::StatusOr<VerifyReport> VerifyOutputs(const std::vector<NamedTensor>& inputs,
                                             const std::vector<NamedTensor>& actual) const;
  // The memory and threads to run the network, with all inputs set.
  absl::StatusOr<Session> NewSession(int threads, const std::vector<NamedTensor>& inputs = {},
                                     uint64_t seed = 0) const;
  // Runs it after one warm-up run, for `seconds` and at least 3 times.
  absl::StatusOr<TimedRuns> Bench(int threads, double seconds, const std::vector<NamedTensor>& inputs = {},
                                  uint64_t seed = 0) const;
  // The time that each kernel takes: the median of `rounds` runs.
  absl::StatusOr<ProfileReport> Profile(int threads, int rounds, const std::vector<NamedTensor>& inputs = {},
                                        uint64_t seed = 0) const;

  // The artifact's manifest and sizes.
  absl::StatusOr<NetworkDescription> Describe() const;

  // The tasks for which compiling for `target` would choose a kernel, each once. Requires Optimize(), as do
  // the next three functions.
  absl::StatusOr<std::vector<TuningTask>> Tasks(const Target& target,
                                                const LayoutOverrides& overrides = {}) const;
  // The way in which compiling with `options` would compute each contraction.
  absl::StatusOr<std::vector<PlannedContraction>> Contractions(const CompileOptions& options) const;
  // The number of classes of feature maps that layout overrides can name, and the overrides that
  // ChooseLayoutOverrides() returns.
  absl::StatusOr<int> NumBlockClasses(const Target& target) const;
  absl::StatusOr<LayoutOverrides> LayoutOverridesBy(const KernelChooser& chooser, const Target& target) const;

  // The inputs of the compiled network at its first set of input shapes, or else of the imported graph.
  absl::StatusOr<std::vector<InputDeclaration>> Inputs() const;
  // The outputs, of the graph where there is one: an artifact has the bounds of sizes that data decides.
  absl::StatusOr<std::vector<InputDeclaration>> Outputs() const;
  bool is_compiled() const;
  // The model's file, and the SHA-256 of its bytes; the digest is empty for an artifact.
  const std::string& source() const;
  const std::string& digest() const;
  // The passes that Optimize() ran, as text; empty before.
  const std::string& pass_plan() const;
  // Reports for people, after Optimize() and Compile().
  const std::vector<StepReport>& pass_report() const;
  const CompileReport& compile_report() const;
  // GraphDigest() of the imported graph: the network's identity, whatever its parts are called.
  absl::StatusOr<std::string> GraphDigest() const;
  // The names and types of the imported graph's inputs and outputs, a line each: who runs the network knows
  // it by these.
  absl::StatusOr<std::string> Interface() const;
  // The bytes of all constants of the imported graph.
  absl::StatusOr<int64_t> WeightBytes() const;
  // The imported graph, quantized after Quantize(). Fails for an artifact.
  absl::StatusOr<std::shared_ptr<const Graph>> Imported() const;
  // Set after Quantize(); otherwise nullptr.
  const QuantizedModel* quantized() const;
  // Set after Optimize() for bf16, with the errors of the outputs after Compile(); otherwise nothing.
  const std::optional<PrecisionReport>& precision_report() const;
  // The content of the artifact's file; empty if the network was loaded from an artifact or is not
  // compiled.
  const std::string& artifact() const;
  // The same; if the network was loaded from an artifact, its file as it was then. Fails if it is not
  // compiled.
  absl::StatusOr<std::string> ArtifactBytes() const;

  // A random value for the input, by `seed`: from RandomTensor, with integers that are valid indices.
  absl::StatusOr<Tensor> RandomInput(const std::string& name, uint64_t seed) const;
  // Fails if a tensor is for an input that neither the network has nor, before values were fixed, the model.
  absl::Status CheckNames(const std::vector<NamedTensor>& given) const;
  // `given` plus random values for the missing inputs.
  absl::StatusOr<std::vector<NamedTensor>> Complete(const std::vector<NamedTensor>& given,
                                                    uint64_t seed) const;

 private:
  struct State;
  explicit Network(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  Network Failed(absl::Status status) const;
  static absl::Status Import(OpenedModel& model, const InputOptions& options, State& state);
  // Fails if this is an artifact and there is no model.
  absl::Status CheckImported() const;
  absl::StatusOr<std::unique_ptr<Graph>> CloneOptimized() const;
  // The inputs to measure with according to `options`, in the order of the graph's inputs.
  absl::StatusOr<std::vector<Tensor>> Examples(const OptimizeOptions& options) const;
  // Adds the errors of the compiled network's outputs, compared with f32, to the precision report.
  static absl::Status MeasureOutputs(State& state, int jobs);
  absl::StatusOr<Tensor> RandomInput(const InputDeclaration& input, uint64_t seed) const;
  // The compiled network for the shapes of the given inputs.
  absl::StatusOr<std::shared_ptr<const CompiledModel>> CompiledFor(
      const std::vector<NamedTensor>& inputs) const;
  // A session with all inputs set.
  absl::StatusOr<Session> Prepare(const std::vector<NamedTensor>& inputs, int threads) const;

  std::shared_ptr<const State> state_;
};

}  // namespace attune

#endif  // ATTUNE_API_NETWORK_H_
