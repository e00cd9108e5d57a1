#include "fleet/admission/restored_times.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/state_file.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr int64_t kMostBytes = 1 << 20;
// Certificates have their times in whole seconds.
constexpr int64_t kSecondMs = 1000;

std::string PathIn(const std::string& folder) { return folder + "/restored"; }

}  // namespace

std::string FormatRestoredTimes(const std::vector<RestoredTime>& times) {
  std::string text;
  for (const RestoredTime& time : times) absl::StrAppend(&text, time.backup_ms, " ", time.restored_ms, "\n");
  return text;
}

absl::StatusOr<std::vector<RestoredTime>> ParseRestoredTimes(std::string_view text) {
  std::vector<RestoredTime> times;
  for (const std::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(line, ' ');
    RestoredTime& time = times.emplace_back();
    if (!absl::SimpleAtoi(parts.first, &time.backup_ms) || !absl::SimpleAtoi(parts.second, &time.restored_ms))
      return InvalidInput("the times of restored backups are damaged; restore the backup again");
  }
  return times;
}

absl::Status AddRestoredTime(const std::string& folder, const RestoredTime& time) {
  ASSIGN_OR_RETURN(std::vector<RestoredTime> times, ReadRestoredTimes(folder));
  times.push_back(time);
  return WriteStateFile(PathIn(folder), FormatRestoredTimes(times));
}

absl::StatusOr<std::vector<RestoredTime>> ReadRestoredTimes(const std::string& folder) {
  const std::string path = PathIn(folder);
  const absl::StatusOr<std::string> text = ReadStateFile(path, kMostBytes);
  if (absl::IsNotFound(text.status())) return std::vector<RestoredTime>();
  RETURN_IF_ERROR(text.status());
  absl::StatusOr<std::vector<RestoredTime>> times = ParseRestoredTimes(*text);
  if (!times.ok()) return Annotate(times.status(), path);
  return times;
}

bool IsForgotten(const std::vector<RestoredTime>& times, int64_t issued_ms) {
  return std::ranges::any_of(times, [&](const RestoredTime& time) {
    return issued_ms + kSecondMs > time.backup_ms && issued_ms <= time.restored_ms;
  });
}

}  // namespace attune
