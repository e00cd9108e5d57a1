#include "service/client/jobs_client.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/input_file.h"
#include "base/json_object.h"
#include "base/output_file.h"
#include "base/status.h"
#include "http/client/url.h"
#include "service/client/arriving_file.h"

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMiB = 1 << 20;
constexpr int64_t kPieceBytes = 4 * kMiB;  // the most that the server takes at once
constexpr int64_t kPageOfJobs = 500;

std::string TargetOf(const std::string& job, std::string_view more = "") {
  return absl::StrCat("/v1/jobs/", EncodePercent(job), more);
}

std::string TextOf(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Takes the answers that a file comes with, some of which begin with bytes that have come before.
class DownloadedFile {
 public:
  explicit DownloadedFile(ArrivingFile& file) : file_(file) {}

  // An answer starts at the requested offset, or at the start of the file, whose bytes are there already.
  absl::Status Begin(const HttpAnswer& head) {
    const bool is_rest = head.status == 206;
    if (is_rest && !head.Header("content-range").starts_with(absl::StrCat("bytes ", file_.position(), "-")))
      return file_.IsAnother();
    known_ = is_rest ? 0 : file_.position();
    return absl::OkStatus();
  }
  absl::Status Take(std::string_view piece) {
    const size_t skipped = std::min(static_cast<size_t>(known_), piece.size());
    known_ -= static_cast<int64_t>(skipped);
    return file_.Add(piece.substr(skipped));
  }

 private:
  ArrivingFile& file_;
  int64_t known_ = 0;  // bytes of this answer that have come before
};

}  // namespace

absl::StatusOr<std::unique_ptr<JobsClient>> JobsClient::Open(const KnownServer& server,
                                                             const RestClientOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<RestClient> rest, RestClient::Open(server, options));
  return std::unique_ptr<JobsClient>(new JobsClient(std::move(rest)));
}

absl::Status JobsClient::SendFile(const std::string& digest, const SourceFile& source,
                                  const std::function<absl::Status(int64_t bytes)>& follow) {
  const auto changed = [&] {
    return absl::FailedPreconditionError(
        absl::StrCat(source.path, ": has changed while it was being sent; submit again"));
  };
  ASSIGN_OR_RETURN(const InputFile file, OpenInputFile(source.path));
  if (file.bytes != source.bytes) return changed();
  const HttpCall begin = {.method = "POST",
                          .target = "/v1/uploads",
                          .body = TextOf({{"sha256", digest}, {"bytes", source.bytes}})};
  int64_t position = 0;
  const auto attempt = [&]() -> absl::Status {
    // Tells where an earlier attempt, or an earlier command, has come to.
    ASSIGN_OR_RETURN(const Json upload, server_->AskOnce(begin));
    if (!upload.contains("offset") || !upload["offset"].is_number_integer() ||
        !upload.contains("is_complete"))
      return absl::FailedPreconditionError("the server does not tell how far an upload is");
    position = std::clamp<int64_t>(upload["offset"].get<int64_t>(), 0, source.bytes);
    std::string piece;
    while (upload["is_complete"] != true && position < source.bytes) {
      RETURN_IF_ERROR(follow(position));
      piece.resize(static_cast<size_t>(std::min(kPieceBytes, source.bytes - position)));
      RETURN_IF_ERROR(ReadRange(file, position, std::ssize(piece), piece.data()));
      const absl::Status sent = SendPiece(digest, position, piece);
      if (absl::IsFailedPrecondition(sent)) return changed();
      RETURN_IF_ERROR(sent);
      position += std::ssize(piece);
    }
    return absl::OkStatus();
  };
  return server_->Insist(position, attempt);
}

absl::Status JobsClient::SendPiece(const std::string& digest, int64_t offset, const std::string& piece) {
  const absl::Status sent = server_
                                ->Send({.method = "PATCH",
                                        .target = absl::StrCat("/v1/uploads/", digest),
                                        .headers = {{"Content-Type", "application/offset+octet-stream"},
                                                    {"Upload-Offset", absl::StrCat(offset)}},
                                        .body = piece})
                                .status();
  // Another command sends the same file at once, or the piece has come though its answer did not.
  return absl::IsAborted(sent) ? absl::UnavailableError(sent.message()) : sent;
}

