#include "service/rest/uploads.h"

#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "service/rest/access.h"

namespace attune {
namespace {

constexpr int64_t kOldMs = 2 * kDayMs;  // the store of blobs gives up what rests for a day

}  // namespace

absl::StatusOr<Upload> Uploads::Begin(const std::string& tenant, const std::string& digest, int64_t bytes) {
  if (bytes > limits_.most_bytes)
    return absl::OutOfRangeError(absl::StrCat("one upload may have ", limits_.most_bytes, " bytes"));
  RETURN_IF_ERROR(RemoveOld(tenant));
  ASSIGN_OR_RETURN(
      const KnownUpload known,
      store_.AddUpload(
          {.tenant = tenant, .digest = digest, .bytes = bytes, .created_ms = clock_.WallMillis()},
          limits_.most_tenant_bytes));
  if (known.bytes != bytes)
    return absl::AlreadyExistsError(
        absl::StrCat("upload ", digest, ": was begun with ", known.bytes, " bytes; delete it first"));
  return StateOf(known);
}

absl::StatusOr<Upload> Uploads::Find(const std::string& tenant, const std::string& digest) {
  ASSIGN_OR_RETURN(const std::optional<KnownUpload> known, store_.FindUpload(tenant, digest));
  if (!known) return absl::NotFoundError(absl::StrCat("there is no upload ", digest, "; begin it first"));
  return StateOf(*known);
}

absl::StatusOr<std::vector<Upload>> Uploads::List(const std::string& tenant) {
  ASSIGN_OR_RETURN(const std::vector<KnownUpload> known, store_.Uploads(tenant));
  std::vector<Upload> uploads;
  for (auto one = known.rbegin(); one != known.rend(); ++one) {
    const absl::StatusOr<Upload> upload = StateOf(*one);
    // One that turns out to have another digest is gone.
    if (absl::IsDataLoss(upload.status())) continue;
    RETURN_IF_ERROR(upload.status());
    uploads.push_back(*upload);
  }
  return uploads;
}

absl::StatusOr<Upload> Uploads::StateOf(const KnownUpload& known) {
  Upload upload = {.digest = known.digest, .bytes = known.bytes, .created_ms = known.created_ms};
  upload.is_complete = blobs_.Has(known.tenant, known.digest);
  ASSIGN_OR_RETURN(upload.offset, blobs_.Sent(known.tenant, known.digest));
  if (upload.is_complete || upload.offset < upload.bytes) return upload;
  // All is there, and was not checked yet. An empty file has no bytes that would make one.
  if (upload.bytes == 0) RETURN_IF_ERROR(blobs_.Append(known.tenant, known.digest, 0, ""));
  const absl::Status finished = blobs_.Finish(known.tenant, known.digest);
  if (absl::IsDataLoss(finished)) RETURN_IF_ERROR(store_.RemoveUpload(known.tenant, known.digest));
  RETURN_IF_ERROR(finished);
  upload.is_complete = true;
  return upload;
}

absl::StatusOr<Upload> Uploads::Append(const std::string& tenant, const std::string& digest, int64_t offset,
                                       std::string_view bytes) {
  ASSIGN_OR_RETURN(const Upload upload, Find(tenant, digest));
  if (offset != upload.offset)
    return absl::AbortedError(absl::StrCat("upload ", digest, ": has ", upload.offset,
                                           " bytes, so that byte ", offset, " is not the next one"));
  if (std::ssize(bytes) > upload.bytes - upload.offset)
    return absl::OutOfRangeError(
        absl::StrCat("upload ", digest, ": was begun with ", upload.bytes, " bytes, and gets more"));
  if (!bytes.empty()) {
    const absl::Status appended = blobs_.Append(tenant, digest, offset, bytes);
    // The same piece has come twice at once.
    if (absl::IsOutOfRange(appended)) return absl::AbortedError(appended.message());
    RETURN_IF_ERROR(appended);
  }
  return Find(tenant, digest);
}

absl::Status Uploads::Remove(const std::string& tenant, const std::string& digest) {
  RETURN_IF_ERROR(Find(tenant, digest).status());
  RETURN_IF_ERROR(blobs_.Forget(tenant, digest));
  return store_.RemoveUpload(tenant, digest);
}

absl::Status Uploads::RemoveOld(const std::string& tenant) {
  ASSIGN_OR_RETURN(const std::vector<KnownUpload> uploads, store_.Uploads(tenant));
  for (const KnownUpload& upload : uploads) {
    if (upload.created_ms > clock_.WallMillis() - kOldMs) break;
    if (blobs_.Has(tenant, upload.digest)) continue;
    RETURN_IF_ERROR(blobs_.Forget(tenant, upload.digest));
    RETURN_IF_ERROR(store_.RemoveUpload(tenant, upload.digest));
  }
  return absl::OkStatus();
}

}  // namespace attune
