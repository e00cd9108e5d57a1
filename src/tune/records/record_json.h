// Converts records and runs from and to JSON lines; docs/guides/records.md lists the fields.
#ifndef ATTUNE_TUNE_RECORDS_RECORD_JSON_H_
#define ATTUNE_TUNE_RECORDS_RECORD_JSON_H_

#include <string>
#include <string_view>
#include <variant>

#include "absl/status/statusor.h"
#include "tune/records/record.h"

namespace attune {

// The longest line that a normalized record can have.
inline constexpr size_t kMaxLineBytes = 1 << 20;

// One line without its newline.
std::string ToJsonLine(const Record& record);
std::string ToJsonLine(const TuningRun& run);

// Parses and normalizes the record or run in a line. Input may be hostile: depth and memory are bounded.
// Unknown fields are ignored; a field that is missing, of the wrong type or out of range is an error that
// names it, and so is a line with a newer schema.
absl::StatusOr<std::variant<Record, TuningRun>> ParseJsonLine(std::string_view line);

// Converts the numbers of a config to a JSON object with sorted keys, and back; the input may be hostile.
std::string ConfigToJson(const RecordConfig& config);
absl::StatusOr<RecordConfig> ParseConfig(std::string_view json);

// Removes the white space of a JSON object; the error says what the text is instead.
absl::StatusOr<std::string> CompactJsonObject(std::string_view json);

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_RECORD_JSON_H_
