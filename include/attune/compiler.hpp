// Compiles a model's file into a fast program for this machine: load, optimize, quantize, tune, compile,
// save, run, compare and measure.
//
//   namespace ac = attune::compiler;
//
//   const ac::Network network = ac::Network::load("resnet50.onnx").tune({.trials = 200}).compile();
//   network.save("resnet50.atn");                     // attune.hpp loads that, without a compiler
//   const std::vector<ac::NamedTensor> outputs = network.run({{"input", image}});
//
// A program that links attune::attune has all of this. It is inline over attune/compiler.h: no type of C++
// and no exception crosses the border of the library. Each step returns another Network and leaves the one
// that it was called for unchanged; a step that is left out runs with its defaults when a later one needs it.
//
// Errors: functions throw ac::Error, whose text is one sentence that names the file, what is wrong and what
// to do; the command line prints the same. std::bad_alloc is the only other exception.
//
// Threads: a Network is immutable and may be used by any number of threads at once; so may a Tensor while no
// thread writes to it.
//
// Processes: tuning, and optimizing for bf16, build and run candidates in processes of the program
// attune-worker, which is installed with the library; both must be of the same build.
#ifndef ATTUNE_COMPILER_HPP_
#define ATTUNE_COMPILER_HPP_

#if __cplusplus < 202002L
#error "Attune is used from C++20 or newer (-std=c++20), or from C by attune/compiler.h."
#endif

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attune/compiler.h"
#include "attune/error.hpp"
#include "attune/options.hpp"
#include "attune/tensor.hpp"

namespace attune::compiler {

// An input or an output as the model declares it.
struct InputInfo {
  std::string name;
  attune_dtype dtype = ATTUNE_F32;
  Shape shape;                    // -1: the model leaves it open
  std::string text;               // "f32[N,3,224,224]"
  std::vector<std::string> dims;  // its size, its name in the model, or "?"
  bool has_shape = true;          // false: the model does not even say how many dimensions there are
};

// The declarations in a model's file.
struct ModelDeclaration {
  std::vector<InputInfo> inputs;
  bool is_compiled = false;  // whether it is an artifact
  // A line for each operator that Attune lacks, if the model leaves sizes open; loading another one tells.
  std::string unsupported = {};
  // The other files that it consists of, relative to its folder; none for a folder, which has all.
  std::vector<std::string> files;
  // ONNX models and artifacts have them; sizes in which an artifact's sets of input shapes differ are open.
  std::vector<InputInfo> outputs;
  // The rest is that of an ONNX model, and empty for others.
  // "producer_name", "producer_version", "domain", "description", "version", "graph_name" and
  // "graph_description".
  std::map<std::string, std::string> about;
  std::map<std::string, std::string> metadata;  // metadata entries of its author
};

// A machine that networks are tuned for, and measured on. A value type: copies are cheap. Any number of
// threads may use it.
class Device {
 public:
  // This machine.
  static Device here();
  // Returns the device of the fleet with this key, as `attune fleet list` shows it. The user must have joined
  // the fleet (`attune fleet join`), or run its server on this machine. The fleet's server must have the
  // address `server`, "host:port", unless that is empty. The key "cpu" is this machine.
  static Device in_fleet(const std::string& key, const std::string& server = {});

  // One of the C interface, which belongs to this Device and its copies from now on.
  explicit Device(attune_device* device) : device_(device, attune_device_free) {}

  bool is_here() const { return get() == nullptr; }
  std::string fingerprint() const;  // of machines of this kind, whose records it shares
  std::string cpu() const;          // as CompileOptions::cpus names it
  int processors() const;           // that kernels may run on

  const attune_device* get() const { return device_.get(); }

