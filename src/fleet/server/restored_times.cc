#include "fleet/server/restored_times.h"

#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/private_file.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr int64_t kMostBytes = 1 << 20;
// Certificates have their times in whole seconds.
constexpr int64_t kSecondMs = 1000;

std::string PathIn(const std::string& folder) { return folder + "/restored"; }

}  // namespace

absl::Status AddRestoredTime(const std::string& folder, const RestoredTime& time) {
  ASSIGN_OR_RETURN(std::vector<RestoredTime> times, ReadRestoredTimes(folder));
  times.push_back(time);
  std::string text;
  for (const RestoredTime& one : times) absl::StrAppend(&text, one.backup_ms, " ", one.restored_ms, "\n");
  return WritePrivateFile(PathIn(folder), text);
}

absl::StatusOr<std::vector<RestoredTime>> ReadRestoredTimes(const std::string& folder) {
  const std::string path = PathIn(folder);
  const absl::StatusOr<std::string> text = ReadPrivateFile(path, kMostBytes);
  std::vector<RestoredTime> times;
  if (absl::IsNotFound(text.status())) return times;
  RETURN_IF_ERROR(text.status());
  for (const std::string_view line : absl::StrSplit(*text, '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(line, ' ');
    RestoredTime& time = times.emplace_back();
    if (!absl::SimpleAtoi(parts.first, &time.backup_ms) || !absl::SimpleAtoi(parts.second, &time.restored_ms))
      return InvalidInput(path, ": is damaged; restore the backup again");
  }
  return times;
}

bool IsForgotten(const std::vector<RestoredTime>& times, int64_t issued_ms) {
  return std::ranges::any_of(times, [&](const RestoredTime& time) {
    return issued_ms + kSecondMs > time.backup_ms && issued_ms <= time.restored_ms;
  });
}

}  // namespace attune
