// Makes the compiler's own request of the public options.
#ifndef ATTUNE_LIBRARY_REQUEST_H_
#define ATTUNE_LIBRARY_REQUEST_H_

#include <memory>

#include "api/compile_request.h"
#include "attune/compiler.hpp"

namespace attune::compiler {

// Optimizing for a device, or compiling what was optimized by `optimizing`. A null service means this
// machine. The control is left out, since it is a call's own.
CompileRequest RequestOf(const OptimizeOptions& optimizing, std::shared_ptr<MeasuringService> service);
CompileRequest RequestOf(const OptimizeOptions& optimizing, const CompileOptions& compiling,
                         std::shared_ptr<MeasuringService> service);

}  // namespace attune::compiler

#endif  // ATTUNE_LIBRARY_REQUEST_H_
