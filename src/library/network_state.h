// The state behind a network of the C interface; only for its own sources.
#ifndef ATTUNE_LIBRARY_NETWORK_STATE_H_
#define ATTUNE_LIBRARY_NETWORK_STATE_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "api/compile_request.h"
#include "api/network.h"
#include "api/network_on_device.h"
#include "attune/compiler.h"
#include "library/result.h"
#include "measure/service.h"
#include "options/settings.h"

// Immutable once a program has it.
struct attune_network {
  attune::Network imported;  // as the file has it, or quantized
  attune::CompileSettings optimizing = {};
  std::vector<attune::NamedTensor> examples = {};          // to optimize with
  attune::CompileSettings compiling = {};                  // see attune_network_compile_options()
  std::shared_ptr<attune::MeasuringService> service = {};  // of the network's device; null: this machine
  std::optional<attune::Network> optimized = {}, compiled = {};
  std::shared_ptr<const attune::library::Result<attune_tuning>> tuning = {};
  bool is_as_measured = false;  // whether `compiled` is what tuning has measured

  // The state after a step that makes another graph: what was optimized, compiled and tuned is gone.
  attune_network WithGraph(attune::Network graph) const;
  // The network after the steps that are needed, done with their defaults if the caller has left them out.
  absl::StatusOr<attune::Network> Optimized(const attune_control& control = {}) const;
  absl::StatusOr<attune::Network> Compiled() const;
  // Fails if the network is not quantized.
  absl::StatusOr<const attune::QuantizedModel*> Quantized() const;
  attune::NetworkOnDevice Device() const { return attune::NetworkOnDevice(service.get()); }
  // Return the requests to the compiler that follow from the settings above.
  attune::CompileRequest ToOptimize() const;
  attune::CompileRequest ToCompile() const;
};

#endif  // ATTUNE_LIBRARY_NETWORK_STATE_H_
