// The error of a file that the server refuses because of its job, so that the runner's machine is not blamed.
#ifndef ATTUNE_SERVICE_WIRE_REFUSED_FILE_H_
#define ATTUNE_SERVICE_WIRE_REFUSED_FILE_H_

#include "absl/status/status.h"
#include "absl/strings/cord.h"
#include "fleet/wire/rpc_status.h"

namespace attune {

inline constexpr char kRefusedFile[] = "refused file";  // the detail, on the wire

// Marks the error with which Jobs.WriteFile ends. A runner that does not know the mark takes it for an error
// of its machine, such as a full disk.
inline absl::Status RefusedFile(absl::Status why) {
  why.SetPayload(kRpcDetail, absl::Cord(kRefusedFile));
  return why;
}
inline bool IsRefusedFile(const absl::Status& status) {
  return status.GetPayload(kRpcDetail) == absl::Cord(kRefusedFile);
}

}  // namespace attune

#endif  // ATTUNE_SERVICE_WIRE_REFUSED_FILE_H_
