#include "process/backup/sealed_file.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr std::string_view kMagic = "ATNSEAL1";
constexpr size_t kSaltBytes = 32, kTagBytes = 16, kLengthBytes = 4;
constexpr size_t kPieceBytes = size_t{1} << 20;
// 128 MiB and about half a second for each guess (OWASP's advice for scrypt).
constexpr uint64_t kScryptN = uint64_t{1} << 17, kScryptR = 8, kScryptP = 1;
constexpr uint64_t kScryptMemory = uint64_t{256} << 20;

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const uint8_t* BytesOf(std::string_view text) { return reinterpret_cast<const uint8_t*>(text.data()); }
uint8_t* BytesOf(std::string& text) { return reinterpret_cast<uint8_t*>(text.data()); }
int SizeOf(std::string_view text) { return static_cast<int>(text.size()); }

absl::Status Failed() { return absl::ResourceExhaustedError("OpenSSL cannot encrypt: it has no memory"); }

}  // namespace

absl::StatusOr<SealingKey> SealingKey::Derive(std::string_view passphrase, std::string_view seal) {
  SealingKey key(seal);
  const std::string_view salt = seal.substr(kMagic.size());
  if (EVP_PBE_scrypt(passphrase.data(), passphrase.size(), BytesOf(salt), salt.size(), kScryptN, kScryptR,
                     kScryptP, kScryptMemory, key.key_.data(), key.key_.size()) != 1)
    return Failed();
  return key;
}

SealingKey::SealingKey(SealingKey&& other) noexcept
    : seal_(other.seal_), key_(other.key_), number_(other.number_) {
  OPENSSL_cleanse(other.key_.data(), other.key_.size());
}

SealingKey::~SealingKey() { OPENSSL_cleanse(key_.data(), key_.size()); }

std::array<uint8_t, 12> SealingKey::Nonce(bool is_last) const {
  std::array<uint8_t, 12> nonce = {};
  for (size_t i = 0; i < sizeof(number_); ++i) nonce[i] = static_cast<uint8_t>(number_ >> (8 * i));
  nonce[sizeof(number_)] = is_last ? 1 : 0;
  return nonce;
}

absl::StatusOr<std::string> SealingKey::Seal(std::string_view piece, bool is_last) {
  const CipherContext context(EVP_CIPHER_CTX_new());
  std::string sealed(piece.size() + kTagBytes, '\0');
  int bytes = 0;
  if (context == nullptr ||
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key_.data(), Nonce(is_last).data()) !=
          1 ||
      EVP_EncryptUpdate(context.get(), nullptr, &bytes, BytesOf(seal_), SizeOf(seal_)) != 1 ||
      EVP_EncryptUpdate(context.get(), BytesOf(sealed), &bytes, BytesOf(piece), SizeOf(piece)) != 1 ||
      EVP_EncryptFinal_ex(context.get(), BytesOf(sealed) + bytes, &bytes) != 1 ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, BytesOf(sealed) + piece.size()) !=
          1)
    return Failed();
  ++number_;
  return sealed;
}

absl::StatusOr<std::string> SealingKey::Open(std::string_view sealed, bool is_last) {
  const CipherContext context(EVP_CIPHER_CTX_new());
  const std::string_view ciphertext = sealed.substr(0, sealed.size() - kTagBytes);
  std::string tag(sealed.substr(ciphertext.size())), piece(ciphertext.size(), '\0');
  int bytes = 0;
  if (context == nullptr ||
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key_.data(), Nonce(is_last).data()) !=
          1 ||
      EVP_DecryptUpdate(context.get(), nullptr, &bytes, BytesOf(seal_), SizeOf(seal_)) != 1)
    return Failed();
  if (EVP_DecryptUpdate(context.get(), BytesOf(piece), &bytes, BytesOf(ciphertext), SizeOf(ciphertext)) !=
          1 ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) != 1 ||
      EVP_DecryptFinal_ex(context.get(), BytesOf(piece) + bytes, &bytes) != 1)
    return absl::DataLossError("the piece does not match its tag");
  ++number_;
  return piece;
}

