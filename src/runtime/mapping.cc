#include "runtime/mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace attune {
namespace {

RuntimeStatus CannotRead(const std::string& path, const char* why) {
  return {ATTUNE_CANNOT_READ, path + ": cannot be read: " + why};
}

// Maps `fd`'s file; the mapping outlives the descriptor.
RuntimeStatus MapDescriptor(const std::string& path, int fd, std::span<const std::byte>* bytes) {
  struct stat info;
  if (fstat(fd, &info) != 0) return CannotRead(path, strerror(errno));
  if (!S_ISREG(info.st_mode)) return CannotRead(path, "it is not a regular file");
  if (info.st_size == 0) return {};  // an empty mapping is an error of mmap
  const size_t size = static_cast<size_t>(info.st_size);
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) return CannotRead(path, strerror(errno));
  *bytes = {static_cast<const std::byte*>(address), size};
  return {};
}

}  // namespace

Mapping::~Mapping() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

RuntimeStatus Mapping::MapFile(const std::string& path, std::unique_ptr<Mapping>* mapping) {
  // Without O_NONBLOCK, opening a named pipe would wait for its writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return CannotRead(path, strerror(errno));
  std::span<const std::byte> bytes;
  RuntimeStatus status = MapDescriptor(path, fd, &bytes);
  close(fd);
  if (status.ok()) mapping->reset(new Mapping(bytes));
  return status;
}

RuntimeStatus Mapping::Copy(std::span<const std::byte> bytes, std::unique_ptr<Mapping>* mapping) {
  return Make(
      bytes.size(), [bytes](std::span<std::byte> to) { std::memcpy(to.data(), bytes.data(), bytes.size()); },
      mapping);
}

RuntimeStatus Mapping::Make(size_t bytes, const std::function<void(std::span<std::byte>)>& write,
                            std::unique_ptr<Mapping>* mapping) {
  if (bytes == 0) {
    mapping->reset(new Mapping({}));
    return {};
  }
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED) {
    return {ATTUNE_OUT_OF_MEMORY, "no memory for an artifact of " + std::to_string(bytes) + " bytes"};
  }
  // As the system's copy of a file's pages is, where it can.
  madvise(address, bytes, MADV_HUGEPAGE);
  write({static_cast<std::byte*>(address), bytes});
  mprotect(address, bytes, PROT_READ);
  mapping->reset(new Mapping({static_cast<const std::byte*>(address), bytes}));
  return {};
}

}  // namespace attune
