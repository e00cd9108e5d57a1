// Blobs are read and sent in pieces.
#ifndef ATTUNE_FLEET_BLOBS_BLOB_PIECE_H_
#define ATTUNE_FLEET_BLOBS_BLOB_PIECE_H_

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace attune {

// The size of each piece but the last.
inline constexpr int64_t kBlobPieceBytes = 256 << 10;

// Reads the piece of a blob of `size` bytes that begins at `offset`.
inline absl::Status ReadPiece(int file, int64_t size, int64_t offset, std::string& piece) {
  piece.resize(kBlobPieceBytes);
  const ssize_t count = pread(file, piece.data(), piece.size(), offset);
  if (count < 0 || (count == 0 && offset < size)) return absl::InternalError("the blob cannot be read");
  piece.resize(static_cast<size_t>(count));
  return absl::OkStatus();
}

}  // namespace attune

#endif  // ATTUNE_FLEET_BLOBS_BLOB_PIECE_H_
