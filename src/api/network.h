// The whole way, from a model file to numbers, as a chain that reads like the sentence:
//
//   absl::StatusOr<std::vector<NamedTensor>> outputs = Network::Load("resnet50.onnx")
//                                                          .Optimize()
//                                                          .Compile()
//                                                          .Save("resnet50.atn")
//                                                          .Run({{"input", image}});
//
// Every step gives a new Network and leaves the one before as it was, so that a network can go two ways. The
// first error stays in the chain: later steps do nothing, and whoever asks for a result gets that error. It
// names the model's file.
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
#include "api/precision.h"
#include "api/profile.h"
#include "api/quantize.h"
#include "api/tensors.h"
#include "api/verify.h"
#include "base/progress.h"
#include "compile/compile.h"
#include "device/host.h"
#include "graph/graph.h"
#include "graph/text.h"
#include "opt/driver.h"
#include "opt/pass_plan.h"
#include "target/target.h"
#include "tune/task/task.h"

namespace attune {

// What a model whose dimensions are symbolic must be told.
struct ModelOptions {
  // Shapes of inputs, by name. Of an artifact: they choose among its sets of input shapes.
  std::map<std::string, Shape> shapes;
  // Values of inputs: they give the shape, and where a shape inside the network depends on the value, the
  // network is made for that value. The input then may leave the network.
  std::map<std::string, Tensor> values;
  // Which of a TensorFlow or TensorFlow Lite model's signatures; empty: the one for inference.
  std::string signature;
  // Follows and ends the import of a model.
  WorkControl control = {};
  // How a file that is an artifact is loaded. A model, which is compiled here, needs nobody's trust; but it
  // is refused where the digest of an artifact is asked for.
  ArtifactOptions artifact;
};

struct OptimizeOptions {
  // Where not empty, an existing folder that each step's graph is written to.
  std::string dump_folder;
  // Whether a plan for bf16 decides by the layers' errors too, measured by code for this machine, and not by
  // the operators' kinds alone: for networks that are compiled for this machine.
  bool measure = true;
  // Inputs to measure with; those that are missing are random by seed 0. The same inputs give the same
  // network.
  std::vector<NamedTensor> examples;
  // Threads that compile and run what is measured; 0: as many as processors.
  int jobs = 0;
  // Asked and told before each pass.
  WorkControl control = {};
};

// One example with the class that it belongs to.
struct Sample {
  std::vector<NamedTensor> inputs;
  int64_t label = 0;
};

// A value: copies are cheap and share what is large. Any number of threads may use one.
class Network {
 public:
  // The model (ONNX, TensorFlow Lite, TensorFlow, exported PyTorch) or artifact at `path`, told apart by
  // content. An artifact is compiled already: it can be run, measured and described, and not be optimized,
  // compiled or verified.
  static Network Load(const std::string& path, const ModelOptions& options = {});
  // A verified graph, as if imported. `name` stands for the file in messages.
  static Network FromGraph(const Graph& graph, const std::string& name);

  const absl::Status& status() const;

  // The imported graph in 8-bit integers, by samples of what the network is for: before Optimize(). `samples`
  // have all inputs by name.
  Network Quantize(const std::vector<std::vector<NamedTensor>>& samples,
                   const QuantizeOptions& options = {}) const;
  // The graph rewritten as `plan` says.
  Network Optimize(const PassPlan& plan = DefaultPlan(), const OptimizeOptions& options = {}) const;
  // To be compiled for the input shapes of `other` too: the same model, optimized likewise. Run() and
  // whatever else takes inputs then chooses by their shapes.
  Network WithShapesOf(const Network& other) const;
  // Code for the optimized graph; of the imported one, each operator by itself, where Optimize() was not
  // called. An empty target is this machine, no jobs as many as processors. Name, digest and plan are filled
  // in.
  Network Compile(CompileOptions options = {}) const;
  // Writes the artifact, whole or not at all.
  Network Save(const std::string& path) const;

  // The outputs, in the model's order. Every input must be given; those that ModelOptions fixed and that left
  // the network may be, with the same value. `threads` 0: as many as processors.
  absl::StatusOr<std::vector<NamedTensor>> Run(const std::vector<NamedTensor>& inputs, int threads = 0) const;

