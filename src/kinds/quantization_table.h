// The results of a quantization sweep, a row for each finished variant, in a file that outlives the process.
#ifndef ATTUNE_KINDS_QUANTIZATION_TABLE_H_
#define ATTUNE_KINDS_QUANTIZATION_TABLE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace attune {

// A row is an object with a "name" and "seconds", an object of its stages' durations. Either it has an
// "error", or the numbers "ms", "baseline_ms", "speedup" and "drop".
class QuantizationTable {
 public:
  using Json = nlohmann::ordered_json;

  // Reads the file, if there is one. `settings` identifies the settings of the sweep. Errors name the file:
  // it is damaged, or holds results of other settings.
  static absl::StatusOr<QuantizationTable> Open(std::string path, std::string settings);

  const std::vector<Json>& rows() const { return rows_; }
  bool Has(std::string_view name) const;
  // Adds a row, and writes the file durably.
  absl::Status Append(Json row);

  // The time of the f32 network in milliseconds; 0: it is not known yet.
  double baseline_ms() const;
  // Returns the fastest variant that is shown to lose at most `max_drop`, with the certainty that choosing
  // one of several needs; or else the fastest that has not lost more among the samples, or else the one that
  // has lost the least. Held-out samples judge, if there are any: a drop on samples of the calibration says
  // less. Null if no variant has succeeded.
  const Json* Best(double max_drop, int variants) const;

 private:
  QuantizationTable(std::string path, std::string settings)
      : path_(std::move(path)), settings_(std::move(settings)) {}

  std::string path_, settings_;
  std::vector<Json> rows_;
};

}  // namespace attune

#endif  // ATTUNE_KINDS_QUANTIZATION_TABLE_H_
