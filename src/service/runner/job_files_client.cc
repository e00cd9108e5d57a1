#include "service/runner/job_files_client.h"

#include <grpcpp/grpcpp.h>

#include "absl/strings/str_cat.h"
#include "base/input_file.h"
#include "base/insist.h"
#include "base/output_file.h"
#include "base/status.h"
#include "fleet/blobs/blob_piece.h"
#include "fleet/client/server_call.h"

namespace attune {

namespace proto = jobs_service_proto;

namespace {

constexpr int64_t kMiB = 1 << 20;

}  // namespace

std::unique_ptr<proto::Jobs::Stub> JobFilesClient::stub() {
  return proto::Jobs::NewStub(fleet_.connection().channel());
}

absl::Status JobFilesClient::Continue(const std::string& job, const std::string& name, ArrivingFile& file,
                                      const WorkControl& control) {
  proto::FileRequest request;
  request.set_job(job);
  request.set_name(name);
  request.set_offset(file.position());
  grpc::ClientContext context;  // as long as it takes: the connection's keepalive notices a dead server
  const auto pieces = stub()->ReadFile(&context, request);
  proto::FilePiece piece;
  absl::Status status;
  while (status.ok() && pieces->Read(&piece)) {
    status = piece.offset() == file.position() ? file.Add(piece.bytes()) : file.IsAnother();
    if (status.ok())
      status = control.Continue("receiving MiB", file.position() / kMiB, file.bytes() / kMiB + 1);
  }
  if (!status.ok()) context.TryCancel();
  const absl::Status ended = ExplainServerCall(pieces->Finish(), fleet_.connection().credentials());
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(ended);
  if (file.position() == file.bytes()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat("the fleet's server ", fleet_.server(), " has sent only ",
                                             file.position(), " of ", file.bytes(), " bytes"));
}

absl::Status JobFilesClient::ReadFile(const std::string& job, const JobFile& file, const std::string& path,
                                      const WorkControl& control) {
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> output, OutputFile::Create(path));
  ArrivingFile arriving(file, *output);
  RETURN_IF_ERROR(Insist(arriving.position(), [&] { return Continue(job, file.name, arriving, control); },
                         {.is_cancelled = [&] { return control.is_cancelled(); }}));
  return arriving.Finish();
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
