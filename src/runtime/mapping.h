// The bytes of an artifact's file, mapped or copied, and memory made from them.
#ifndef ATTUNE_RUNTIME_MAPPING_H_
#define ATTUNE_RUNTIME_MAPPING_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "runtime/error.h"

namespace attune {

// Read-only bytes that start at a page boundary. Immutable, so that any number of threads may read them.
class Mapping {
 public:
  ~Mapping();
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  // Maps the regular file at `path`. Errors name it. If the file is truncated later, reading the missing
  // part raises SIGBUS.
  static RuntimeStatus MapFile(const std::string& path, std::unique_ptr<Mapping>* mapping);
  // Copies the regular file at `path` to private memory, so that later changes of the file have no effect.
  static RuntimeStatus ReadFile(const std::string& path, std::unique_ptr<Mapping>* mapping);
  // Copies `bytes` to private memory.
  static RuntimeStatus Copy(std::span<const std::byte> bytes, std::unique_ptr<Mapping>* mapping);
  // Allocates `bytes` bytes of private memory, zeroed, and fills it with `write`. Fails if `write` does.
  static RuntimeStatus Make(size_t bytes, const std::function<RuntimeStatus(std::span<std::byte>)>& write,
                            std::unique_ptr<Mapping>* mapping);

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  explicit Mapping(std::span<const std::byte> bytes) : bytes_(bytes) {}

  std::span<const std::byte> bytes_;
};

}  // namespace attune

#endif  // ATTUNE_RUNTIME_MAPPING_H_
