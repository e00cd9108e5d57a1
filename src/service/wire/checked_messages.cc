#include "service/wire/checked_messages.h"

#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/checked_line.h"
#include "base/printable.h"
#include "base/status.h"
#include "device/codec.h"
#include "fleet/blobs/blob_store.h"
#include "service/wire/job_files.h"
#include "work/report/schedule_json.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

constexpr size_t kMaxVersionBytes = 256;

// For people, whatever it was.
std::string Text(std::string_view text, std::string_view kept = "") {
  std::string out = WithoutControls(text.substr(0, kMaxTextBytes), kept);
  if (text.size() > kMaxTextBytes) out += "...";
  return out;
}

absl::Status CheckJson(std::string_view what, const std::string& text, size_t most) {
  if (text.empty()) return absl::OkStatus();
  if (text.size() > most) return InvalidInput(what, " of the job have more than ", most, " bytes of JSON");
  const auto json = ParseJson(text);
  if (!json.ok()) return InvalidInput(what, " of the job: ", json.status().message());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RunnerOffer> CheckedHello(const proto::RunnerHello& hello) {
  RETURN_IF_ERROR(CheckLine("a runner's program", hello.program(), 0, kMaxVersionBytes));
  if (hello.version() != kJobsVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("this runner speaks version ", hello.version(), " and the server version ", kJobsVersion,
                     "; update the older of the two (the runner's program is ", hello.program(), ")"));
  }
  if (hello.memory_bytes() < 0 || hello.memory_bytes() > kMaxRunnerMemoryBytes)
    return InvalidInput("a runner has 0 to ", kMaxRunnerMemoryBytes, " bytes of memory");
  if (hello.programs_size() > kMaxProgramsOfRunner)
    return InvalidInput("a runner lists at most ", kMaxProgramsOfRunner, " programs");
  for (const std::string& program : hello.programs())
    RETURN_IF_ERROR(CheckLine("a program's name", program, 1, kMaxProgramNameBytes));
  absl::StatusOr<DeviceInfo> device = DecodeDevice(hello.device());
  if (!device.ok()) return InvalidInput("a runner's device is none: ", device.status().message());
  return RunnerOffer{.device = *std::move(device),
                     .memory_bytes = hello.memory_bytes(),
                     .programs = {hello.programs().begin(), hello.programs().end()},
                     .confines = hello.confines()};
}

absl::StatusOr<RunnerStageEnded> CheckedReport(const proto::RunnerReported& reported) {
  absl::StatusOr<RunnerReport> report = DecodeRunnerReport(reported.report());
  // One of another version is an error of its own.
  if (absl::IsFailedPrecondition(report.status())) return report.status();
  auto* ended = report.ok() ? std::get_if<RunnerStageEnded>(&*report) : nullptr;
  if (ended == nullptr) return InvalidInput("a report of no stage");
  ended->status = absl::Status(ended->status.code(), Text(ended->status.message()));
  ended->progress = Text(ended->progress);
  ended->result = WithoutControls(ended->result, "\n\t");
  ended->figures = WithoutControls(ended->figures, "\n\t");
  return std::move(*ended);
}

absl::Status CheckMade(const RunnerStageEnded& ended) {
  RETURN_IF_ERROR(CheckJson("the results", ended.result, kMaxResultBytes));
  return CheckJson("the figures", ended.figures, kMaxFiguresBytes);
}

std::string CheckedReason(const proto::RunnerProcessLost& lost) { return Text(lost.reason()); }

absl::Status CheckFirstPiece(const proto::FilePiece& piece) {
  RETURN_IF_ERROR(CheckJobFileName(piece.name()));
  RETURN_IF_ERROR(CheckBlobDigest(piece.digest()));
  if (!piece.base().empty()) RETURN_IF_ERROR(CheckBlobDigest(piece.base()));
  return CheckPiece(piece);
}

absl::Status CheckPiece(const proto::FilePiece& piece) {
  if (piece.offset() >= 0 && piece.same_bytes() >= 0) return absl::OkStatus();
  return InvalidInput("a piece of a file begins before it, or has a negative length");
}

}  // namespace attune
