// A file that cannot be read or changed without its passphrase.
//
// Problem: a backup has every secret of a server, is larger than memory, and lies where others may get at it.
// Idea: the passphrase becomes a key by scrypt, which makes guessing dear; pieces of 1 MiB are encrypted and
// authenticated by AES-256-GCM, each with its number and with whether it is the last one, so that none can be
// changed, moved, left out or cut off. Price: a lost passphrase means a lost backup.
//
//   magic    8 bytes, "ATNSEAL1", which stands for all parameters
//   salt     32 bytes
//   pieces   each: its length in 32 bits, little-endian; the ciphertext; 16 bytes of its tag
#ifndef ATTUNE_PROCESS_BACKUP_SEALED_FILE_H_
#define ATTUNE_PROCESS_BACKUP_SEALED_FILE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/input_file.h"
#include "base/output_file.h"

namespace attune {

inline constexpr size_t kSealBytes = 8 + 32;

// Encrypts or decrypts the pieces of one file. Wipes its key in the end.
class SealingKey {
 public:
  // `seal`: the first kSealBytes of the file.
  static absl::StatusOr<SealingKey> Derive(std::string_view passphrase, std::string_view seal);
  ~SealingKey();
  SealingKey(SealingKey&& other) noexcept;
  SealingKey& operator=(SealingKey&&) = delete;

  // The ciphertext and its tag.
  absl::StatusOr<std::string> Seal(std::string_view piece, bool is_last);
  // DataLoss if it is not the piece that follows the one before.
  absl::StatusOr<std::string> Open(std::string_view sealed, bool is_last);

 private:
  explicit SealingKey(std::string_view seal) : seal_(seal) {}
  std::array<uint8_t, 12> Nonce(bool is_last) const;

  const std::string seal_;
  std::array<uint8_t, 32> key_ = {};
  uint64_t number_ = 0;  // of the next piece
};

// For one thread. Errors name the file.
class SealedWriter {
 public:
  static absl::StatusOr<std::unique_ptr<SealedWriter>> Create(const std::string& path,
                                                              std::string_view passphrase);
  absl::Status Write(std::string_view bytes);
  // Only now the path has the file.
  absl::Status Finish();

 private:
  SealedWriter(std::unique_ptr<OutputFile> file, SealingKey key)
      : file_(std::move(file)), key_(std::move(key)) {}
  absl::Status WritePiece(std::string_view piece, bool is_last);

  std::unique_ptr<OutputFile> file_;
  SealingKey key_;
  std::string buffer_;
};

// For one thread. Errors name the file: DataLoss if the passphrase is another one or the file was changed or
// cut off.
class SealedReader {
 public:
  static absl::StatusOr<std::unique_ptr<SealedReader>> Open(const std::string& path,
                                                            std::string_view passphrase);
  // Returns the next bytes, at most `most`; empty at the end.
  absl::StatusOr<std::string_view> Read(size_t most);

 private:
  SealedReader(std::string path, InputFile file, SealingKey key)
      : path_(std::move(path)), file_(std::move(file)), key_(std::move(key)) {}
  absl::Status ReadPiece();
  absl::Status Damaged() const;

  const std::string path_;
  const InputFile file_;
  SealingKey key_;
  int64_t offset_ = kSealBytes;
  bool has_ended_ = false;
  std::string piece_;
  size_t taken_ = 0;  // of the piece
};

}  // namespace attune

#endif  // ATTUNE_PROCESS_BACKUP_SEALED_FILE_H_