absl::StatusOr<std::unique_ptr<SealedWriter>> SealedWriter::Create(const std::string& path,
                                                                   std::string_view passphrase) {
  std::string seal(kMagic);
  seal.resize(kSealBytes);
  if (RAND_bytes(BytesOf(seal) + kMagic.size(), kSaltBytes) != 1) return Failed();
  ASSIGN_OR_RETURN(SealingKey key, SealingKey::Derive(passphrase, seal));
  ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> file, OutputFile::Create(path, FileAccess::kOwner));
  RETURN_IF_ERROR(file->Write(seal));
  return std::unique_ptr<SealedWriter>(new SealedWriter(std::move(file), std::move(key)));
}

absl::Status SealedWriter::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    // A full piece waits until it is known not to be the last one.
    if (buffer_.size() == kPieceBytes) {
      RETURN_IF_ERROR(WritePiece(buffer_, /*is_last=*/false));
      buffer_.clear();
    }
    const std::string_view part = bytes.substr(0, kPieceBytes - buffer_.size());
    buffer_.append(part);
    bytes.remove_prefix(part.size());
  }
  return absl::OkStatus();
}

absl::Status SealedWriter::Finish() {
  RETURN_IF_ERROR(WritePiece(buffer_, /*is_last=*/true));
  return file_->Finish();
}

absl::Status SealedWriter::WritePiece(std::string_view piece, bool is_last) {
  ASSIGN_OR_RETURN(const std::string sealed, key_.Seal(piece, is_last));
  std::string length(kLengthBytes, '\0');
  for (size_t i = 0; i < kLengthBytes; ++i) length[i] = static_cast<char>(piece.size() >> (8 * i));
  RETURN_IF_ERROR(file_->Write(length));
  return file_->Write(sealed);
}

absl::StatusOr<std::unique_ptr<SealedReader>> SealedReader::Open(const std::string& path,
                                                                 std::string_view passphrase) {
  ASSIGN_OR_RETURN(InputFile file, OpenInputFile(path));
  std::string seal(kSealBytes, '\0');
  if (file.bytes < static_cast<int64_t>(kSealBytes)) return InvalidInput(path, ": is not a backup of attune");
  RETURN_IF_ERROR(ReadRange(file, 0, kSealBytes, seal.data()));
  if (!absl::StartsWith(seal, kMagic))
    return InvalidInput(path, ": is not a backup of attune, or one of a newer version");
  ASSIGN_OR_RETURN(SealingKey key, SealingKey::Derive(passphrase, seal));
  return std::unique_ptr<SealedReader>(new SealedReader(path, std::move(file), std::move(key)));
}

absl::Status SealedReader::Damaged() const {
  return absl::DataLossError(absl::StrCat(
      path_, offset_ == kSealBytes
                 ? ": the passphrase is another one, or the file was damaged at its beginning"
                 : absl::StrCat(": was cut off or changed at byte ", offset_, "; restore another backup")));
}

absl::Status SealedReader::ReadPiece() {
  uint8_t length_bytes[kLengthBytes];
  if (file_.bytes - offset_ < static_cast<int64_t>(kLengthBytes + kTagBytes)) return Damaged();
  RETURN_IF_ERROR(ReadRange(file_, offset_, kLengthBytes, length_bytes));
  size_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i) length |= static_cast<size_t>(length_bytes[i]) << (8 * i);
  const int64_t end = offset_ + static_cast<int64_t>(kLengthBytes + length + kTagBytes);
  if (length > kPieceBytes || end > file_.bytes) return Damaged();
  std::string sealed(length + kTagBytes, '\0');
  RETURN_IF_ERROR(ReadRange(file_, offset_ + static_cast<int64_t>(kLengthBytes),
                            static_cast<int64_t>(sealed.size()), sealed.data()));
  has_ended_ = end == file_.bytes;
  absl::StatusOr<std::string> piece = key_.Open(sealed, has_ended_);
  if (absl::IsDataLoss(piece.status())) return Damaged();
  RETURN_IF_ERROR(piece.status());
  offset_ = end;
  piece_ = *std::move(piece);
  taken_ = 0;
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> SealedReader::Read(size_t most) {
  while (taken_ == piece_.size()) {
    if (has_ended_) return std::string_view();
    RETURN_IF_ERROR(ReadPiece());
  }
  const std::string_view part = std::string_view(piece_).substr(taken_, most);
  taken_ += part.size();
  return part;
}

}  // namespace attune
