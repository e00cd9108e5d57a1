#include "service/runner/job_files_client.h"

#include <grpcpp/grpcpp.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/backoff.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "base/sha256.h"
#include "base/status.h"
#include "fleet/client/server_call.h"
#include "fleet/wire/channel.h"

namespace attune {

namespace proto = jobs_service_proto;

namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int kMostTries = 8;  // while the server does not answer, without getting further

}  // namespace

// The part of a file that has come.
class JobFilesClient::Download {
 public:
  Download(const std::string& job, const JobFile& file, OutputFile& output) : output_(output), file_(file) {
    request_.set_job(job);
    request_.set_name(file.name);
  }

  // Asks for what is missing.
  const proto::FileRequest& request() {
    request_.set_offset(position_);
    return request_;
  }
  int64_t bytes() const { return file_.bytes; }
  const int64_t& position() const { return position_; }

  absl::Status Take(const proto::FilePiece& piece) {
    if (piece.offset() != position_ || std::ssize(piece.bytes()) > bytes() - position_) return IsAnother();
    RETURN_IF_ERROR(output_.Write(piece.bytes()));
    sum_.Add(piece.bytes());
    position_ += std::ssize(piece.bytes());
    return absl::OkStatus();
  }
  absl::Status Finish() {
    if (sum_.Finish() != file_.digest) return IsAnother();
    return output_.Finish();
  }

 private:
  absl::Status IsAnother() const {
    return absl::DataLossError(absl::StrCat(file_.name,
                                            ": what comes is not what the server has named; "
                                            "the file was damaged or has changed"));
  }

  OutputFile& output_;
  const JobFile& file_;
  proto::FileRequest request_;
  Sha256 sum_;
  int64_t position_ = 0;
};

std::unique_ptr<proto::Jobs::Stub> JobFilesClient::stub() {
  return proto::Jobs::NewStub(fleet_.connection().channel());
}

absl::Status JobFilesClient::Continue(Download& download, const WorkControl& control) {
  grpc::ClientContext context;  // as long as it takes: the connection's keepalive notices a dead server
  const auto pieces = stub()->ReadFile(&context, download.request());
  proto::FilePiece piece;
  absl::Status status;
  while (status.ok() && pieces->Read(&piece)) {
    status = download.Take(piece);
    if (status.ok())
      status = control.Continue("receiving MiB", download.position() / kMiB, download.bytes() / kMiB + 1);
  }
  if (!status.ok()) context.TryCancel();
  const absl::Status ended = ExplainServerCall(pieces->Finish(), fleet_.connection().credentials());
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(ended);
  if (download.position() == download.bytes()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("the fleet's server ", fleet_.server(), " has sent only ",
                                             download.position(), " of ", download.bytes(), " bytes"));
}

absl::Status JobFilesClient::ReadFile(const std::string& job, const JobFile& file, const std::string& path,
                                      const WorkControl& control) {
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> output, OutputFile::Create(path));
  Download download(job, file, *output);
  Backoff backoff;
  for (int tries = 1;; ++tries) {
    const int64_t before = download.position();
    const absl::Status status = Continue(download, control);
    if (status.ok()) return download.Finish();
    if (download.position() > before) {
      tries = 1;
      backoff.Reset();
    }
    if (!absl::IsUnavailable(status) || tries >= kMostTries) return status;
    backoff.Pause([&] { return control.is_cancelled(); });
  }
}

absl::StatusOr<SentFile> JobFilesClient::WriteFile(const std::string& job, const JobFile& file,
                                                   const std::string& path, const SentFile& before,
                                                   const WorkControl& control) {
  ASSIGN_OR_RETURN(const InputFile input, OpenInputFile(path));
  ASSIGN_OR_RETURN(SentFile now, SentFileOf(input, file.digest));
  const std::vector<FileRun> runs = RunsOf(before, now, input.bytes, kBlobPieceBytes);
  grpc::ClientContext context;
  proto::FileWritten written;
  const auto pieces = stub()->WriteFile(&context, &written);
  proto::FilePiece piece;
  piece.set_job(job);
  piece.set_name(file.name);
  piece.set_digest(file.digest);
  piece.set_base(before.digest);
  absl::Status status;
  for (size_t i = 0; i < runs.size() && status.ok(); ++i) {
    const auto& [offset, bytes, is_same] = runs[i];
    piece.set_offset(offset);
    piece.set_same_bytes(is_same ? bytes : 0);
    piece.mutable_bytes()->resize(is_same ? 0 : static_cast<size_t>(bytes));
    if (!is_same) status = ReadRange(input, offset, bytes, piece.mutable_bytes()->data());
    if (status.ok())
      status = control.Continue("sending MiB", (offset + bytes) / kMiB, input.bytes / kMiB + 1);
    piece.set_is_last(i + 1 == runs.size());
    if (!status.ok() || !pieces->Write(piece)) break;
  }
  if (!status.ok()) context.TryCancel();
  pieces->WritesDone();
  const absl::Status ended = ExplainServerCall(pieces->Finish(), fleet_.connection().credentials());
  RETURN_IF_ERROR(status);
  // The server does not have what was there before, for whatever reason.
  if (absl::IsNotFound(ended) && !before.digest.empty()) return WriteFile(job, file, path, {}, control);
  RETURN_IF_ERROR(ended);
  return now;
}

}  // namespace attune