 private:
  std::shared_ptr<attune_device> device_;  // null: this machine
};

struct LoadOptions {
  // Sizes of the inputs' open dimensions: all sizes of an input, by its name.
  std::map<std::string, Shape> shapes = {};
  // Values of inputs that are the same in every run. The network is specialized for them.
  std::map<std::string, Tensor> values = {};
  // The signature of a TensorFlow or TensorFlow Lite model; empty: the one for inference.
  std::string signature = {};
  // 64 hexadecimal digits: an artifact must have this SHA-256. Refused for a model.
  std::string sha256 = {};
  // Public keys of Ed25519 as 64 hexadecimal digits: one of them must have signed an artifact. Empty: any
  // file.
  std::vector<std::string> trusted_keys = {};
  // The device that the network is for, as in Network::on(); an artifact for a device of a fleet need not run
  // here.
  Device device = Device::here();
  // Whether sizes that neither shapes nor values decide stay open: the network is then one for all of them,
  // and so is its artifact. Compiling fails if its code would be slow. Otherwise they are an error.
  bool leaves_open = false;
  Control control = {};
};

// The progress of a tuning run.
struct TuningProgress {
  std::string stage;
  int64_t trials = 0;
  double elapsed_seconds = 0, seconds_left = 0;                 // 0: not known
  double baseline_kernel_seconds = 0, best_kernel_seconds = 0;  // sums over the network's kernels
};

// A kernel of a network that tuning chooses.
struct TaskReport {
  std::string description;
  int64_t uses = 0;  // in the network
  int64_t trials = 0, failed_trials = 0;
  int64_t transferred_trials = 0;                 // of earlier runs, which count too
  double baseline_seconds = 0, best_seconds = 0;  // of one execution; 0: not measured
  std::string best_config;                        // empty: that of the baseline
};

// The time of one inference, as the sum of its kernels, after `trials` trials.
struct TuningPoint {
  double elapsed_seconds = 0;
  int64_t trials = 0;
  double network_seconds = 0;
};

struct TuningReport {
  std::string run;  // its id in the records
  int64_t trials = 0;
  double elapsed_seconds = 0;
  // The times of one inference, measured interleaved; 0: nothing faster was found, and so nothing was
  // measured.
  double baseline_seconds = 0, tuned_seconds = 0;
  bool was_stopped = false;
  std::string records;      // the database
  std::string fingerprint;  // the device's
  int threads = 1;          // threads of one inference
  std::vector<TaskReport> tasks = {};
  std::vector<TuningPoint> curve = {};
  std::map<std::string, double> stage_seconds = {};  // by the names of stages
};

// The result of quantize().
struct QuantizationResult {
  double agreement = 0;  // with the network in fp32, 0 to 1, on samples that did not calibrate it
  // The seconds of one inference, measured interleaved on this machine; 0: not measured.
  double baseline_seconds = 0, quantized_seconds = 0;
  bool is_slower = false;
  std::string verdict;  // the same as a sentence, with the reason; empty if the times were not measured
};

struct OutputCheck {
  std::string name;
  std::string criterion;  // "absolute 1.2e-06 + relative 1e-04"
  double max_absolute_error = 0, max_relative_error = 0;
  int64_t elements = 0, mismatches = 0;
  bool ok = false;
};

struct KernelTime {
  std::string op;                   // "conv+bias+relu"
  std::vector<std::string> labels;  // the nodes that it computes
  std::string strategy;
  int64_t calls = 0;
  double seconds = 0, share = 0;  // of one inference; of all kernels, 0 to 1
  double gflops_per_second = 0, gb_per_second = 0;
  double peak_share = 0, roofline_share = 0;
};

struct NetworkSizes {
  uint64_t file_bytes = 0, code_bytes = 0;
  uint64_t weight_bytes = 0, stored_weight_bytes = 0;  // in memory, in the file
  uint64_t arena_bytes = 0, scratch_bytes = 0;         // of each session, and of each of its threads
  std::vector<std::string> cpus;
};

// Throw Error if an option is out of its range, as the functions with these options do.
void check(const OptimizeOptions& options);
void check(const CompileOptions& options);
void check(const TuneOptions& options);
void check(const QuantizeOptions& options);
void check(const PictureOptions& options);

// A value type: copies are cheap.
class Network {
 public:
  // Loads a model (ONNX, TensorFlow Lite, TensorFlow, exported PyTorch) or an artifact, recognized by its
  // content. An artifact is compiled already: steps that change the network throw.
  static Network load(const std::string& path, const LoadOptions& options = {});
  // Builds one of the architectures of zoo_names(), with random weights.
  static Network zoo(const std::string& name);
  static std::vector<std::string> zoo_names();
  // Loads the artifact with these bytes.
  static Network from_artifact(std::span<const std::byte> bytes);
  // One of the C interface, which belongs to this Network and its copies from now on.
  explicit Network(attune_network* network);

  // A network that was moved from is still one.
  ~Network() = default;
  Network(const Network&) = default;
  Network& operator=(const Network&) = default;

