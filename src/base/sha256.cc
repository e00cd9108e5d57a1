#include "base/sha256.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>

#include "absl/strings/escaping.h"
#include "base/status.h"

namespace attune {
namespace {

// OpenSSL computes it unless it has no memory.
void CheckMemory(bool has_succeeded) {
  if (!has_succeeded) throw std::bad_alloc();
}

}  // namespace

void Sha256::Free::operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  CheckMemory(context_ != nullptr && EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
}

void Sha256::Add(std::string_view bytes) {
  CheckMemory(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

std::string Sha256::Finish() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int size = 0;
  CheckMemory(EVP_DigestFinal_ex(context_.get(), digest.data(), &size) == 1);
  return absl::BytesToHexString(std::string_view(reinterpret_cast<const char*>(digest.data()), size));
}

absl::StatusOr<std::string> Sha256OfFile(const InputFile& file) {
  constexpr int64_t kPieceBytes = 1 << 18;
  Sha256 sum;
  std::string piece;
  for (int64_t offset = 0; offset < file.bytes; offset += std::ssize(piece)) {
    piece.resize(static_cast<size_t>(std::min(kPieceBytes, file.bytes - offset)));
    RETURN_IF_ERROR(ReadRange(file, offset, std::ssize(piece), piece.data()));
    sum.Add(piece);
  }
  return sum.Finish();
}

}  // namespace attune
