// Imports one model in a process of its own.
#ifndef ATTUNE_SERVICE_MODELS_MODEL_IMPORT_H_
#define ATTUNE_SERVICE_MODELS_MODEL_IMPORT_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "service/models/model_source.h"
#include "target/target.h"

namespace attune {

// The limits of one import.
struct ImportLimits {
  int64_t address_space_bytes = 0;  // 0: a quarter of this machine's memory, and 2 to 16 GiB
  double seconds = 120;             // by the clock, and of processor time twice as many
};

enum class ImportResult : uint8_t {
  kReady,
  kRefused,      // by the importer
  kCrashed,      // the process ended by itself
  kTimedOut,     // it took too long
  kOutOfMemory,  // it wanted too much
  kDamaged,      // it answered what no importer answers
  kUnable,       // there was no process, through no fault of the model
};
inline constexpr std::array<std::string_view, 7> kImportResults = {
    "ready", "refused", "crashed", "timed_out", "out_of_memory", "damaged", "unable"};

struct ImportedModel {
  ImportResult result = ImportResult::kUnable;
  std::string facts = {};  // if it is ready: as in ImportAnswer
  std::string error = {};  // else: a sentence for the model's owner
};

// `folder` has the model's files, which must not change; the facts are for `target`. `program`: whose main()
// runs ImportWorker(); empty: FindWorkerProgram(). Thread safe.
ImportedModel ImportInProcess(const std::string& folder, const ModelSource& source, const Target& target,
                              const ImportLimits& limits, const std::string& program = "");

}  // namespace attune

#endif  // ATTUNE_SERVICE_MODELS_MODEL_IMPORT_H_
