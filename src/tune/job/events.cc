#include "tune/job/events.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/output_file.h"
#include "base/status.h"

namespace attune {

absl::StatusOr<std::unique_ptr<EventLog>> EventLog::Open(const std::string& path, std::string job,
                                                         const Clock& clock) {
  std::unique_ptr<EventLog> log(new EventLog(std::move(job), clock));
  if (path.empty()) return log;
  log->path_ = path;
  ASSIGN_OR_RETURN(log->file_, OpenToAppend(path));
  return log;
}

absl::Status EventLog::Write(std::string_view event, const nlohmann::json& fields) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (listener_ != nullptr) listener_(event, fields);
  if (path_.empty()) return absl::OkStatus();
  nlohmann::json line = {{"job", job_}, {"seconds", clock_.Now() - start_}, {"event", event}};
  line.update(fields);
  if (WriteAll(file_, line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"))
    return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat(path_, ": cannot write more events: ", std::strerror(errno), "; make room on the disk"));
}

}  // namespace attune
