// Errors inside the runtime, which has no dependencies that could define them.
#ifndef ATTUNE_RUNTIME_ERROR_H_
#define ATTUNE_RUNTIME_ERROR_H_

#include <string>
#include <utility>

#include "attune/attune.h"

namespace attune {

// The result of a function of the C interface: ATTUNE_OK, or a code with one sentence.
struct [[nodiscard]] RuntimeStatus {
  attune_code code = ATTUNE_OK;
  std::string message;

  bool ok() const { return code == ATTUNE_OK; }
};

}  // namespace attune

#endif  // ATTUNE_RUNTIME_ERROR_H_
