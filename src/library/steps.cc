// The steps of networks of the C interface, but for tuning.
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "api/pipeline.h"
#include "base/status.h"
#include "library/control.h"
#include "library/device.h"
#include "library/failure.h"
#include "library/network_state.h"
#include "library/options.h"
#include "library/step.h"
#include "library/tensors.h"
#include "options/option.h"

namespace attune::library {
namespace {

absl::StatusOr<attune_network> Optimize(const attune_network& network, attune_options options,
                                        const attune_control& control) {
  attune_network state = network.WithGraph(network.imported);
  state.optimizing = std::move(options.compile);
  state.examples = std::move(options.examples);
  ASSIGN_OR_RETURN(state.optimized, state.Optimized(control));
  return state;
}

absl::StatusOr<attune_network> Quantize(const attune_network& network, std::span<const attune_sample> samples,
                                        const attune_options& options, const attune_control& control) {
  Following following(control);
  CompileRequest request;
  request.precision = options.quantize.is_mixed ? Precision::kAuto : Precision::kInt8;
  request.service = network.service;
  request.threads = options.quantize.threads;
  request.control = following.work();
  ASSIGN_OR_RETURN(const QuantizeOptions quantizing,
                   QuantizeOptionsFor(request, options.samples, options.quantize));
  std::vector<std::vector<NamedTensor>> own;
  for (const attune_sample& sample : samples) {
    ASSIGN_OR_RETURN(std::vector<NamedTensor> inputs, ToOwn(sample.inputs, sample.count));
    own.push_back(std::move(inputs));
  }
  attune_network state = network.WithGraph(network.imported.Quantize(own, quantizing));
  RETURN_IF_ERROR(state.imported.status());
  if (network.optimized) {
    ASSIGN_OR_RETURN(state.optimized, state.Optimized(control));
  }
  return state;
}

// Whether the settings ask for nothing but a number of threads.
bool IsPlain(CompileSettings settings) {
  settings.threads = 0;
  return ChangedOptions(std::move(settings)).empty();
}

absl::StatusOr<attune_network> Compile(const attune_network& network, CompileSettings compiling,
                                       const attune_control& control) {
  const attune_tuning* const tuning = network.tuning.get();
  if (compiling.threads == 0) compiling.threads = network.compiling.threads;
  // A tuning run has compiled the network that it measured.
  if (network.is_as_measured && IsPlain(compiling) && compiling.threads == tuning->threads) return network;
  if (tuning != nullptr && compiling.records.empty() && compiling.cpus.empty())
    compiling.records = tuning->records;
  attune_network state = network;
  ASSIGN_OR_RETURN(state.optimized, state.Optimized(control));
  state.compiling = std::move(compiling);
  Following following(control);
  CompileRequest request = state.ToCompile();
  request.control = following.work();
  ASSIGN_OR_RETURN(state.compiled, CompileFor(*state.optimized, request));
  state.is_as_measured = false;
  return state;
}

absl::StatusOr<attune_network> WithShapesOf(const attune_network& network, const attune_network& other) {
  attune_network state = network;
  ASSIGN_OR_RETURN(const Network own, network.Optimized());
  ASSIGN_OR_RETURN(const Network others, other.Optimized());
  state.optimized = own.WithShapesOf(others);
  RETURN_IF_ERROR(state.optimized->status());
  state.compiled.reset();
  state.is_as_measured = false;
  return state;
}

}  // namespace
}  // namespace attune::library

using attune::library::CheckNotNull;
using attune::library::Guard;

attune_code attune_network_on(const attune_network* network, const attune_device* device,
                              attune_network** result, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, result));
    attune_network state = network->WithGraph(network->imported);
    state.compiling.cpus = {};
    state.service = attune::library::ServiceOf(device);
    *result = new attune_network(std::move(state));
    return absl::OkStatus();
  });
}

attune_code attune_network_optimize(const attune_network* network, const attune_options* options,
                                    const attune_control* control, attune_network** result,
                                    attune_failure** failure) {
  return attune::library::RunStep(
      ATTUNE_STEP_OPTIMIZE, network, options, control, result, failure,
      [&](attune_options& own, const attune_control& following_by) -> absl::StatusOr<attune_network> {
        return attune::library::Optimize(*network, std::move(own), following_by);
      });
}

attune_code attune_network_quantize(const attune_network* network, const attune_sample* samples,
                                    size_t num_samples, const attune_options* options,
                                    const attune_control* control, attune_network** result,
                                    attune_failure** failure) {
  return attune::library::RunStep(
      ATTUNE_STEP_QUANTIZE, network, options, control, result, failure,
      [&](attune_options& own, const attune_control& following_by) -> absl::StatusOr<attune_network> {
        if (num_samples > 0) RETURN_IF_ERROR(CheckNotNull(samples));
        return attune::library::Quantize(*network, std::span(samples, num_samples), own, following_by);
      });
}

attune_code attune_network_compile(const attune_network* network, const attune_options* options,
                                   const attune_control* control, attune_network** result,
                                   attune_failure** failure) {
  return attune::library::RunStep(
      ATTUNE_STEP_COMPILE, network, options, control, result, failure,
      [&](attune_options& own, const attune_control& following_by) -> absl::StatusOr<attune_network> {
        return attune::library::Compile(*network, std::move(own.compile), following_by);
      });
}

attune_code attune_network_with_shapes_of(const attune_network* network, const attune_network* other,
                                          attune_network** result, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, other, result));
    ASSIGN_OR_RETURN(attune_network state, attune::library::WithShapesOf(*network, *other));
    *result = new attune_network(std::move(state));
    return absl::OkStatus();
  });
}
