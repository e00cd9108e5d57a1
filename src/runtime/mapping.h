// The bytes of an artifact's file, mapped or copied, and what is made of them.
#ifndef ATTUNE_RUNTIME_MAPPING_H_
#define ATTUNE_RUNTIME_MAPPING_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "runtime/error.h"

namespace attune {

// Read-only bytes that start at a page. Immutable, so that any number of threads may read them.
class Mapping {
 public:
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  // Maps the regular file at `path`. Errors name it. Where the file becomes shorter, reading what it lacks is
  // SIGBUS.
  static RuntimeStatus MapFile(const std::string& path, std::unique_ptr<Mapping>* mapping);
  // Memory of its own with the content of the regular file at `path`, which nobody can change and which stays
  // whatever becomes of the file.
  static RuntimeStatus ReadFile(const std::string& path, std::unique_ptr<Mapping>* mapping);
  // Likewise with a copy of `bytes`.
  static RuntimeStatus Copy(std::span<const std::byte> bytes, std::unique_ptr<Mapping>* mapping);
  // Memory of its own of `bytes` bytes: zero where `write` does not write.
  // Fails where `write` does.
  static RuntimeStatus Make(size_t bytes, const std::function<RuntimeStatus(std::span<std::byte>)>& write,
                            std::unique_ptr<Mapping>* mapping);

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit Mapping(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

}  // namespace attune

#endif  // ATTUNE_RUNTIME_MAPPING_H_
