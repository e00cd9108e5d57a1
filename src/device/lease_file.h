// Locks that hold across processes: each byte of a file that all processes of a machine share is one lock.
//
// They are open file description locks (fcntl(2), F_OFD_SETLK): each object of this class has its own
// description, so two objects in one process exclude each other as two processes do, and the system
// releases all locks of a process when it has ended, however it ends. A child made by fork shares the
// description and thus the locks: they last until one of the two unlocks them or both have ended or closed
// it. Programs started by exec do not inherit them.
//
// The folder may be shared by all users of the machine (mode 1777, the file 0666). Links are refused, and
// nothing is written into the file. The worst that others can do is to hold locks for ever, or to delete
// the file, which IsCurrent() detects.
#ifndef ATTUNE_DEVICE_LEASE_FILE_H_
#define ATTUNE_DEVICE_LEASE_FILE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

// Movable. Not thread safe. Locks only what it was asked to lock; the destructor releases all of its locks.
class LeaseFile {
 public:
  // Any number of objects may hold a shared lock of a byte, or one object an exclusive lock.
  enum class Lock : uint8_t { kShared, kExclusive };
  struct Range {
    int64_t first = 0, count = 0;
  };

  LeaseFile(LeaseFile&&) noexcept = default;
  LeaseFile& operator=(LeaseFile&&) noexcept = default;
  ~LeaseFile();

  // Creates the folder and the file in it if they are missing. Errors name the path and what is wrong with
  // it.
  static absl::StatusOr<LeaseFile> Open(const std::string& folder);

  // Locks the whole range or nothing, without waiting; returns whether it is locked. Fails if the system
  // does not support such locks, or has no more.
  absl::StatusOr<bool> TryLock(Lock lock, Range range);
  void Unlock(Range range);

  // The parts of the range that others have locked so that TryLock(lock, part) returns false, in no
  // particular order.
  absl::StatusOr<std::vector<Range>> Obstacles(Lock lock, Range range) const;

  // Whether a process that opens the path now opens this file.
  bool IsCurrent() const;

 private:
  LeaseFile(std::string path, FileDescriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  absl::Status CannotLock() const;

  std::string path_;
  FileDescriptor file_;
};

}  // namespace attune

#endif  // ATTUNE_DEVICE_LEASE_FILE_H_
