// Replay: a job does all its work, but learns from the times that another run has measured.
//
// Problem: what a run tries depends on what it has measured, and no two runs measure the same. So two builds
// of the program, two schedulers or two machines cannot be compared by one run each, and by many only in
// hours. Idea: the events of a run tell everything that it has measured. A job that replays them measures for
// real, so that its work is the same, and then believes the recording. As long as it asks what the recorded
// run asked, it tries the same candidates.
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

// The fields of an event "measurement", beside its task and candidate.
nlohmann::json ToJson(const Measurement& measurement);
// Errors: a field is missing, or is not what it should be.
absl::StatusOr<Measurement> MeasurementOfJson(const nlohmann::json& fields);

// The fields of an event "calibrate".
nlohmann::json ToJson(const Peaks& peaks);
// Errors as above.
absl::StatusOr<Peaks> PeaksOfJson(const nlohmann::json& fields);

// What names a candidate ("conv_direct tile_c=2") of the task of that digest.
std::string CandidateKey(const std::string& task, const std::string& candidate);

// What the last run in a file of events has measured. Not thread safe.
class Recording {
 public:
  // Errors name the file and the line.
  static absl::StatusOr<std::unique_ptr<Recording>> Load(const std::string& path);

  // The next measurement of a candidate ("conv_direct tile_c=2") of the task of that digest; nothing where
  // the recorded run did not measure it that often.
  std::optional<Measurement> NextMeasurement(const std::string& task, const std::string& candidate);
  // The fields of the next event of another kind about `key`: the CandidateKey() for "compare", the class for
  // "layout", nothing for "network" and "calibrate".
  std::optional<nlohmann::json> Next(const std::string& event, const std::string& key);

  // Of all that was asked for, and what of it was not there.
  int64_t asked() const { return asked_; }
  int64_t missing() const { return missing_; }

 private:
  std::map<std::string, std::deque<Measurement>> measurements_;                       // by task and candidate
  std::map<std::pair<std::string, std::string>, std::deque<nlohmann::json>> others_;  // by event and key
  int64_t asked_ = 0, missing_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_RECORDING_H_
