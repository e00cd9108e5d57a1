// Passphrases from files, or from the user at the terminal.
#ifndef ATTUNE_CLI_COMMON_PASSPHRASE_H_
#define ATTUNE_CLI_COMMON_PASSPHRASE_H_

#include <string>

#include "absl/status/statusor.h"

namespace attune {

// Returns the first line of the file, which only its owner may read; asks at the terminal if `file` is empty,
// a new one twice. Fails if there is neither.
absl::StatusOr<std::string> KnownPassphrase(const std::string& file);
absl::StatusOr<std::string> NewPassphrase(const std::string& file);

}  // namespace attune

#endif  // ATTUNE_CLI_COMMON_PASSPHRASE_H_
