// Schemas and texts that several operations share.
#ifndef ATTUNE_SERVICE_ACCESS_TEXTS_H_
#define ATTUNE_SERVICE_ACCESS_TEXTS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "base/json_numbers.h"
#include "base/json_schema.h"

namespace attune {

// Names of tenants and jobs, and digests of files.
inline constexpr char kNamePattern[] = "^[A-Za-z0-9._-]+$";
inline constexpr char kDigestPattern[] = "^[0-9a-f]{64}$";

// Bounds of what no schema bounds more narrowly, so that clients may reserve room and nothing overflows.
inline constexpr int64_t kMaxTextLength = 1 << 20, kMaxItems = 100'000;
inline constexpr double kMaxNumber = 1e300;

inline JsonSchema TextSchema(int64_t max_length = kMaxTextLength) {
  return {{"type", "string"}, {"maxLength", max_length}};
}
// Counts, sizes and times, which are never below 0.
inline JsonSchema IntegerSchema(int64_t least = 0, int64_t most = kMaxJsonInteger) {
  return {{"type", "integer"}, {"minimum", least}, {"maximum", most}};
}
inline JsonSchema NumberSchema(double least = 0, double most = kMaxNumber) {
  return {{"type", "number"}, {"minimum", least}, {"maximum", most}};
}
inline JsonSchema DigestSchema() {
  return {{"type", "string"}, {"maxLength", 64}, {"pattern", kDigestPattern}};
}
inline JsonSchema NameSchema() {
  return {{"type", "string"}, {"minLength", 1}, {"maxLength", 64}, {"pattern", kNamePattern}};
}
inline JsonSchema ListSchema(const JsonSchema& items, int64_t max_items = kMaxItems) {
  return {{"type", "array"}, {"items", items}, {"maxItems", max_items}};
}

// The same, or null.
inline JsonSchema OrNull(JsonSchema schema) {
  schema["type"] = {schema["type"], "null"};
  return schema;
}

// A moment: RFC 3339, UTC.
inline JsonSchema TimeSchema() { return {{"type", "string"}, {"format", "date-time"}}; }
inline std::string TimeText(int64_t ms) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixMillis(ms), absl::UTCTimeZone());
}

}  // namespace attune

#endif  // ATTUNE_SERVICE_ACCESS_TEXTS_H_
