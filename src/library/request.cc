#include "library/request.h"

#include <algorithm>
#include <utility>

namespace attune::compiler {
namespace {

attune::Precision ToOwn(Precision precision) {
  switch (precision) {
    case Precision::kBF16:
      return attune::Precision::kBF16;
    case Precision::kBF16x3:
      return attune::Precision::kBF16x3;
    case Precision::kF32:
      break;
  }
  return attune::Precision::kF32;
}

DType ToOwn(Weights weights) {
  switch (weights) {
    case Weights::kF16:
      return DType::kF16;
    case Weights::kBF16:
      return DType::kBF16;
    case Weights::kF32:
      break;
  }
  return DType::kF32;
}

}  // namespace

CompileRequest RequestOf(const OptimizeOptions& optimizing, std::shared_ptr<MeasuringService> service) {
  CompileRequest request;
  request.precision = ToOwn(optimizing.precision);
  request.weights = ToOwn(optimizing.weights);
  request.unchecked_indices = optimizing.unchecked_indices;
  if (!optimizing.passes.empty()) request.passes = optimizing.passes;
  request.service = std::move(service);
  return request;
}

CompileRequest RequestOf(const OptimizeOptions& optimizing, const CompileOptions& compiling,
                         std::shared_ptr<MeasuringService> service) {
  CompileRequest request = RequestOf(optimizing, std::move(service));
  request.compact = compiling.compresses_weights;
  request.cpus = compiling.cpus;
  request.records = compiling.records;
  request.threads = std::max(1, compiling.threads);
  return request;
}

}  // namespace attune::compiler
