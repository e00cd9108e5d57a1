// The state behind a public Network; only for its own sources.
#ifndef ATTUNE_LIBRARY_NETWORK_STATE_H_
#define ATTUNE_LIBRARY_NETWORK_STATE_H_

#include <memory>
#include <optional>

#include "api/network.h"
#include "api/network_on_device.h"
#include "attune/compiler.hpp"
#include "library/request.h"

namespace attune::compiler {

struct Network::State {
  attune::Network imported;  // as the file has it, or quantized
  OptimizeOptions optimizing = {};
  CompileOptions compiling = {};                   // see Network::compile_options()
  std::shared_ptr<MeasuringService> service = {};  // of the network's device; null: this machine
  std::optional<attune::Network> optimized = {}, compiled = {};
  std::shared_ptr<const TuningReport> tuning = {};
  bool is_as_measured = false;  // whether `compiled` is what tune() has measured

  // The state after a step that makes another graph: what was optimized, compiled and tuned is gone.
  State WithGraph(attune::Network graph) const;
  // The network after the steps that are needed, done with their defaults if the caller has left them out.
  attune::Network Optimized(const Control& control = {}) const;
  attune::Network Compiled() const;
  // Throws if the network is not quantized.
  const QuantizedModel& Quantized() const;
  NetworkOnDevice Device() const { return NetworkOnDevice(service.get()); }
  // Return the requests to the compiler that follow from the options above.
  CompileRequest ToOptimize() const { return RequestOf(optimizing, service); }
  CompileRequest ToCompile() const { return RequestOf(optimizing, compiling, service); }
};

}  // namespace attune::compiler

#endif  // ATTUNE_LIBRARY_NETWORK_STATE_H_
