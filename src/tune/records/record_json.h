// Records and runs as JSON lines: docs/guides/records.md lists the fields.
#ifndef ATTUNE_TUNE_RECORDS_RECORD_JSON_H_
#define ATTUNE_TUNE_RECORDS_RECORD_JSON_H_

#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "tune/records/record.h"

namespace attune {

// A line of a normalized record is no longer than this.
inline constexpr size_t kMaxLineBytes = 1 << 20;

// One line without its newline.
std::string ToJsonLine(const Record& record);
std::string ToJsonLine(const TuningRun& run);

// The record or run of a line, normalized. Input is hostile: bounded depth and memory. Fields that are not
// known are ignored; one that is missing, of another type or out of range is an error that names it, as is a
// line of a newer schema.
absl::StatusOr<std::variant<Record, TuningRun>> ParseJsonLine(std::string_view line);

// The numbers of a config as a JSON object, keys sorted; and back, likewise hostile.
std::string ConfigToJson(const RecordConfig& config);
absl::StatusOr<RecordConfig> ParseConfig(std::string_view json);

// A JSON object without white space; the error says what else it is.
absl::StatusOr<std::string> CompactJsonObject(std::string_view json);

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_RECORD_JSON_H_
