// The outputs of a network, as the process that runs it hands them over in shared memory.
#ifndef ATTUNE_MEASURE_NETWORK_OUTPUTS_H_
#define ATTUNE_MEASURE_NETWORK_OUTPUTS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "attune/attune.h"
#include "measure/item.h"

namespace attune {

// The most bytes of all outputs of a network, their shapes included: they are sent as one message.
inline constexpr size_t kMostOutputBytes = size_t{48} << 20;

// Copies the outputs of the session's last run into memory of kMostOutputBytes. If they are too large, the
// reader is told so. Makes no system call.
void WriteOutputs(const attune_model* model, attune_session* session, std::span<std::byte> memory);
// Reads what WriteOutputs() has written; safe for any bytes. Fails if the outputs were too large or the
// memory is damaged.
absl::StatusOr<std::vector<OutputValue>> ReadOutputs(std::span<const std::byte> memory);

}  // namespace attune

#endif  // ATTUNE_MEASURE_NETWORK_OUTPUTS_H_
