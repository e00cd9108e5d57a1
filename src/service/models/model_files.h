// Copies the files of a model.
#ifndef ATTUNE_SERVICE_MODELS_MODEL_FILES_H_
#define ATTUNE_SERVICE_MODELS_MODEL_FILES_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "base/file_descriptor.h"

namespace attune {

// Copies the first `bytes` bytes of a file, without its place in it, to a new file, whose folders are made.
// The disk's blocks are shared where it can do so. Errors name the path.
absl::Status CopyTo(const FileDescriptor& from, int64_t bytes, const std::string& path);

}  // namespace attune

#endif  // ATTUNE_SERVICE_MODELS_MODEL_FILES_H_
