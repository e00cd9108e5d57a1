// Keeps the logs of services from filling the disk.
#ifndef ATTUNE_PROCESS_SETUP_LOG_FILE_H_
#define ATTUNE_PROCESS_SETUP_LOG_FILE_H_

#include <cstdint>
#include <string>

namespace attune {

inline constexpr uintmax_t kMostLogBytes = uintmax_t{16} << 20;

// A log that has become longer than that is moved to PATH.old, in the place of an earlier one, and starts
// anew. Programs that append to it keep using the file that they have open: it is copied and cut, so that a
// line which is written between the two is lost. Does nothing if that fails, as on a full disk.
void TurnLog(const std::string& path, uintmax_t most_bytes = kMostLogBytes);

}  // namespace attune

#endif  // ATTUNE_PROCESS_SETUP_LOG_FILE_H_
