// The process that imports one model of a stranger.
//
// Problem: a model file is hostile input to some hundred thousand lines of parsers, and an attacker who
// controls one of them must reach nothing. Idea: a process of its own for each model, which sees the model's
// folder and nothing else: no other file, no network, no other process, and limits of memory and time. It
// answers once, and its answer is checked like any other message.
#ifndef ATTUNE_SERVICE_MODELS_IMPORT_WORKER_H_
#define ATTUNE_SERVICE_MODELS_IMPORT_WORKER_H_

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/process/worker.h"
#include "target/target.h"

namespace attune {

// The kind of worker (base/process/worker.h).
inline constexpr char kImportWorkerKind[] = "importer";

// The folder, open, is sent after it.
struct ImportRequest {
  std::string model = {};                // the name of its main file, or of its folder, below the folder
  std::vector<std::string> shapes = {};  // "input=1x3x224x224"
  std::string signature = {};
  Target target = {};      // that the facts are for
  double cpu_seconds = 0;  // a limit
};

struct ImportAnswer {
  // The importer's, whose message names the model; Unavailable if nothing was imported.
  absl::Status status = {};
  // ModelFacts in JSON, and "format", one of kModelFormats, if it is ok.
  std::string facts = {};
};

inline constexpr std::array<std::string_view, 4> kModelFormats = {"onnx", "tflite", "tensorflow", "pytorch"};

inline constexpr size_t kMostAnswerBytes = size_t{16} << 20;

// Imports the model and finds out its facts, in this process.
ImportAnswer ImportStrangersModel(const ImportRequest& request);

// `import` is done behind all fences.
WorkerKind ImportWorker(std::function<ImportAnswer(const ImportRequest&)> import = ImportStrangersModel);

std::string Encode(const ImportRequest& request);
std::string Encode(const ImportAnswer& answer);
absl::StatusOr<ImportRequest> DecodeImportRequest(std::string_view message);
absl::StatusOr<ImportAnswer> DecodeImportAnswer(std::string_view message);

}  // namespace attune

#endif  // ATTUNE_SERVICE_MODELS_IMPORT_WORKER_H_
