// Sends a file to the server piece by piece.
#ifndef ATTUNE_FLEET_CLIENT_SEND_PIECES_H_
#define ATTUNE_FLEET_CLIENT_SEND_PIECES_H_

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "base/input_file.h"
#include "fleet/blobs/blob_piece.h"
#include "fleet/client/server_call.h"
#include "fleet/identity/credentials.h"
#include "fleet/wire/channel.h"

namespace attune {

// Sends the file from `offset` over a call that has begun, and ends the call. `piece` has what else the
// server needs to know. `follow`, unless it is null, is told how many bytes are about to have been sent; an
// error ends the sending.
template <typename Piece>
absl::Status SendPieces(const InputFile& file, int64_t offset, Piece piece,
                        const std::function<absl::Status(int64_t)>& follow, grpc::ClientContext& context,
                        grpc::ClientWriter<Piece>& pieces, const FleetCredentials& credentials) {
  absl::Status status;
  do {
    const int64_t count = std::min(kBlobPieceBytes, file.bytes - offset);
    piece.set_offset(offset);
    piece.mutable_bytes()->resize(static_cast<size_t>(count));
    status = ReadRange(file, offset, count, piece.mutable_bytes()->data());
    offset += count;
    piece.set_is_last(offset == file.bytes);
    if (status.ok() && follow) status = follow(offset);
  } while (status.ok() && pieces.Write(piece) && offset < file.bytes);
  if (!status.ok()) context.TryCancel();
  pieces.WritesDone();
  const absl::Status ended = ExplainServerCall(pieces.Finish(), credentials);
  return status.ok() ? ended : status;
}

}  // namespace attune

#endif  // ATTUNE_FLEET_CLIENT_SEND_PIECES_H_
