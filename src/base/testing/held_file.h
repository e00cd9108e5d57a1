// For tests that wait for processes whose numbers they do not know, such as those in other PID namespaces.
#ifndef ATTUNE_BASE_TESTING_HELD_FILE_H_
#define ATTUNE_BASE_TESTING_HELD_FILE_H_

#include <fcntl.h>
#include <sys/file.h>

#include <string>

#include "base/file_descriptor.h"

namespace attune::testing {

// Whether a process holds a lock of the file (flock). The lock goes to the children of who has taken it, and
// ends with the last of them.
inline bool IsHeld(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  return file.get() >= 0 && flock(file.get(), LOCK_EX | LOCK_NB) != 0;
}

}  // namespace attune::testing

#endif  // ATTUNE_BASE_TESTING_HELD_FILE_H_
