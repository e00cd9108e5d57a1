#include "runtime/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/joined.h"

namespace attune {
namespace {

RuntimeStatus CannotRead(const std::string& path, const char* why) {
  return {ATTUNE_CANNOT_READ, Joined({path, ": cannot be read: ", why})};
}

// An open regular file; the destructor closes it.
class InputFile {
 public:
  InputFile() = default;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() {
    if (fd_ >= 0) close(fd_);
  }

  RuntimeStatus Open(const std::string& path) {
    // Without O_NONBLOCK, opening a named pipe would wait for its writer.
    fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat info;
    if (fd_ < 0 || fstat(fd_, &info) != 0) return CannotRead(path, strerror(errno));
    if (!S_ISREG(info.st_mode)) return CannotRead(path, "it is not a regular file");
    bytes_ = static_cast<size_t>(info.st_size);
    return {};
  }

  int fd() const { return fd_; }
  size_t bytes() const { return bytes_; }  // at the time of opening

 private:
  int fd_ = -1;
  size_t bytes_ = 0;
};

// Fills `to` with the start of the file.
RuntimeStatus ReadAll(const std::string& path, int fd, std::span<std::byte> to) {
  for (size_t done = 0; done < to.size();) {
    const ssize_t count = read(fd, to.data() + done, to.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return CannotRead(path, strerror(errno));
    if (count == 0) return CannotRead(path, "it became shorter meanwhile");
    done += static_cast<size_t>(count);
  }
  return {};
}

}  // namespace

Mapping::~Mapping() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

RuntimeStatus Mapping::MapFile(const std::string& path, std::unique_ptr<Mapping>* mapping) {
  InputFile file;
  if (RuntimeStatus status = file.Open(path); !status.ok()) return status;
  std::span<const std::byte> bytes;
  if (file.bytes() != 0) {  // mmap rejects an empty mapping
    void* address = mmap(nullptr, file.bytes(), PROT_READ, MAP_PRIVATE, file.fd(), 0);
    if (address == MAP_FAILED) return CannotRead(path, strerror(errno));
    bytes = {static_cast<const std::byte*>(address), file.bytes()};
  }
  mapping->reset(new Mapping(bytes));
  return {};
}

RuntimeStatus Mapping::ReadFile(const std::string& path, std::unique_ptr<Mapping>* mapping) {
  InputFile file;
  if (RuntimeStatus status = file.Open(path); !status.ok()) return status;
  const auto read = [&](std::span<std::byte> to) { return ReadAll(path, file.fd(), to); };
  return Make(file.bytes(), read, mapping);
}

RuntimeStatus Mapping::Copy(std::span<const std::byte> bytes, std::unique_ptr<Mapping>* mapping) {
  const auto copy = [bytes](std::span<std::byte> to) {
    std::memcpy(to.data(), bytes.data(), bytes.size());
    return RuntimeStatus();
  };
  return Make(bytes.size(), copy, mapping);
}

RuntimeStatus Mapping::Make(size_t bytes, const std::function<RuntimeStatus(std::span<std::byte>)>& write,
                            std::unique_ptr<Mapping>* mapping) {
  std::unique_ptr<Mapping> made(new Mapping({}));
  if (bytes != 0) {
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) {
      return {ATTUNE_OUT_OF_MEMORY, Joined({"no memory for an artifact of ", bytes, " bytes"})};
    }
    // Use huge pages if possible, as the system does for its cached copy of a file.
    madvise(address, bytes, MADV_HUGEPAGE);
    made->bytes_ = {static_cast<const std::byte*>(address), bytes};
    if (RuntimeStatus status = write({static_cast<std::byte*>(address), bytes}); !status.ok()) return status;
    mprotect(address, bytes, PROT_READ);
  }
  *mapping = std::move(made);
  return {};
}

}  // namespace attune
