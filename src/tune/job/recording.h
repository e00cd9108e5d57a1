// Replay: a job does all its work, but learns from the times that another run has measured.
//
// Problem: what a run tries depends on the times that it measures, and no two runs measure the same times.
// So two builds of the program, two schedulers or two machines cannot be compared with one run each, and
// comparing many runs takes hours. Idea: the events of a run contain everything that it has measured. A job
// that replays them really measures, so that its work is the same, but then uses the recorded times. As
// long as it measures the same candidates as the recorded run, it also tries the same ones next.
#ifndef ATTUNE_TUNE_JOB_RECORDING_H_
#define ATTUNE_TUNE_JOB_RECORDING_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "measure/item.h"
#include "nlohmann/json.hpp"

namespace attune {

// The fields of a "measurement" event, except its task and candidate.
nlohmann::json ToJson(const Measurement& measurement);
// Fails if a field is missing or invalid.
absl::StatusOr<Measurement> MeasurementOfJson(const nlohmann::json& fields);

// The fields of a "calibrate" event.
nlohmann::json ToJson(const Peaks& peaks);
// Fails if a field is missing or invalid.
absl::StatusOr<Peaks> PeaksOfJson(const nlohmann::json& fields);

// Identifies a candidate ("conv_direct tile_c=2") of the task with this digest.
std::string CandidateKey(const std::string& task, const std::string& candidate);

// The measurements of the last run in a file of events. Not thread safe.
class Recording {
 public:
  // Errors name the file and the line.
  static absl::StatusOr<std::unique_ptr<Recording>> Load(const std::string& path);

  // The next measurement of a candidate ("conv_direct tile_c=2") of the task with this digest; nothing if
  // the recorded run did not measure it that often.
  std::optional<Measurement> NextMeasurement(const std::string& task, const std::string& candidate);
  // The fields of the next event of another kind with this key: the CandidateKey() for "compare", the class
  // for "layout", "" for "network" and "calibrate".
  std::optional<nlohmann::json> Next(const std::string& event, const std::string& key);

  // The number of requests, and how many of them the recording could not answer.
  int64_t asked() const { return asked_; }
  int64_t missing() const { return missing_; }

 private:
  std::map<std::string, std::deque<Measurement>> measurements_;                       // by task and candidate
  std::map<std::pair<std::string, std::string>, std::deque<nlohmann::json>> others_;  // by event and key
  int64_t asked_ = 0, missing_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_RECORDING_H_
