// Schemas and texts that several operations share.
#ifndef ATTUNE_SERVICE_REST_TEXTS_H_
#define ATTUNE_SERVICE_REST_TEXTS_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "service/rest/json_schema.h"

namespace attune {

// Names of tenants and jobs, and digests of files.
inline constexpr char kNamePattern[] = "^[A-Za-z0-9._-]+$";
inline constexpr char kDigestPattern[] = "^[0-9a-f]{64}$";

inline JsonSchema TextSchema() { return {{"type", "string"}}; }
inline JsonSchema IntegerSchema() { return {{"type", "integer"}}; }
inline JsonSchema NumberSchema() { return {{"type", "number"}}; }
inline JsonSchema DigestSchema() {
  return {{"type", "string"}, {"maxLength", 64}, {"pattern", kDigestPattern}};
}
inline JsonSchema NameSchema() {
  return {{"type", "string"}, {"minLength", 1}, {"maxLength", 64}, {"pattern", kNamePattern}};
}
inline JsonSchema ListSchema(const JsonSchema& items) { return {{"type", "array"}, {"items", items}}; }

// A moment: RFC 3339, UTC.
inline JsonSchema TimeSchema() { return {{"type", "string"}, {"format", "date-time"}}; }
inline std::string TimeText(int64_t ms) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E3SZ", absl::FromUnixMillis(ms), absl::UTCTimeZone());
}

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_TEXTS_H_
