// Signatures of an artifact: who vouches for the whole file. Standard library only; safe on any bytes.
//
// A signed file is the unsigned one with more bytes after the padding at its end:
//
//   magic        8 bytes, "ATNSIGN1"
//   count        in 32 bits, 1 to kMostSignatures
//   signatures   each 32 bytes of a public key of Ed25519 and 64 of the signature
//   checksum     XXH64 of all that, which finds damage
//
// The header's size of the file counts them, and its checksum is of that. A signature signs the SHA-256 of
// the unsigned file, so that a file can be signed by several keys, in any order, and gets its unsigned bytes
// back without them. Readers of versions without signatures take these bytes for more padding.
#ifndef ATTUNE_ARTIFACT_SIGNATURE_H_
#define ATTUNE_ARTIFACT_SIGNATURE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/format.h"

namespace attune {

using Ed25519Key = std::array<uint8_t, 32>;  // a public one
using Ed25519Signature = std::array<uint8_t, 64>;

struct ArtifactSignature {
  Ed25519Key key = {};
  Ed25519Signature signature = {};

  bool operator==(const ArtifactSignature&) const = default;
};

inline constexpr size_t kMostSignatures = 16;

// The signatures in the bytes between the padding and the end of a file: none if there are no bytes; nothing
// if the bytes are malformed.
std::optional<std::vector<ArtifactSignature>> ParseSignatures(std::span<const std::byte> bytes);
// Such bytes; empty without signatures.
std::string EncodeSignatures(const std::vector<ArtifactSignature>& signatures);

// A file without its signatures: a header, and the bytes that follow it.
struct UnsignedArtifact {
  std::array<std::byte, format::kHeaderBytes> header = {};
  std::span<const std::byte> rest = {};
};

// The header's bytes for a file of this size, with the checksum for that.
std::array<std::byte, format::kHeaderBytes> HeaderOfSize(format::Header header, uint64_t file_bytes);

// `header`: that of the file, whose first `unsigned_bytes` bytes are not signatures.
UnsignedArtifact WithoutSignatures(std::span<const std::byte> file, const format::Header& header,
                                   uint64_t unsigned_bytes);

// The signed text for an unsigned file with this SHA-256, 64 hexadecimal digits.
inline std::string SignedText(std::string_view sha256) {
  return "attune artifact " + std::string(sha256) + "\n";
}

// 64 hexadecimal digits, and back; nothing for another text.
std::string KeyHex(const Ed25519Key& key);
std::optional<Ed25519Key> KeyFromHex(std::string_view hex);
// For people: the first 16 digits.
inline std::string KeyId(const Ed25519Key& key) { return KeyHex(key).substr(0, 16); }

}  // namespace attune

#endif  // ATTUNE_ARTIFACT_SIGNATURE_H_
