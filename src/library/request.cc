#include "library/request.h"

#include <algorithm>
#include <utility>

#include "options/public_options.h"

namespace attune::compiler {

CompileRequest RequestOf(const OptimizeOptions& optimizing, std::shared_ptr<MeasuringService> service) {
  CompileRequest request;
  Assign(optimizing, request);
  request.service = std::move(service);
  return request;
}

CompileRequest RequestOf(const OptimizeOptions& optimizing, const CompileOptions& compiling,
                         std::shared_ptr<MeasuringService> service) {
  CompileRequest request = RequestOf(optimizing, std::move(service));
  Assign(compiling, request);
  request.threads = std::max(1, compiling.threads);
  return request;
}

}  // namespace attune::compiler
