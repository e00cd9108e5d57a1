// Keeps exceptions of libraries within one piece of work.
#ifndef ATTUNE_BASE_GUARDED_H_
#define ATTUNE_BASE_GUARDED_H_

#include <exception>

#include "absl/status/status.h"
#include "base/status.h"

namespace attune {

// Runs the work, and returns an exception as an error. For threads of servers that work on hostile input: an
// uncaught exception there ends the server.
template <typename Work>
absl::Status Guarded(const Work& work) {
  try {
    work();
    return absl::OkStatus();
  } catch (const std::exception& error) {
    return InternalError(error.what());
  }
}

}  // namespace attune

#endif  // ATTUNE_BASE_GUARDED_H_