absl::Status JobsClient::SendFiles(const PreparedSubmission& submission, const WorkControl& control) {
  int64_t all = 0, sent = 0;
  for (const auto& [digest, source] : submission.sources) all += source.bytes;
  for (const auto& [digest, source] : submission.sources) {
    const auto follow = [&](int64_t bytes) {
      return control.Continue("sending MiB", (sent + bytes) / kMiB, all / kMiB + 1);
    };
    RETURN_IF_ERROR(SendFile(digest, source, follow));
    sent += source.bytes;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<RemoteJob>> JobsClient::Submit(const PreparedSubmission& submission,
                                                          PendingSubmission& pending) {
  std::vector<RemoteJob> jobs;
  for (const Json& job : submission.jobs) {
    std::string body = TextOf(job);
    const std::string key = pending.KeyOf(body);
    const absl::StatusOr<Json> taken = server_->Ask({.method = "POST",
                                                     .target = "/v1/jobs",
                                                     .headers = {{"Idempotency-Key", key}},
                                                     .body = std::move(body)});
    if (jobs.empty() && RestClient::IsRefusal(taken.status())) pending.Forget();
    RETURN_IF_ERROR(taken.status());
    ASSIGN_OR_RETURN(RemoteJob remote, ReadRemoteJob(*taken));
    jobs.push_back(std::move(remote));
  }
  return jobs;
}

absl::StatusOr<std::vector<RemoteJob>> JobsClient::List(const std::string& state, int64_t most) {
  std::vector<RemoteJob> jobs;
  std::string cursor;
  do {
    const std::string target =
        absl::StrCat("/v1/jobs?most=", std::min(kPageOfJobs, most - std::ssize(jobs)),
                     state.empty() ? "" : absl::StrCat("&state=", EncodePercent(state)),
                     cursor.empty() ? "" : absl::StrCat("&cursor=", EncodePercent(cursor)));
    ASSIGN_OR_RETURN(const Json page, server_->Ask({.target = target}));
    if (!page.contains("jobs") || !page.contains("next_cursor"))
      return absl::FailedPreconditionError("the server's list of jobs is not as this version knows it");
    for (const Json& json : page["jobs"]) {
      ASSIGN_OR_RETURN(RemoteJob job, ReadRemoteJob(json));
      jobs.push_back(std::move(job));
    }
    cursor = page["next_cursor"].is_string() ? page["next_cursor"].get<std::string>() : "";
  } while (!cursor.empty() && std::ssize(jobs) < most);
  return jobs;
}

absl::StatusOr<RemoteJobDetail> JobsClient::Show(const std::string& id) {
  ASSIGN_OR_RETURN(const Json shown, server_->Ask({.target = TargetOf(id)}));
  return ReadRemoteJobDetail(shown);
}

absl::StatusOr<RemoteJob> JobsClient::Cancel(const std::string& id) {
  ASSIGN_OR_RETURN(const Json cancelled, server_->Ask({.method = "POST", .target = TargetOf(id, "/cancel")}));
  return ReadRemoteJob(cancelled);
}

absl::Status JobsClient::Follow(const std::string& id,
                                const std::function<absl::StatusOr<bool>(const RemoteJob& job)>& handle) {
  const auto take = [&](const ServerEvent& event) -> absl::StatusOr<bool> {
    if (event.event != "job") return true;
    ASSIGN_OR_RETURN(const Json json, ParseJsonObject<Json>(event.data));
    ASSIGN_OR_RETURN(const RemoteJob job, ReadRemoteJob(json));
    ASSIGN_OR_RETURN(const bool goes_on, handle(job));
    return goes_on && !job.is_over();
  };
  return server_->Follow({.target = TargetOf(id, "/events")}, take);
}

absl::Status JobsClient::Download(const std::string& job, const RemoteFile& file, const std::string& path,
                                  const WorkControl& control) {
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> output, OutputFile::Create(path));
  const JobFile named = {.name = file.name, .digest = file.sha256, .bytes = file.bytes};
  ArrivingFile arriving(named, *output);
  DownloadedFile download(arriving);
  HttpCall call = {.target = TargetOf(job, absl::StrCat("/files/", EncodePercent(file.name))),
                   .headers = {{"Accept", "application/octet-stream"}},
                   .seconds = 0};
  const auto attempt = [&]() -> absl::Status {
    if (arriving.position() > 0) call.headers["Range"] = absl::StrCat("bytes=", arriving.position(), "-");
    bool has_begun = false;
    call.take = [&](const HttpAnswer& head, std::string_view piece) -> absl::Status {
      if (!std::exchange(has_begun, true)) RETURN_IF_ERROR(download.Begin(head));
      RETURN_IF_ERROR(download.Take(piece));
      return control.Continue("receiving MiB", arriving.position() / kMiB, file.bytes / kMiB + 1);
    };
    return server_->Send(call).status();
  };
  if (file.bytes > 0) RETURN_IF_ERROR(server_->Insist(arriving.position(), attempt));
  return arriving.Finish();
}

absl::StatusOr<Json> JobsClient::Predict(const Json& job) {
  return server_->Ask({.method = "POST", .target = "/v1/predictions", .body = TextOf(job)});
}

}  // namespace attune
