#include "service/queue/job_file_pieces.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "fleet/blobs/blob_piece.h"
#include "service/wire/checked_messages.h"

namespace attune {
namespace {

using Content = std::pair<FileDescriptor, int64_t>;

// Whether `bytes` more bytes may come.
using AdmitMore = std::function<absl::Status(int64_t bytes)>;

// Adds a range of the earlier content to what was sent.
absl::Status AppendSame(BlobStore& files, const std::string& owner, const Content& before,
                        const jobs_service_proto::FilePiece& piece, const AdmitMore& admit) {
  const auto& [file, bytes] = before;
  int64_t offset = piece.offset();
  if (offset < 0 || offset > bytes || piece.same_bytes() > bytes - offset)
    return absl::OutOfRangeError(absl::StrCat(piece.name(), ": was shorter before"));
  RETURN_IF_ERROR(admit(piece.same_bytes()));
  const int64_t end = offset + piece.same_bytes();
  std::string range;
  while (offset < end) {
    RETURN_IF_ERROR(ReadPiece(file.get(), bytes, offset, range));
    range.resize(static_cast<size_t>(std::min(std::ssize(range), end - offset)));
    RETURN_IF_ERROR(files.Append(owner, piece.digest(), offset, range));
    offset += std::ssize(range);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status TakeJobFile(BlobStore& files, const std::string& owner, jobs_service_proto::FilePiece piece,
                         const std::function<bool(jobs_service_proto::FilePiece&)>& read,
                         const std::function<absl::Status(int64_t bytes)>& admit) {
  const std::string digest = piece.digest(), base = piece.base(), name = piece.name();
  if (files.Has(owner, digest)) return absl::OkStatus();
  RETURN_IF_ERROR(files.Forget(owner, digest));
  int64_t taken = 0;
  const AdmitMore admit_more = [&](int64_t bytes) -> absl::Status {
    taken += bytes;
    const absl::Status admitted = admit ? admit(taken) : absl::OkStatus();
    if (!admitted.ok()) RETURN_IF_ERROR(files.Forget(owner, digest));
    return admitted;
  };
  std::optional<Content> before;
  do {
    RETURN_IF_ERROR(CheckPiece(piece));
    // Later pieces need not repeat these.
    piece.set_digest(digest);
    piece.set_name(name);
    if (piece.same_bytes() > 0) {
      if (!before) {
        ASSIGN_OR_RETURN(before, files.Read(owner, base));
      }
      RETURN_IF_ERROR(AppendSame(files, owner, *before, piece, admit_more));
    } else {
      RETURN_IF_ERROR(admit_more(std::ssize(piece.bytes())));
      RETURN_IF_ERROR(files.Append(owner, digest, piece.offset(), piece.bytes()));
    }
    if (piece.is_last()) return files.Finish(owner, digest);
  } while (read(piece));
  return absl::OkStatus();  // the sender is gone, and the stage with it
}

}  // namespace attune
