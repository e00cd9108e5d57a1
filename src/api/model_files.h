// The files that a model consists of.
#ifndef ATTUNE_API_MODEL_FILES_H_
#define ATTUNE_API_MODEL_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace attune {

// The files besides `path`, or what is in it if it is a folder, that loading the model reads: relative to
// the folder of `path`, sorted, each once. Fails if the model is no model, or one of them is not there.
absl::StatusOr<std::vector<std::string>> FilesBesideModel(const std::string& path);

}  // namespace attune

#endif  // ATTUNE_API_MODEL_FILES_H_