  // Compiled code against the reference interpreter on the imported graph, output by output. Inputs that are
  // not given are random by `seed`; likewise below.
  absl::StatusOr<VerifyReport> Verify(const std::vector<NamedTensor>& inputs = {}, uint64_t seed = 0,
                                      int threads = 0) const;
  // Memory and threads for running it, all inputs set.
  absl::StatusOr<Session> NewSession(int threads, const std::vector<NamedTensor>& inputs = {},
                                     uint64_t seed = 0) const;
  // Milliseconds of each run, after one that does not count, for `seconds` and at least 3 runs.
  absl::StatusOr<std::vector<double>> Bench(int threads, double seconds,
                                            const std::vector<NamedTensor>& inputs = {},
                                            uint64_t seed = 0) const;
  // Where the time goes: the median of `rounds` runs for each kernel.
  absl::StatusOr<ProfileReport> Profile(int threads, int rounds, const std::vector<NamedTensor>& inputs = {},
                                        uint64_t seed = 0) const;
  // The share of samples whose largest element of the first output is the label's.
  absl::StatusOr<double> Evaluate(const std::vector<Sample>& samples, int threads = 0) const;

  // The artifact's manifest and sizes.
  absl::StatusOr<NetworkDescription> Describe() const;

  // What compiling for `target` would choose a kernel for, each once; Optimize() has been called, likewise
  // below.
  absl::StatusOr<std::vector<TuningTask>> Tasks(const Target& target,
                                                const LayoutOverrides& overrides = {}) const;
  // How compiling with `options` would compute each contraction.
  absl::StatusOr<std::vector<PlannedContraction>> Contractions(const CompileOptions& options) const;
  // How many classes of maps there are that `overrides` may name, and which ChooseLayoutOverrides() would
  // name.
  absl::StatusOr<int> NumBlockClasses(const Target& target) const;
  absl::StatusOr<LayoutOverrides> LayoutOverridesBy(const KernelChooser& chooser, const Target& target) const;

  // Inputs of the compiled network, at its first set of input shapes, else of the imported graph.
  absl::StatusOr<std::vector<InputDeclaration>> Inputs() const;
  bool is_compiled() const;
  // The model's file, and the SHA-256 of its bytes, empty for an artifact.
  const std::string& source() const;
  const std::string& digest() const;
  // The passes that Optimize() went through, printed; empty before.
  const std::string& pass_plan() const;
  // After Optimize() and Compile(), for people.
  const std::vector<StepReport>& pass_report() const;
  const CompileReport& compile_report() const;
  // After Quantize(); else nullptr.
  const QuantizedModel* quantized() const;
  // After Optimize() for bf16, with the outputs' errors after Compile(); else nothing.
  const std::optional<PrecisionReport>& precision_report() const;
  // The artifact's file, empty where it was loaded from one or is not compiled.
  const std::string& artifact() const;

  // A value for the input, by `seed`: what RandomTensor gives, with integers that are valid indices.
  absl::StatusOr<Tensor> RandomInput(const std::string& name, uint64_t seed) const;
  // `given` with the inputs that are missing drawn at random.
  absl::StatusOr<std::vector<NamedTensor>> Complete(const std::vector<NamedTensor>& given,
                                                    uint64_t seed) const;

 private:
  struct State;
  explicit Network(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  Network Failed(absl::Status status) const;
  // Ok, or that there is no model any more, but an artifact.
  absl::Status CheckImported() const;
  absl::StatusOr<std::unique_ptr<Graph>> CloneOptimized() const;
  // What `options` give to measure with, in the order of the graph's inputs.
  absl::StatusOr<std::vector<Tensor>> Examples(const OptimizeOptions& options) const;
  // How far the compiled network's outputs are from those in f32, to the precision report.
  static absl::Status MeasureOutputs(State& state, int jobs);
  absl::StatusOr<Tensor> RandomInput(const InputDeclaration& input, uint64_t seed) const;
  // The compiled network at the shapes of the inputs that are given.
  absl::StatusOr<std::shared_ptr<const CompiledModel>> CompiledFor(
      const std::vector<NamedTensor>& inputs) const;
  // A session with all inputs set.
  absl::StatusOr<Session> Prepare(const std::vector<NamedTensor>& inputs, int threads) const;

  std::shared_ptr<const State> state_;
};

}  // namespace attune

#endif  // ATTUNE_API_NETWORK_H_
