// When a server's state was restored from a backup, and what of that follows for certificates.
#ifndef ATTUNE_FLEET_ADMISSION_RESTORED_TIMES_H_
#define ATTUNE_FLEET_ADMISSION_RESTORED_TIMES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attune {

// Times are ms since 1970, UTC. Events between the two are not known any more.
struct RestoredTime {
  int64_t backup_ms = 0, restored_ms = 0;

  bool operator==(const RestoredTime&) const = default;
};

// As text, a line each, and back.
std::string FormatRestoredTimes(const std::vector<RestoredTime>& times);
absl::StatusOr<std::vector<RestoredTime>> ParseRestoredTimes(std::string_view text);

// In the file `restored` of the server's folder. Read: empty if there is no such file.
absl::Status AddRestoredTime(const std::string& folder, const RestoredTime& time);
absl::StatusOr<std::vector<RestoredTime>> ReadRestoredTimes(const std::string& folder);

// Whether a certificate of this time may have been issued, and revoked, without the store knowing it.
bool IsForgotten(const std::vector<RestoredTime>& times, int64_t issued_ms);

}  // namespace attune

#endif  // ATTUNE_FLEET_ADMISSION_RESTORED_TIMES_H_
