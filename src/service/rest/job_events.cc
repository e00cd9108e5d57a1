#include "service/rest/job_events.h"

#include <algorithm>
#include <chrono>

#include "base/file.h"
#include "base/status.h"
#include "base/threads.h"
#include "service/rest/job_json.h"

namespace attune {
namespace {

struct JobNow {
  ServerEvent event;
  bool is_over = false;
};

JobNow Describe(const jobs_service_proto::JobDetail& detail) {
  const std::string text = ToJson(detail.job()).dump(-1, ' ', false, JsonSchema::error_handler_t::replace);
  constexpr size_t kDigits = 32;
  return {.event = {.id = Sha256Hex(text).substr(0, kDigits), .event = "job", .data = text},
          .is_over = detail.job().ended_ms() > 0};
}

}  // namespace

absl::Status JobEvents::Begin() {
  if (StartThread(thread_, [this] { Run(); })) return absl::OkStatus();
  return absl::ResourceExhaustedError("the system has no more threads");
}

void JobEvents::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
    for (auto& [id, followed] : followed_)
      for (const auto& stream : followed.streams) stream->Close();
    followed_.clear();
  }
  ends_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<std::shared_ptr<EventStream>> JobEvents::Follow(const JobQuery& job,
                                                               const std::string& last_id) {
  ASSIGN_OR_RETURN(const auto detail, desk_.Show(job));
  const JobNow now = Describe(detail);
  if (now.is_over && now.event.id == last_id) return nullptr;
  auto stream = std::make_shared<EventStream>();
  if (now.event.id != last_id) stream->Send(now.event);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (now.is_over || is_ending_) {
    stream->Close();
    return stream;
  }
  Followed& followed = followed_[job.id];
  followed.query = job;
  // Others may have an earlier event, or a later one: then all get the next one.
  if (followed.last_id != now.event.id) followed.last_id = followed.streams.empty() ? now.event.id : "";
  followed.streams.push_back(stream);
  return stream;
}

void JobEvents::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ends_.wait_for(lock, std::chrono::duration<double>(look_seconds_), [&] { return is_ending_; })) {
    std::vector<JobQuery> queries;
    for (const auto& [id, followed] : followed_) queries.push_back(followed.query);
    lock.unlock();
    for (const JobQuery& query : queries) Look(query);
    lock.lock();
  }
}

void JobEvents::Look(const JobQuery& query) {
  const auto detail = desk_.Show(query);  // waits for the schedule, so that nobody may wait for this
  if (!detail.ok()) return;               // the jobs cannot be kept just now
  const JobNow now = Describe(*detail);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = followed_.find(query.id);
  if (found == followed_.end()) return;
  Followed& followed = found->second;
  std::erase_if(followed.streams, [](const auto& stream) { return stream->is_closed(); });
  if (followed.last_id != now.event.id)
    for (const auto& stream : followed.streams) stream->Send(now.event);
  followed.last_id = now.event.id;
  if (now.is_over)
    for (const auto& stream : followed.streams) stream->Close();
  if (now.is_over || followed.streams.empty()) followed_.erase(found);
}

}  // namespace attune
