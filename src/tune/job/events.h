// Writes the events of a tuning run as JSON lines to a file, for views, reports and other programs.
#ifndef ATTUNE_TUNE_JOB_EVENTS_H_
#define ATTUNE_TUNE_JOB_EVENTS_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/file_descriptor.h"
#include "nlohmann/json.hpp"

namespace attune {

// One line per event: {"job": id, "seconds": since the log was opened, "event": name, …}. Each line is in
// the file when Write() returns, so a killed run leaves all of its events. Thread safe, except Listen().
class EventLog {
 public:
  // Opens the log of the job with the id `job`. Appends to the file at `path` (OpenToAppend of
  // base/output_file.h), or writes nothing if it is empty. `clock` must outlive the log.
  static absl::StatusOr<std::unique_ptr<EventLog>> Open(const std::string& path, std::string job,
                                                        const Clock& clock);

  // Also calls `listener` with each event, one at a time. To be called before the first event.
  using Listener = std::function<void(std::string_view event, const nlohmann::json& fields)>;
  void Listen(Listener listener) { listener_ = std::move(listener); }

  // `fields` is an object without "job", "seconds" and "event". Fails if the file cannot grow.
  absl::Status Write(std::string_view event, const nlohmann::json& fields);

 private:
  EventLog(std::string job, const Clock& clock) : job_(std::move(job)), clock_(clock), start_(clock.Now()) {}

  std::mutex mutex_;
  std::string path_;
  FileDescriptor file_;
  const std::string job_;
  const Clock& clock_;
  double start_;
  Listener listener_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_EVENTS_H_
