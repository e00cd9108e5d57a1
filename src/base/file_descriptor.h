#ifndef ATTUNE_BASE_FILE_DESCRIPTOR_H_
#define ATTUNE_BASE_FILE_DESCRIPTOR_H_

#include <unistd.h>

#include <utility>

namespace attune {

// Owns a file descriptor, or none (-1).
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor() { Close(); }

  int get() const { return fd_; }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_FILE_DESCRIPTOR_H_
