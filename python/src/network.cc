// The classes Network and Device: the compiler's.
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attune/compiler.hpp"
#include "bindings.h"
#include "interruptible.h"
#include "options/python_options.h"
#include "results.h"
#include "tensors.h"

namespace attune::python {
namespace {

namespace nb = nanobind;
using compiler::Device;
using compiler::Network;
using Shapes = std::map<std::string, std::vector<int64_t>>;
using Arrays = std::map<std::string, Array>;

compiler::NamedTensors ToTensors(const Arrays& arrays) {
  compiler::NamedTensors tensors;
  for (const auto& [name, array] : arrays) tensors.push_back({name, ToTensor(array, name)});
  return tensors;
}

// A report of a long call: the units of work that are done, and all units.
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
             const std::string& signature, const std::string& sha256,
             const std::vector<std::string>& trusted_keys, const Device& device, bool leaves_open,
             const nb::object& progress) {
  compiler::LoadOptions options;
  options.leaves_open = leaves_open;
  options.shapes = shapes;
  for (const auto& [name, array] : values) options.values[name] = ToTensor(array, name);
  options.signature = signature;
  options.sha256 = sha256;
  options.trusted_keys = trusted_keys;
  options.device = device;
  return Follow(progress, [&](compiler::Control control) {
    options.control = std::move(control);
    return Network::load(path, options);
  });
}

Network Optimize(const Network& network, compiler::OptimizeOptions options, const Arrays& examples,
                 const nb::object& progress) {
  options.examples = ToTensors(examples);
  return Follow(progress, [&](compiler::Control control) {
    options.control = std::move(control);
    return network.optimize(options);
  });
}

Network Quantize(const Network& network, const std::vector<Arrays>& samples,
                 compiler::QuantizeOptions options, const nb::object& progress) {
  std::vector<compiler::NamedTensors> tensors;
  for (const Arrays& sample : samples) tensors.push_back(ToTensors(sample));
  return Follow(progress, [&](compiler::Control control) {
    options.control = std::move(control);
    return network.quantize(tensors, options);
  });
}

Network Tune(const Network& network, compiler::TuneOptions options, const nb::object& progress) {
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

Network Compile(const Network& network, compiler::CompileOptions options, const nb::object& progress) {
  return Follow(progress, [&](compiler::Control control) {
    options.control = std::move(control);
    return network.compile(options);
  });
}

// As the step that is left out compiles it.
Network CompileAsTold(const Network& network, const nb::object& progress) {
  return Compile(network, network.compile_options(), progress);
}

// The array of a picture, and the warning about it, which may be empty.
nb::tuple Picture(const Network& network, const std::string& path, const std::string& input,
                  compiler::PictureOptions options) {
  std::string warning;
  options.input = input;
  options.note = [&](std::string_view text) { warning = text; };
  const compiler::NamedTensor read = [&] {
    const nb::gil_scoped_release released;
    return network.picture(path, options);
  }();
  return nb::make_tuple(OwnedArray(read.tensor), warning);
}

// Lets other threads of Python run meanwhile.
template <typename Call>
auto Released(const Call& call) {
  const nb::gil_scoped_release released;
  return call();
}

nb::bytes Artifact(const Network& network) {
  const std::vector<std::byte> bytes = Released([&] { return network.artifact(); });
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
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
  return ToDicts(RunInterruptibly(
      [&](const std::stop_token&) { return network.verify(tensors, seed, threads); }, [] {}));
}

// Measures, and returns the result and the warning about it, which may be empty.
template <typename Measure>
auto Noted(const Measure& measure) {
  std::string warning;
  auto result = RunInterruptibly(
      [&](const std::stop_token&) { return measure([&](std::string_view text) { warning = text; }); }, [] {});
  return std::pair(std::move(result), std::move(warning));
}

std::pair<std::vector<double>, std::string> Bench(const Network& network, double seconds, int threads,
                                                  const Arrays& inputs, uint64_t seed) {
  const compiler::NamedTensors tensors = ToTensors(inputs);
  return Noted([&](const auto& note) { return network.bench(seconds, threads, tensors, seed, note); });
}

std::pair<nb::list, std::string> Profile(const Network& network, int rounds, int threads,
                                         const Arrays& inputs, uint64_t seed) {
  const compiler::NamedTensors tensors = ToTensors(inputs);
  const auto [kernels, warning] =
      Noted([&](const auto& note) { return network.profile(rounds, threads, tensors, seed, note); });
  return {ToDicts(kernels), warning};
}

}  // namespace

void BindNetwork(nb::module_& m) {
  BindOptions(m);
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
      .def_static("zoo_names", &Network::zoo_names)
      .def("on", &Network::on)
      .def("run", &RunOnDevice)
      .def_static("from_artifact",
                  [](const nb::bytes& artifact) {
                    const std::span bytes(reinterpret_cast<const std::byte*>(artifact.data()),
                                          artifact.size());
                    return Released([&] { return Network::from_artifact(bytes); });
                  })
      .def("optimize", &Optimize)
      .def("quantize", &Quantize)
      .def("tune", &Tune)
      .def("compile", &Compile)
      .def("with_shapes_of", &Network::with_shapes_of, nb::call_guard<nb::gil_scoped_release>())
      .def("compile_as_told", &CompileAsTold)
      .def("save", &Network::save, nb::call_guard<nb::gil_scoped_release>())
      .def("save_onnx", &Network::save_onnx, nb::call_guard<nb::gil_scoped_release>())
      .def("artifact", &Artifact)
      .def("verify", &Verify)
      .def("bench", &Bench)
      .def("profile", &Profile)
      .def("inputs", [](const Network& network) { return ToRows(network.inputs()); })
      .def("outputs", [](const Network& network) { return ToRows(network.outputs()); })
      .def("random_input", [](const Network& network, const std::string& name,
                              uint64_t seed) { return OwnedArray(network.random_input(name, seed).tensor); })
      .def("picture", &Picture)
      .def("sizes", [](const Network& network) { return ToDict(Released([&] { return network.sizes(); })); })
      .def("is_compiled", &Network::is_compiled)
      .def("is_quantized", &Network::is_quantized)
      .def("threads", &Network::threads)
      .def("quantization", [](const Network& network) { return ToDict(network.quantization()); })
      .def("tuning", [](const Network& network) { return ToDict(network.tuning()); });
}

}  // namespace attune::python
