// The files of JSON that the commands of a run write.
#ifndef ATTUNE_SWEEP_RESULT_FILE_H_
#define ATTUNE_SWEEP_RESULT_FILE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace attune {

// An object. Errors name the file.
absl::StatusOr<nlohmann::json> ReadResultFile(const std::string& path);

// The latencies in ms that attune bench has written, at least one. They may be 0: what a device elsewhere
// needs to begin and to end is taken off.
absl::StatusOr<std::vector<double>> ReadLatencies(const std::string& path);

// Calls `take` with each stage that has ended, and its seconds, in a file of events of attune tune. The file
// may be of several parts of a run, and each of them may have been killed in the middle of a line.
void ForEachStage(const std::string& events,
                  const std::function<void(const std::string& stage, double seconds)>& take);

// Whether attune tune was stopped before its end, by its result. Also if that cannot be read.
bool WasTuningStopped(const std::string& path);

// The text or the number with this key; empty, or 0, if there is none.
std::string TextIn(const nlohmann::json& object, const char* key);
double NumberIn(const nlohmann::json& object, const char* key);

}  // namespace attune

#endif  // ATTUNE_SWEEP_RESULT_FILE_H_
