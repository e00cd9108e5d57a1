#include "service/models/import_worker.h"

#include <unistd.h>

#include <exception>
#include <new>
#include <utility>

#include "api/named_shape.h"
#include "api/network.h"
#include "api/opened_model.h"
#include "base/file_descriptor.h"
#include "base/process/message.h"
#include "base/process/sandbox.h"
#include "base/process/worker_process.h"
#include "base/status.h"
#include "nlohmann/json.hpp"
#include "service/models/model_facts.h"
#include "target/codec.h"

namespace attune {
namespace {

constexpr int kMostCode = 16;  // of absl's statuses
constexpr size_t kMostTargetBytes = 1 << 16, kMostShapes = 1000, kMostShapeBytes = 4096;
constexpr double kFileSeconds = 30;  // for the announced folder to arrive

struct Imported {
  Network network;
  ModelFormat format;
};

absl::StatusOr<Imported> Import(const ImportRequest& request) {
  InputOptions inputs;
  for (const std::string& text : request.shapes) {
    const auto shape = ParseNamedShape(text);
    if (!shape.has_value()) return InvalidInput("shapes: ", text, " is not like input=1x3x224x224");
    inputs.shapes.insert(*shape);
  }
  ASSIGN_OR_RETURN(OpenedModel model, OpenedModel::Open(request.model, {request.signature, {}}));
  RETURN_IF_ERROR(model.CheckIsModel());
  return Imported{Network::Load(model, inputs), model.format()};
}

absl::StatusOr<std::string> Facts(const ImportRequest& request) {
  ASSIGN_OR_RETURN(const Imported imported, Import(request));
  ASSIGN_OR_RETURN(const ModelFacts facts, FactsOfModel(imported.network, request.target));
  nlohmann::json json = ToJson(facts);
  json["format"] = kModelFormats[static_cast<size_t>(imported.format)];  // in the same order
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Enters the folder and gives up everything else. Unavailable if the system lacks a fence.
absl::Status GiveUpAllBut(const FileDescriptor& folder) {
  const AllowedFiles own = {.open = folder.get()};
  if (fchdir(folder.get()) != 0) return absl::UnavailableError("the folder cannot be entered");
  if (!ForbidFiles({&own, 1}).ok())
    return absl::UnavailableError(
        "the system has no Landlock (Linux 5.13), without which the server imports no uploaded models");
  if (ForbidAllButComputing()) return absl::OkStatus();
  return absl::UnavailableError("the system has no filters of system calls");
}

int Run(const std::function<ImportAnswer(const ImportRequest&)>& import) {
  std::set_new_handler([] { _exit(kOutOfMemoryStatus); });
  BeAmongTheFirstToGo();
  const absl::StatusOr<std::string> message = ReceiveMessage(kWorkerSocket, kNoDeadline);
  if (!message.ok()) return 0;
  const absl::StatusOr<ImportRequest> request = DecodeImportRequest(*message);
  const absl::StatusOr<FileDescriptor> folder = ReceiveFile(kWorkerSocket, After(kFileSeconds));
  constexpr int kDamaged = 2;
  if (!request.ok() || !folder.ok()) return kDamaged;
  // The parent ends it after a time, but a process that is stopped would not notice.
  LimitCpuSeconds(request->cpu_seconds);
  const absl::Status alone = GiveUpAllBut(*folder);
  const ImportAnswer answer = alone.ok() ? import(*request) : ImportAnswer{.status = alone};
  SendMessage(kWorkerSocket, Encode(answer), kNoDeadline).IgnoreError();
  return 0;
}

}  // namespace

ImportAnswer ImportStrangersModel(const ImportRequest& request) {
  try {
    absl::StatusOr<std::string> facts = Facts(request);
    if (!facts.ok()) return {.status = facts.status()};
    return {.facts = *std::move(facts)};
  } catch (const std::exception& error) {  // of a library below
    return {.status = InvalidInput(request.model, ": cannot be imported: ", error.what())};
  }
}

WorkerKind ImportWorker(std::function<ImportAnswer(const ImportRequest&)> import) {
  return {.name = kImportWorkerKind,
          .run = [does = std::move(import)] { return Run(does); },
          .is_watched = false};
}

std::string Encode(const ImportRequest& request) {
  MessageWriter writer;
  writer.Bytes(request.model);
  writer.Bytes(request.signature);
  writer.Bytes(EncodeTarget(request.target));
  writer.Double(request.cpu_seconds);
  writer.Int(static_cast<int64_t>(request.shapes.size()));
  for (const std::string& shape : request.shapes) writer.Bytes(shape);
  return writer.text();
}

absl::StatusOr<ImportRequest> DecodeImportRequest(std::string_view message) {
  MessageReader reader(message);
  ImportRequest request = {.model = reader.Bytes(), .signature = reader.Bytes()};
  const std::string target = reader.Bytes(kMostTargetBytes);
  request.cpu_seconds = reader.Double();
  request.shapes.resize(reader.Count(kMostShapes));
  for (std::string& shape : request.shapes) shape = reader.Bytes(kMostShapeBytes);
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(request.target, DecodeTarget(target));
  return request;
}

std::string Encode(const ImportAnswer& answer) {
  MessageWriter writer;
  writer.Int(static_cast<int64_t>(answer.status.code()));
  writer.Bytes(answer.status.message());
  writer.Bytes(answer.facts);
  return writer.text();
}

absl::StatusOr<ImportAnswer> DecodeImportAnswer(std::string_view message) {
  MessageReader reader(message);
  const auto code = static_cast<absl::StatusCode>(reader.Int(0, kMostCode));
  const std::string why = reader.Bytes(kMostAnswerBytes);
  ImportAnswer answer = {.status = absl::Status(code, why), .facts = reader.Bytes(kMostAnswerBytes)};
  RETURN_IF_ERROR(reader.Finish());
  return answer;
}

}  // namespace attune
