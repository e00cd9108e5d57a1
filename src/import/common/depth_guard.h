// Limits the nesting of a model's parts.
#ifndef ATTUNE_IMPORT_COMMON_DEPTH_GUARD_H_
#define ATTUNE_IMPORT_COMMON_DEPTH_GUARD_H_

#include <string_view>

#include "import/common/failure.h"

namespace attune::importing {

// Increments `depth` during its lifetime; the model is broken if that would exceed `most`. `what` names the
// parts, for the message.
class DepthGuard {
 public:
  DepthGuard(int* depth, int most, std::string_view what) : depth_(depth) {
    if (*depth_ == most) Invalid(what, " nest more than ", most, " deep");
    ++*depth_;
  }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
  ~DepthGuard() { --*depth_; }

 private:
  int* depth_;
};

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_DEPTH_GUARD_H_
