// The extension module attune._core: the C++ interface as Python calls it. python/attune/ makes of it what
// people see.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "attune/attune.hpp"
#include "attune/compiler.hpp"
#include "interruptible.h"
#include "tensors.h"

namespace attune::python {
namespace {

namespace nb = nanobind;
using compiler::Device;
using compiler::Network;
using Shapes = std::map<std::string, std::vector<int64_t>>;
using Arrays = std::map<std::string, Array>;
using nb::literals::operator""_a;

// The class of attune.errors for a code, by its name there.
const char* ClassOf(compiler::ErrorCode code) {
  switch (code) {
    case compiler::ErrorCode::kInvalid:
      return "InvalidError";
    case compiler::ErrorCode::kNotFound:
      return "NotFoundError";
    case compiler::ErrorCode::kUnsupported:
      return "UnsupportedError";
    case compiler::ErrorCode::kCancelled:
      return "CancelledError";
    case compiler::ErrorCode::kNoResources:
      return "ResourceError";
    case compiler::ErrorCode::kUnavailable:
      return "UnavailableError";
    case compiler::ErrorCode::kInternal:
      break;
  }
  return "InternalError";
}

compiler::ErrorCode CodeOf(attune_code code) {
  switch (code) {
    case ATTUNE_CANNOT_READ:
      return compiler::ErrorCode::kNotFound;
    case ATTUNE_OUT_OF_MEMORY:
      return compiler::ErrorCode::kNoResources;
    case ATTUNE_KERNEL_FAILED:
      return compiler::ErrorCode::kInternal;
    default:
      return compiler::ErrorCode::kInvalid;
  }
}

void Translate(const std::exception_ptr& error, void* /*payload*/) {
  const auto raise = [](compiler::ErrorCode code, const char* text) {
    PyErr_SetString(nb::module_::import_("attune.errors").attr(ClassOf(code)).ptr(), text);
  };
  try {
    std::rethrow_exception(error);
  } catch (const compiler::Error& own) {
    raise(own.code(), own.what());
  } catch (const runtime::Error& own) {
    raise(CodeOf(own.code()), own.what());
  }
}

compiler::NamedTensors ToTensors(const Arrays& arrays) {
  compiler::NamedTensors tensors;
  for (const auto& [name, array] : arrays) tensors.push_back({name, ToTensor(array, name)});
  return tensors;
}

// A report of a long call: so many units of the work are done, of how many.
struct Step {
  std::string what;
  int64_t done = 0, total = 0;
};

// Runs a long call of the library with the caller's control.
template <typename Call>
auto Follow(const nb::object& progress, const Call& call) {
  Latest<Step> latest;
  return RunInterruptibly(
      [&](const std::stop_token& stop) {
        return call(compiler::Control{
            .progress = [&](std::string_view what, int64_t done,
                            int64_t total) { latest.Set({std::string(what), done, total}); },
            .stop = stop});
      },
      [&] {
        const std::optional<Step> step = latest.Take();
        if (step && !progress.is_none()) progress(step->what, step->done, step->total);
      });
}

Network Load(const std::string& path, const Shapes& shapes, const Arrays& values,
             const std::string& signature, const std::string& sha256, const Device& device,
             const nb::object& progress) {
  compiler::LoadOptions options;
  options.shapes = shapes;
  for (const auto& [name, array] : values) options.values[name] = ToTensor(array, name);
  options.signature = signature;
  options.sha256 = sha256;
  options.device = device;
  return Follow(progress, [&](compiler::Control control) {
    options.control = std::move(control);
    return Network::load(path, options);
  });
}

Network Optimize(const Network& network, int precision, int weights, const std::string& passes,
                 const Arrays& examples, const nb::object& progress) {
  compiler::OptimizeOptions options;
  options.precision = static_cast<compiler::Precision>(precision);
  options.weights = static_cast<compiler::Weights>(weights);
  options.passes = passes;
  options.examples = ToTensors(examples);
  return Follow(progress, [&](compiler::Control control) {
    options.control = std::move(control);
    return network.optimize(options);
  });
}

Network Quantize(const Network& network, const std::vector<Arrays>& samples, int calibration,
                 double percentile, bool is_mixed, double max_drop, int clusters, bool equalizes,
                 bool corrects_biases, int threads, const nb::object& progress) {
  compiler::QuantizeOptions options;
  options.calibration = static_cast<compiler::Calibration>(calibration);
  options.percentile = percentile;
  options.is_mixed = is_mixed;
  options.max_drop = max_drop;
  options.clusters = clusters;
  options.equalizes = equalizes;
  options.corrects_biases = corrects_biases;
  options.threads = threads;
  std::vector<compiler::NamedTensors> tensors;
  for (const Arrays& sample : samples) tensors.push_back(ToTensors(sample));
  return Follow(progress, [&](compiler::Control control) {
    options.control = std::move(control);
    return network.quantize(tensors, options);
  });
}

Network Tune(const Network& network, int64_t trials, int64_t trials_per_task, double seconds, int threads,
             int batch, uint64_t seed, double execution_seconds, bool transfers_from_runs,
             const std::string& records, const std::string& events, const nb::object& progress) {
  compiler::TuneOptions options;
  options.trials = trials;
  options.trials_per_task = trials_per_task;
  options.seconds = seconds;
  options.threads = threads;
  options.batch = batch;
  options.seed = seed;
  options.execution_seconds = execution_seconds;
  options.transfers_from_runs = transfers_from_runs;
  options.records = records;
  options.events = events;
  Latest<compiler::TuningProgress> latest;
  options.progress = [&](const compiler::TuningProgress& report) { latest.Set(report); };
  return RunInterruptibly(
      [&](const std::stop_token& stop) {
        options.stop = stop;
        return network.tune(options);
      },
      [&] {
        const auto report = latest.Take();
        if (report && !progress.is_none())
          progress(report->stage, report->trials, report->elapsed_seconds, report->seconds_left,
                   report->baseline_kernel_seconds, report->best_kernel_seconds);
      });
}

Network Compile(const Network& network, const std::vector<std::string>& cpus, int threads,
                const std::string& records, bool compresses_weights, const nb::object& progress) {
  compiler::CompileOptions options;
  options.cpus = cpus;
  options.threads = threads;
  options.records = records;
  options.compresses_weights = compresses_weights;
  return Follow(progress, [&](compiler::Control control) {
    options.control = std::move(control);
    return network.compile(options);
  });
}

nb::bytes Artifact(const Network& network) {
  const std::vector<std::byte> bytes = network.artifact();
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// An array with the tensor's memory.
nb::object OwnedArray(compiler::Tensor tensor) {
  auto kept = std::make_unique<compiler::Tensor>(std::move(tensor));
  const std::span<std::byte> bytes = kept->mutable_bytes();
  const attune_dtype dtype = kept->dtype();
  const compiler::Shape shape = kept->shape();
  const nb::capsule owner(kept.release(),
                          [](void* data) noexcept { delete static_cast<compiler::Tensor*>(data); });
  return ToNumpy(bytes.data(), dtype, shape, owner, /*is_writable=*/true);
}

nb::dict ToDict(const compiler::TuningReport& report) {
  nb::dict fields;
  fields["run"] = report.run;
  fields["trials"] = report.trials;
  fields["elapsed_seconds"] = report.elapsed_seconds;
  fields["baseline_seconds"] = report.baseline_seconds;
  fields["tuned_seconds"] = report.tuned_seconds;
  fields["was_stopped"] = report.was_stopped;
  fields["records"] = report.records;
  fields["fingerprint"] = report.fingerprint;
  nb::list tasks, curve;
  for (const compiler::TaskReport& task : report.tasks) {
    nb::dict row;
    row["description"] = task.description;
    row["uses"] = task.uses;
    row["trials"] = task.trials;
    row["failed_trials"] = task.failed_trials;
    row["transferred_trials"] = task.transferred_trials;
    row["baseline_seconds"] = task.baseline_seconds;
    row["best_seconds"] = task.best_seconds;
    row["best_config"] = task.best_config;
    tasks.append(row);
  }
  for (const compiler::TuningPoint& point : report.curve)
    curve.append(nb::make_tuple(point.elapsed_seconds, point.trials, point.network_seconds));
  fields["tasks"] = tasks;
  fields["curve"] = curve;
  fields["stage_seconds"] = report.stage_seconds;
  return fields;
}

// The outputs that the network's device computes.
nb::dict RunOnDevice(const Network& network, const Arrays& inputs, int threads) {
  const compiler::NamedTensors tensors = ToTensors(inputs);
  nb::dict outputs;
  for (compiler::NamedTensor& output :
       RunInterruptibly([&](const std::stop_token&) { return network.run(tensors, threads); }, [] {}))
    outputs[output.name.c_str()] = OwnedArray(std::move(output.tensor));
  return outputs;
}

nb::list Verify(const Network& network, const Arrays& inputs, uint64_t seed, int threads) {
  const compiler::NamedTensors tensors = ToTensors(inputs);
  nb::list rows;
  for (const compiler::OutputCheck& check : RunInterruptibly(
           [&](const std::stop_token&) { return network.verify(tensors, seed, threads); }, [] {})) {
    nb::dict row;
    row["name"] = check.name;
    row["ok"] = check.ok;
    row["criterion"] = check.criterion;
    row["max_absolute_error"] = check.max_absolute_error;
    row["max_relative_error"] = check.max_relative_error;
    row["elements"] = check.elements;
    row["mismatches"] = check.mismatches;
    rows.append(row);
  }
  return rows;
}

nb::list Profile(const Network& network, int rounds, int threads, const Arrays& inputs, uint64_t seed) {
  const compiler::NamedTensors tensors = ToTensors(inputs);
  nb::list rows;
  for (const compiler::KernelTime& kernel : RunInterruptibly(
           [&](const std::stop_token&) { return network.profile(rounds, threads, tensors, seed); }, [] {})) {
    nb::dict row;
    row["op"] = kernel.op;
    row["labels"] = kernel.labels;
    row["strategy"] = kernel.strategy;
    row["calls"] = kernel.calls;
    row["seconds"] = kernel.seconds;
    row["share"] = kernel.share;
    row["gflops_per_second"] = kernel.gflops_per_second;
    row["gb_per_second"] = kernel.gb_per_second;
    row["peak_share"] = kernel.peak_share;
    row["roofline_share"] = kernel.roofline_share;
    rows.append(row);
  }
  return rows;
}

nb::dict Sizes(const Network& network) {
  const compiler::NetworkSizes sizes = network.sizes();
  nb::dict fields;
  fields["file_bytes"] = sizes.file_bytes;
  fields["code_bytes"] = sizes.code_bytes;
  fields["weight_bytes"] = sizes.weight_bytes;
  fields["stored_weight_bytes"] = sizes.stored_weight_bytes;
  fields["arena_bytes"] = sizes.arena_bytes;
  fields["scratch_bytes"] = sizes.scratch_bytes;
  fields["cpus"] = sizes.cpus;
  return fields;
}

nb::list Inputs(const Network& network) {
  nb::list rows;
  for (const compiler::InputInfo& input : network.inputs())
    rows.append(nb::make_tuple(input.name, attune_dtype_name(input.dtype), input.shape, input.text));
  return rows;
}

// (name, dtype, dims or None) of each.
nb::list Declared(const std::vector<compiler::InputInfo>& tensors) {
  nb::list rows;
  for (const compiler::InputInfo& tensor : tensors) {
    nb::list dims;
    for (size_t d = 0; d < tensor.dims.size(); ++d)
      dims.append(tensor.shape[d] < 0 ? nb::cast(tensor.dims[d]) : nb::cast(tensor.shape[d]));
    // The text has the name of a type that Attune does not have, too.
    rows.append(nb::make_tuple(tensor.name, tensor.text.substr(0, tensor.text.find('[')),
                               tensor.has_shape ? nb::object(dims) : nb::none()));
  }
  return rows;
}

nb::dict Declaration(const std::string& path, const std::string& signature) {
  const compiler::ModelDeclaration declaration = compiler::declaration(path, signature);
  nb::dict fields;
  fields["inputs"] = Declared(declaration.inputs);
  fields["outputs"] = Declared(declaration.outputs);
  fields["files"] = declaration.files;
  // Texts of a file may be of any bytes.
  const auto decode = [](const std::map<std::string, std::string>& texts) {
    nb::dict decoded;
    for (const auto& [key, text] : texts)
      decoded[nb::steal(PyUnicode_DecodeUTF8(key.data(), static_cast<Py_ssize_t>(key.size()), "replace"))] =
          nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
    return decoded;
  };
  fields["about"] = decode(declaration.about);
  fields["metadata"] = decode(declaration.metadata);
  return fields;
}

// A loaded artifact. Sessions keep it alive.
using Model = runtime::Model;

// One session and the model that it runs.
class Session {
 public:
  Session(std::shared_ptr<const Model> model, size_t threads)
      : model_(std::move(model)), session_(*model_, threads) {}

  const Model& model() const { return *model_; }
  // The memory that the network reads the input from.
  nb::object Input(nb::handle self, size_t index) {
    const runtime::TensorInfo info = model_->input(index);
    return ToNumpy(session_.input_bytes(index).data(), info.dtype, {info.shape.begin(), info.shape.end()},
                   self,
                   /*is_writable=*/true);
  }
  void Run() {
    const nb::gil_scoped_release released;
    session_.run();
  }
  // The memory that the network has written the output to.
  nb::object Output(nb::handle self, size_t index) {
    const runtime::Output output = session_.output(index);
    return ToNumpy(const_cast<std::byte*>(output.bytes.data()), output.dtype,
                   {output.shape.begin(), output.shape.end()}, self, /*is_writable=*/false);
  }

 private:
  std::shared_ptr<const Model> model_;
  runtime::Session session_;
};

nb::list Infos(const Model& model, size_t count, runtime::TensorInfo (Model::*get)(size_t) const) {
  nb::list rows;
  for (size_t i = 0; i < count; ++i) {
    const runtime::TensorInfo info = (model.*get)(i);
    rows.append(nb::make_tuple(info.name, attune_dtype_name(info.dtype),
                               std::vector<int64_t>(info.shape.begin(), info.shape.end())));
  }
  return rows;
}

}  // namespace

NB_MODULE(_core, m) {
  nb::register_exception_translator(Translate);
  m.def("version", &compiler::version);
  m.def("build_id", &compiler::build_id);
  m.def("array", &ToSharedNumpy);
  m.def("declaration", &Declaration);
  m.def("records_path", &compiler::records_path);

  m.def(
      "copy_records",
      [](const std::string& from, const std::string& to, const std::string& run, bool is_best_only) {
        return compiler::copy_records(from, to, {.run = run, .is_best_only = is_best_only});
      },
      nb::call_guard<nb::gil_scoped_release>());

  nb::class_<Device>(m, "Device")
      .def_static("here", &Device::here)
      .def_static("in_fleet", &Device::in_fleet, nb::call_guard<nb::gil_scoped_release>())
      .def("is_here", &Device::is_here)
      .def("fingerprint", &Device::fingerprint)
      .def("cpu", &Device::cpu)
      .def("processors", &Device::processors);

  nb::class_<Network>(m, "Network")
      .def_static("load", &Load)
      .def_static("zoo", &Network::zoo, nb::call_guard<nb::gil_scoped_release>())
      .def("on", &Network::on)
      .def("run", &RunOnDevice)
      .def_static("from_artifact",
                  [](const nb::bytes& artifact) {
                    return Network::from_artifact(
                        std::span(reinterpret_cast<const std::byte*>(artifact.data()), artifact.size()));
                  })
      .def("optimize", &Optimize)
      .def("quantize", &Quantize)
      .def("tune", &Tune)
      .def("compile", &Compile)
      .def("save", &Network::save, nb::call_guard<nb::gil_scoped_release>())
      .def("save_onnx", &Network::save_onnx, nb::call_guard<nb::gil_scoped_release>())
      .def("artifact", &Artifact)
      .def("verify", &Verify)
      .def("bench",
           [](const Network& network, double seconds, int threads, const Arrays& inputs, uint64_t seed) {
             const compiler::NamedTensors tensors = ToTensors(inputs);
             return RunInterruptibly(
                 [&](const std::stop_token&) { return network.bench(seconds, threads, tensors, seed); },
                 [] {});
           })
      .def("profile", &Profile)
      .def("inputs", &Inputs)
      .def("random_input", [](const Network& network, const std::string& name,
                              uint64_t seed) { return OwnedArray(network.random_input(name, seed).tensor); })
      .def("sizes", &Sizes)
      .def("is_compiled", &Network::is_compiled)
      .def("is_quantized", &Network::is_quantized)
      .def("tuning", [](const Network& network) { return ToDict(network.tuning()); });

  nb::class_<Model>(m, "Model")
      .def_static("of",
                  [](const nb::bytes& artifact) {
                    return std::make_shared<Model>(
                        std::span(reinterpret_cast<const std::byte*>(artifact.data()), artifact.size()));
                  })
      .def("inputs", [](const Model& model) { return Infos(model, model.num_inputs(), &Model::input); })
      .def("outputs", [](const Model& model) { return Infos(model, model.num_outputs(), &Model::output); })
      .def("metadata", &Model::metadata);

  nb::class_<Session>(m, "Session")
      .def(nb::init<std::shared_ptr<const Model>, size_t>(), nb::call_guard<nb::gil_scoped_release>())
      .def("input", [](nb::handle self, size_t index) { return nb::cast<Session&>(self).Input(self, index); })
      .def("run", &Session::Run)
      .def("output",
           [](nb::handle self, size_t index) { return nb::cast<Session&>(self).Output(self, index); });
}

}  // namespace attune::python
