#include "library/network_state.h"

#include <algorithm>
#include <utility>

#include "api/pipeline.h"
#include "base/status.h"
#include "library/control.h"
#include "library/options.h"

attune_network attune_network::WithGraph(attune::Network graph) const {
  return {.imported = std::move(graph),
          .optimizing = optimizing,
          .examples = examples,
          .compiling = compiling,
          .service = service};
}

absl::StatusOr<attune::Network> attune_network::Optimized(const attune_control& control) const {
  if (optimized) return *optimized;
  attune::library::Following following(control);
  attune::CompileRequest request = ToOptimize();
  request.control = following.work();
  return attune::OptimizeFor(imported, request, examples);
}

absl::StatusOr<attune::Network> attune_network::Compiled() const {
  if (compiled) return *compiled;
  if (imported.is_compiled()) return imported;
  ASSIGN_OR_RETURN(const attune::Network network, Optimized());
  return attune::CompileFor(network, ToCompile());
}

absl::StatusOr<const attune::QuantizedModel*> attune_network::Quantized() const {
  if (const attune::QuantizedModel* quantized = imported.quantized()) return quantized;
  return attune::InvalidInput(imported.source(), ": is not quantized; call quantize() first");
}

attune::CompileRequest attune_network::ToOptimize() const {
  attune::CompileRequest request;
  attune::library::TakeOptimizing(optimizing, request);
  request.service = service;
  return request;
}

attune::CompileRequest attune_network::ToCompile() const {
  attune::CompileRequest request;
  static_cast<attune::CompileSettings&>(request) = compiling;
  attune::library::TakeOptimizing(optimizing, request);
  request.threads = std::max(1, compiling.threads);
  request.service = service;
  return request;
}
