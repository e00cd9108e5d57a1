// SHA-256, written here because the runtime has no dependencies.
#ifndef ATTUNE_RUNTIME_SHA256_H_
#define ATTUNE_RUNTIME_SHA256_H_

#include <cstddef>
#include <span>
#include <string>

namespace attune {

// The SHA-256 of `bytes` (FIPS 180-4) as 64 lower-case hexadecimal digits.
std::string RuntimeSha256Hex(std::span<const std::byte> bytes);
// Returns the digest of the bytes of `head`, at most 4 KiB, followed by those of `rest`.
std::string RuntimeSha256Hex(std::span<const std::byte> head, std::span<const std::byte> rest);

}  // namespace attune

#endif  // ATTUNE_RUNTIME_SHA256_H_
