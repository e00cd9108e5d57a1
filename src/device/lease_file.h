// Locks that hold across processes: one byte of a file that all processes of a machine share is one lock.
//
// They are open file description locks (fcntl(2), F_OFD_SETLK): each object of this class has a description
// of its own, so two in one process exclude each other as two processes do, and the system frees all of one
// when its process has ended, however it ends. A child made by fork shares the description and so the locks:
// they last until one of the two unlocks them or both have ended or closed it. Programs that are executed do
// not inherit it.
//
// The folder may be shared by all users of the machine (mode 1777, the file 0666). Links are refused, and
// nothing is written into the file. What others can do is hold locks for ever, or delete the file, which
// IsCurrent() tells.
#ifndef ATTUNE_DEVICE_LEASE_FILE_H_
#define ATTUNE_DEVICE_LEASE_FILE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

// Movable. Not thread safe. Locks nothing that it has not been asked for, and nothing any more when it is
// gone.
class LeaseFile {
 public:
  // Any number of objects may have a shared lock of a byte, or one an exclusive lock.
  enum class Lock : uint8_t { kShared, kExclusive };
  struct Range {
    int64_t first = 0, count = 0;
  };

  LeaseFile(LeaseFile&&) noexcept = default;
  LeaseFile& operator=(LeaseFile&&) noexcept = default;
  ~LeaseFile();

  // Makes the folder and the file in it where they are missing. Errors name the path and what is wrong with
  // it.
  static absl::StatusOr<LeaseFile> Open(const std::string& folder);

  // Whether all of the range is now locked so by this object, at once or not at all. Fails where the system
  // does not know such locks, or has no more.
  absl::StatusOr<bool> TryLock(Lock lock, Range range);
  void Unlock(Range range);

  // The parts of the range which others have locked so that TryLock(lock, part) is false, in no order.
  absl::StatusOr<std::vector<Range>> Obstacles(Lock lock, Range range) const;

  // Whether who opens the file now gets this one.
  bool IsCurrent() const;

 private:
  LeaseFile(std::string path, FileDescriptor file) : path_(std::move(path)), file_(std::move(file)) {}

  absl::Status CannotLock() const;

  std::string path_;
  FileDescriptor file_;
};

}  // namespace attune

#endif  // ATTUNE_DEVICE_LEASE_FILE_H_
