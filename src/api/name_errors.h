// Errors say which model they are about.
#ifndef ATTUNE_API_NAME_ERRORS_H_
#define ATTUNE_API_NAME_ERRORS_H_

#include <string>

#include "absl/status/status.h"

namespace attune {

// Adds the model's file to the front of the error, unless it is there; to each line of what is not supported
// it adds the file and a remedy at the end.
absl::Status Name(const absl::Status& status, const std::string& source);

}  // namespace attune

#endif  // ATTUNE_API_NAME_ERRORS_H_
