// Files with several certificates and keys in PEM, one after the other.
#ifndef ATTUNE_FLEET_IDENTITY_PEM_FILE_H_
#define ATTUNE_FLEET_IDENTITY_PEM_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace attune {

struct PemParts {
  std::string preamble = {};                   // the text before the first part
  std::vector<std::string> certificates = {};  // in the order of the file, as the keys
  std::vector<std::string> keys = {};
};

// The parts of the text, which are not parsed. Fails if one has no end, or is neither a certificate nor a
// private key in PKCS #8.
absl::StatusOr<PemParts> SplitPem(std::string_view text);

}  // namespace attune

#endif  // ATTUNE_FLEET_IDENTITY_PEM_FILE_H_
