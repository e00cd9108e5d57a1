#include "artifact/signature.h"

#include <cstring>

#include "artifact/checksum.h"
#include "artifact/encode.h"

namespace attune {
namespace {

constexpr std::string_view kMagic = "ATNSIGN1";
constexpr std::string_view kDigits = "0123456789abcdef";

template <size_t kBytes>
void Take(std::span<const std::byte>& bytes, std::array<uint8_t, kBytes>& to) {
  std::memcpy(to.data(), bytes.data(), kBytes);
  bytes = bytes.subspan(kBytes);
}

}  // namespace

std::optional<std::vector<ArtifactSignature>> ParseSignatures(std::span<const std::byte> bytes) {
  std::vector<ArtifactSignature> signatures;
  if (bytes.empty()) return signatures;
  constexpr size_t kHead = kMagic.size() + sizeof(uint32_t), kChecksum = sizeof(uint64_t);
  constexpr size_t kEach = sizeof(Ed25519Key) + sizeof(Ed25519Signature);
  if (bytes.size() < kHead + kChecksum) return std::nullopt;
  if (std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) return std::nullopt;
  uint32_t count = 0;
  uint64_t checksum = 0;
  format::Decoder(bytes.subspan(kMagic.size()))(count);
  format::Decoder(bytes.last(kChecksum))(checksum);
  if (count == 0 || count > kMostSignatures || bytes.size() != kHead + count * kEach + kChecksum)
    return std::nullopt;
  if (Xxh64(bytes.first(bytes.size() - kChecksum)) != checksum) return std::nullopt;
  bytes = bytes.subspan(kHead);
  for (uint32_t i = 0; i < count; ++i) {
    ArtifactSignature& one = signatures.emplace_back();
    Take(bytes, one.key);
    Take(bytes, one.signature);
  }
  return signatures;
}

std::string EncodeSignatures(const std::vector<ArtifactSignature>& signatures) {
  if (signatures.empty()) return "";
  std::string text(kMagic);
  format::Encoder count;
  uint32_t number = static_cast<uint32_t>(signatures.size());
  count(number);
  text += count.bytes();
  for (const ArtifactSignature& one : signatures) {
    text.append(one.key.begin(), one.key.end());
    text.append(one.signature.begin(), one.signature.end());
  }
  format::Encoder checksum;
  uint64_t of_all = Xxh64(std::as_bytes(std::span(text)));
  checksum(of_all);
  return text + checksum.bytes();
}

std::array<std::byte, format::kHeaderBytes> HeaderOfSize(format::Header header, uint64_t file_bytes) {
  header.file_bytes = file_bytes;
  format::Encoder unchecked;
  unchecked(header);
  header.header_checksum =
      Xxh64(std::as_bytes(std::span(unchecked.bytes())).first(format::kHeaderChecksumOffset));
  format::Encoder encoded;
  encoded(header);
  std::array<std::byte, format::kHeaderBytes> bytes = {};
  std::memcpy(bytes.data(), encoded.bytes().data(), bytes.size());
  return bytes;
}

UnsignedArtifact WithoutSignatures(std::span<const std::byte> file, const format::Header& header,
                                   uint64_t unsigned_bytes) {
  return {.header = HeaderOfSize(header, unsigned_bytes),
          .rest = file.first(unsigned_bytes).subspan(format::kHeaderBytes)};
}

std::string KeyHex(const Ed25519Key& key) {
  std::string hex;
  for (const uint8_t byte : key) {
    hex.push_back(kDigits[byte >> 4]);
    hex.push_back(kDigits[byte & 15]);
  }
  return hex;
}

std::optional<Ed25519Key> KeyFromHex(std::string_view hex) {
  Ed25519Key key = {};
  if (hex.size() != 2 * key.size()) return std::nullopt;
  for (size_t i = 0; i < hex.size(); ++i) {
    const char lower = hex[i] >= 'A' && hex[i] <= 'F' ? static_cast<char>(hex[i] - 'A' + 'a') : hex[i];
    const size_t digit = kDigits.find(lower);
    if (digit == std::string_view::npos) return std::nullopt;
    key[i / 2] = static_cast<uint8_t>(key[i / 2] << 4 | digit);
  }
  return key;
}

}  // namespace attune