  // Returns the network for this device. From here on, it is optimized, tuned and compiled for the device,
  // and run, verified, benched and profiled there; a network that was compiled before is compiled again, but
  // an artifact stays as it is.
  Network on(const Device& device) const;
  Network optimize(const OptimizeOptions& options = {}) const;
  // Quantizes to 8-bit integers, calibrated with `samples` of typical inputs: all inputs, by name.
  Network quantize(std::span<const NamedTensors> samples, const QuantizeOptions& options = {}) const;
  // Finds faster kernels for this machine by measuring them. Takes minutes, during which the machine should
  // do nothing else.
  Network tune(const TuneOptions& options = {}) const;
  Network compile(const CompileOptions& options = {}) const;
  // Returns the network at the input shapes of `other`, too, which must be the same model after the same
  // steps. compile() follows: its artifact has the code for both, and their weights once; run() takes the
  // code by the shapes of its inputs.
  Network with_shapes_of(const Network& other) const;

  // Writes the artifact, completely or not at all.
  void save(const std::string& path) const;
  std::vector<std::byte> artifact() const;
  // Writes the quantized model as ONNX. Throws if the network is not quantized.
  void save_onnx(const std::string& path) const;

  // Returns all outputs, in the model's order. Makes a session for each call: for many runs, see attune.hpp.
  // `threads` 0: as many as processors.
  NamedTensors run(const NamedTensors& inputs, int threads = 0) const;
  // Compares the outputs with those of the reference interpreter. Inputs that are missing are random, by
  // `seed`; so in the next two.
  std::vector<OutputCheck> verify(const NamedTensors& inputs = {}, uint64_t seed = 0, int threads = 0) const;
  // Returns the milliseconds of each run, for `seconds` seconds and at least 3 runs. `threads`: by default
  // threads(); 0: as many as processors; so in the next one. Both call `note` with a sentence if other
  // programs had the processors for a part of the time, so that the times are too long.
  std::vector<double> bench(double seconds = 1, std::optional<int> threads = {},
                            const NamedTensors& inputs = {}, uint64_t seed = 0,
                            const std::function<void(std::string_view)>& note = {}) const;
  // Returns the time of each kernel, the slowest first: the median of `rounds` runs, or of as many as a
  // device of a fleet chooses.
  std::vector<KernelTime> profile(int rounds = 20, std::optional<int> threads = {},
                                  const NamedTensors& inputs = {}, uint64_t seed = 0,
                                  const std::function<void(std::string_view)>& note = {}) const;

  std::vector<InputInfo> inputs() const;
  // -1: data decides the size.
  std::vector<InputInfo> outputs() const;
  NamedTensor random_input(const std::string& name, uint64_t seed) const;
  // Reads a picture (JPEG, PNG, BMP) for an input: resized to its size, and in the numbers that the network
  // was trained with, as the model says them unless an option does.
  NamedTensor picture(const std::string& path, const PictureOptions& options = {}) const;
  NetworkSizes sizes() const;
  bool is_compiled() const;
  bool is_quantized() const;
  // Returns the options for a compilation that no call of compile() precedes: those of the latest compile(),
  // with the changes of tune() and on(), and without its control. Its threads are 0 if no call has named any.
  const CompileOptions& compile_options() const;
  // Returns the threads of one inference, as the latest tune() or compile() was given; 1 if neither was.
  int threads() const;
  // Returns the result of quantize(); throws if the network is not quantized.
  QuantizationResult quantization() const;
  // Returns the report of the latest tune(); throws if the network is not tuned.
  const TuningReport& tuning() const;

  const attune_network* get() const;

 private:
  struct State;

  std::shared_ptr<const State> state_;
};

// Records of tuning.
struct RecordSelection {
  std::string run = {};       // TuningReport::run; empty: those of all runs
  bool is_best_only = false;  // the fastest of each task, device and number of threads
};

// Copies records from one database to another, which is made if it is missing; skips those that are there
// already. Returns the number of new records. Other programs may use both databases meanwhile.
int64_t copy_records(const std::string& from, const std::string& to, const RecordSelection& which = {});

// Reads the declarations in a model's file, without importing it; an artifact has inputs alone, and leaves
// open what differs between its sets of input shapes. `signature` as in LoadOptions.
ModelDeclaration declaration(const std::string& path, const std::string& signature = {});

// Returns the path of the user's own database of records, whether or not it exists.
std::string records_path();

// Return the library's version, "0.1.0", and an id of the build, which must be that of the worker program.
std::string version();
std::string build_id();

}  // namespace attune::compiler

#include "attune/detail/files.hpp"
#include "attune/detail/network.hpp"
#include "attune/detail/steps.hpp"

#endif  // ATTUNE_COMPILER_HPP_
