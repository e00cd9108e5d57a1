#include "service/uploads/uploads.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "service/access/access.h"

namespace attune {
namespace {

constexpr int64_t kOldMs = 2 * kDayMs;    // the store of blobs gives up what rests for a day
constexpr int64_t kNoticeMs = 3'600'000;  // uses within it count as one, which spares the disk

constexpr double kPauseSeconds = 600;

}  // namespace

absl::StatusOr<Upload> Uploads::Begin(const std::string& tenant, const std::string& digest, int64_t bytes) {
  if (bytes < 0 || bytes > limits_.most_bytes)
    return absl::OutOfRangeError(absl::StrCat("one upload may have ", limits_.most_bytes, " bytes"));
  const int64_t now_ms = clock_.WallMillis();
  ASSIGN_OR_RETURN(
      const KnownUpload known,
      store_.AddUpload(
          {.tenant = tenant, .digest = digest, .bytes = bytes, .created_ms = now_ms, .used_ms = now_ms},
          limits_.most_tenant_bytes));
  if (known.bytes != bytes)
    return absl::AlreadyExistsError(
        absl::StrCat("upload ", digest, ": was started with ", known.bytes, " bytes; delete it first"));
  Use(known);
  return StateOf(known);
}

absl::StatusOr<Upload> Uploads::Find(const std::string& tenant, const std::string& digest) {
  ASSIGN_OR_RETURN(const std::optional<KnownUpload> known, store_.FindUpload(tenant, digest));
  if (!known) return absl::NotFoundError(absl::StrCat("there is no upload ", digest, "; start it first"));
  Use(*known);
  return StateOf(*known);
}

absl::StatusOr<std::vector<Upload>> Uploads::List(const std::string& tenant) {
  ASSIGN_OR_RETURN(const std::vector<KnownUpload> known, store_.Uploads(tenant));
  std::vector<Upload> uploads;
  for (auto one = known.rbegin(); one != known.rend(); ++one) {
    const absl::StatusOr<Upload> upload = StateOf(*one);
    // One that turns out to have another digest is gone, and one that cannot be looked at now hides no other.
    if (absl::IsDataLoss(upload.status())) continue;
    uploads.push_back(
        upload.ok() ? *upload
                    : Upload{.digest = one->digest, .bytes = one->bytes, .created_ms = one->created_ms});
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
        absl::StrCat("upload ", digest, ": was started with ", upload.bytes, " bytes, and gets more"));
  if (!bytes.empty()) {
    const absl::Status appended = blobs_.Append(tenant, digest, offset, bytes);
    // The same piece has come twice at once.
    if (absl::IsOutOfRange(appended)) return absl::AbortedError(appended.message());
    RETURN_IF_ERROR(appended);
  }
  return Find(tenant, digest);
}

absl::Status Uploads::Remove(const std::string& tenant, const std::string& digest) {
  ASSIGN_OR_RETURN(const std::optional<KnownUpload> known, store_.FindUpload(tenant, digest));
  if (!known) return absl::NotFoundError(absl::StrCat("there is no upload ", digest));
  return Forget(*known);
}

// Requests that only read are answered on a full disk, too.
void Uploads::Use(const KnownUpload& known) {
  const int64_t now_ms = clock_.WallMillis();
  if (now_ms - known.used_ms < kNoticeMs) return;
  const absl::Status used = store_.UseUpload(known.tenant, known.digest, now_ms);
  if (!used.ok())
    Log(LogLevel::kWarning, "the use of an upload is not recorded", "sha256", known.digest, "reason",
        used.message());
}

absl::Status Uploads::Forget(const KnownUpload& known) {
  RETURN_IF_ERROR(blobs_.Forget(known.tenant, known.digest));
  return store_.RemoveUpload(known.tenant, known.digest);
}

absl::Status Uploads::RemoveResting(const Needed& needed) {
  const int64_t now_ms = clock_.WallMillis(), rest_ms = limits_.rest_days * kDayMs;
  const int64_t least_ms = rest_ms > 0 ? std::min(rest_ms, kOldMs) : kOldMs;
  ASSIGN_OR_RETURN(const auto resting, store_.RestingUploads(now_ms - least_ms));
  std::string tenant;
  std::set<std::string> stay;
  for (const KnownUpload& upload : resting) {
    // From before uses were known: its time begins now.
    if (upload.used_ms == 0) {
      Use(upload);
      continue;
    }
    if (blobs_.Has(upload.tenant, upload.digest)) {
      if (rest_ms == 0 || now_ms - upload.used_ms < rest_ms) continue;
      if (tenant != upload.tenant) {
        ASSIGN_OR_RETURN(stay, needed(upload.tenant));
        tenant = upload.tenant;
      }
      if (stay.contains(upload.digest)) continue;
    } else if (now_ms - upload.used_ms < kOldMs) {
      continue;
    }
    RETURN_IF_ERROR(Forget(upload));
    Log(LogLevel::kInfo, "an unused upload is removed", "tenant", upload.tenant, "sha256", upload.digest,
        "bytes", upload.bytes);
  }
  return absl::OkStatus();
}

absl::Status UploadCleaner::Look() { return uploads_.RemoveResting(needed_); }

double UploadCleaner::Step() {
  const absl::Status looked = Look();
  if (!looked.ok()) Log(LogLevel::kWarning, "unused uploads stay", "reason", looked.message());
  return kPauseSeconds;
}

}  // namespace attune
