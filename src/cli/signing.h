// Files with keys that sign artifacts, and with keys that are trusted.
#ifndef ATTUNE_CLI_SIGNING_H_
#define ATTUNE_CLI_SIGNING_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attune {

// Public keys of the files, in PEM, each as 64 hexadecimal digits. Errors name the file.
absl::StatusOr<std::vector<std::string>> ReadTrustedKeys(const std::vector<std::string>& files);

// Signs the artifact in a file by the private key in another one, which only its owner may read. The artifact
// is replaced as a whole.
absl::Status SignFile(const std::string& artifact, const std::string& key_file);

}  // namespace attune

#endif  // ATTUNE_CLI_SIGNING_H_
