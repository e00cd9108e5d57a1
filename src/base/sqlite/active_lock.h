// Marks work that a database knows of as alive, as long as this process works on it.
#ifndef ATTUNE_BASE_SQLITE_ACTIVE_LOCK_H_
#define ATTUNE_BASE_SQLITE_ACTIVE_LOCK_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

// A descriptor that holds the lock of the work with this id, any text, in the database at `path`; none (-1)
// if another process holds it. The system releases it when the process ends, however it ends. Errors name the
// file of locks, which is beside the database.
absl::StatusOr<FileDescriptor> LockActive(const std::string& path, const std::string& id);

}  // namespace attune

#endif  // ATTUNE_BASE_SQLITE_ACTIVE_LOCK_H_
