// Takes and gives blobs piece by piece.
#ifndef ATTUNE_FLEET_SERVING_BLOB_PIECES_H_
#define ATTUNE_FLEET_SERVING_BLOB_PIECES_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/file_descriptor.h"
#include "base/status.h"
#include "fleet/blobs/blob_piece.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/serving/file_calls.h"

namespace attune {

// Takes an upload, as far as it goes; `piece` is its first one, with the blob's digest. `read` gets the next,
// or returns false if there is none.
template <typename Piece>
absl::Status TakePieces(BlobStore& blobs, const std::string& owner, Piece piece,
                        const std::function<bool(Piece&)>& read) {
  const std::string digest = piece.digest();
  do {
    if (blobs.Has(owner, digest)) return absl::OkStatus();  // sent before, by the same owner
    RETURN_IF_ERROR(blobs.Append(owner, digest, piece.offset(), piece.bytes()));
    if (piece.is_last()) return blobs.Finish(owner, digest);
  } while (read(piece));
  return absl::OkStatus();  // the rest may come later
}

// Gives a blob of `size` bytes, as BlobStore::Read() has it, from `offset`, as part of the call.
template <typename Piece>
absl::Status GivePieces(const std::pair<FileDescriptor, int64_t>& blob, int64_t offset, FileCalls::Call& call,
                        grpc::ServerWriter<Piece>& pieces) {
  const auto& [file, size] = blob;
  if (offset < 0 || offset > size) return absl::OutOfRangeError("the blob is shorter");
  Piece piece;
  do {
    RETURN_IF_ERROR(ReadPiece(file.get(), size, offset, *piece.mutable_bytes()));
    piece.set_offset(offset);
    offset += std::ssize(piece.bytes());
    piece.set_is_last(offset >= size);
    if (!call.Await([&] { return pieces.Write(piece); })) return absl::CancelledError("the reader is gone");
  } while (offset < size);
  return absl::OkStatus();
}

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVING_BLOB_PIECES_H_
