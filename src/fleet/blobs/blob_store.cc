#include "fleet/blobs/blob_store.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"
#include "fleet/blobs/blob_piece.h"
#include "fleet/blobs/folder_blob_store.h"

namespace attune {

bool IsBlobDigest(std::string_view text) {
  constexpr size_t kDigits = 64;
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

absl::Status CheckBlobDigest(const std::string& digest) {
  return IsBlobDigest(digest) ? absl::OkStatus()
                              : InvalidInput("\"", Printable(digest), "\" is not a digest");
}

absl::Status BeingChecked(const std::string& digest) {
  return Passing(absl::UnavailableError(absl::StrCat("blob ", digest, ": is being checked")));
}

absl::StatusOr<std::unique_ptr<BlobStore>> BlobStore::Open(const std::string& folder,
                                                           const BlobStoreOptions& options) {
  return FolderBlobStore::Open(folder, options);
}

absl::Status BlobStore::Take(BlobStore& from, const std::string& from_owner, const std::string& owner,
                             const std::string& digest) {
  if (Has(owner, digest)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const auto source, from.Read(from_owner, digest));
  const auto& [content, bytes] = source;
  ASSIGN_OR_RETURN(int64_t offset, Sent(owner, digest));
  std::string piece;
  do {
    RETURN_IF_ERROR(ReadPiece(content.get(), bytes, offset, piece));
    RETURN_IF_ERROR(Append(owner, digest, offset, piece));
    offset += std::ssize(piece);
  } while (offset < bytes);
  return Finish(owner, digest);
}

}  // namespace attune
