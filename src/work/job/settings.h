// Reads a job's settings, and reports those that are wrong.
#ifndef ATTUNE_WORK_JOB_SETTINGS_H_
#define ATTUNE_WORK_JOB_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/job.h"
#include "base/json_numbers.h"
#include "nlohmann/json.hpp"

namespace attune {

// Each Read function sets `to` if there is such a setting, and otherwise leaves it as it is. The first error
// stays: it is returned by Finish(), which also reports a setting that was not read.
//
//   SettingsReader reader(spec.settings, spec.base);
//   reader.ReadPath("model", model, /*needed=*/true);
//   reader.Read("trials", trials, 1, 1'000'000);
//   RETURN_IF_ERROR(reader.Finish());
class SettingsReader {
 public:
  // `settings` must outlive the reader. Relative paths start from the folder `base`.
  SettingsReader(const nlohmann::json& settings, std::string base);

  void Read(std::string_view key, std::string& to, bool needed = false);
  void Read(std::string_view key, bool& to);
  void Read(std::string_view key, int64_t& to, int64_t least, int64_t most);
  void Read(std::string_view key, int& to, int least, int most);
  void Read(std::string_view key, double& to, double least, double most);
  // One text, or a list of texts.
  void Read(std::string_view key, std::vector<std::string>& to);
  // One of these texts.
  void ReadOneOf(std::string_view key, std::string& to, const std::vector<std::string>& texts);
  // Seconds, or a text such as "90s", "5m" or "1h30m".
  void ReadSeconds(std::string_view key, double& to);
  void ReadPath(std::string_view key, std::string& to, bool needed = false);
  // One path, or a list of paths.
  void ReadPaths(std::string_view key, std::vector<std::string>& to);
  // The objects of a list; empty if there is no such setting. Errors in them are the caller's to report.
  std::vector<nlohmann::json> ReadObjects(std::string_view key, bool needed = false);

  // The value as it is, for the caller to check; null if there is no such setting.
  nlohmann::json ReadJson(std::string_view key);

  // The first error so far.
  const absl::Status& status() const { return status_; }
  // Reports what the caller finds wrong.
  void Fail(std::string_view key, std::string_view what);
  absl::Status Finish();

 private:
  // The path from the folder of relative ones.
  std::string FromBase(const std::string& path) const;
  // The value; null if there is none, or after an error.
  const nlohmann::json* Find(std::string_view key, bool needed);

  const nlohmann::json& settings_;
  const std::string base_;
  std::set<std::string, std::less<>> known_;
  absl::Status status_;
};

// A prediction from one time, or a list of three that ascend, each from 0 to `most` seconds. Nothing for
// other values.
std::optional<SecondsPrediction> PredictionOfJson(const nlohmann::json& value, double most);

// "90s", "5m", "1h30m", or a number of seconds; positive and at most 10^7 seconds. Nothing for other texts.
std::optional<double> ParseSeconds(const std::string& text);

}  // namespace attune

#endif  // ATTUNE_WORK_JOB_SETTINGS_H_
