#include "service/rest/job_events.h"

#include <algorithm>
#include <chrono>
#include <utility>

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

JobNow Describe(const jobs_service_proto::Job& job) {
  const std::string text = ToJson(job).dump(-1, ' ', false, JsonSchema::error_handler_t::replace);
  constexpr size_t kDigits = 32;
  return {.event = {.id = Sha256Hex(text).substr(0, kDigits), .event = "job", .data = text},
          .is_over = job.ended_ms() > 0};
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
    for (auto& [owner, followed] : followed_owners_)
      for (const auto& stream : followed.streams) stream->Close();
    followed_owners_.clear();
  }
  ends_.notify_all();
  if (thread_.joinable()) thread_.join();
}

absl::StatusOr<std::shared_ptr<EventStream>> JobEvents::Follow(const JobQuery& job,
                                                               const std::string& last_id) {
  ASSIGN_OR_RETURN(const auto detail, desk_.Show(job));
  const JobNow now = Describe(detail.job());
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

absl::StatusOr<std::map<std::string, ServerEvent>> JobEvents::EventsOf(const std::string& owner) {
  constexpr int64_t kMostUnfinished = 500, kMostLatest = 50;
  std::map<std::string, ServerEvent> events;
  const JobQuery queries[] = {{.owner = owner, .state = JobState::kUnfinished, .most = kMostUnfinished},
                              {.owner = owner, .most = kMostLatest}};
  for (const JobQuery& query : queries) {
    ASSIGN_OR_RETURN(const auto jobs, desk_.List(query));
    for (const jobs_service_proto::Job& job : jobs) events[job.id()] = Describe(job).event;
  }
  return events;
}

absl::StatusOr<std::shared_ptr<EventStream>> JobEvents::FollowAll(const std::string& owner) {
  ASSIGN_OR_RETURN(const auto events, EventsOf(owner));
  auto stream = std::make_shared<EventStream>();
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_ending_) {
    stream->Close();
    return stream;
  }
  FollowedOwner& followed = followed_owners_[owner];
  if (followed.streams.empty())
    for (const auto& [id, event] : events) followed.last_ids[id] = event.id;
  followed.streams.push_back(stream);
  return stream;
}

void JobEvents::LookAtAll(const std::string& owner) {
  const auto events = EventsOf(owner);
  if (!events.ok()) return;  // the jobs cannot be kept just now
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = followed_owners_.find(owner);
  if (found == followed_owners_.end()) return;
  FollowedOwner& followed = found->second;
  std::erase_if(followed.streams, [](const auto& stream) { return stream->is_closed(); });
  if (followed.streams.empty()) {
    followed_owners_.erase(found);
    return;
  }
  std::map<std::string, std::string> ids;
  for (const auto& [id, event] : *events) {
    ids[id] = event.id;
    const auto before = followed.last_ids.find(id);
    if (before != followed.last_ids.end() && before->second == event.id) continue;
    for (const auto& stream : followed.streams) stream->Send({.event = event.event, .data = event.data});
  }
  followed.last_ids = std::move(ids);
}

void JobEvents::Run() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ends_.wait_for(lock, std::chrono::duration<double>(look_seconds_), [&] { return is_ending_; })) {
    std::vector<JobQuery> queries;
    for (const auto& [id, followed] : followed_) queries.push_back(followed.query);
    std::vector<std::string> owners;
    for (const auto& [owner, followed] : followed_owners_) owners.push_back(owner);
    lock.unlock();
    for (const JobQuery& query : queries) Look(query);
    for (const std::string& owner : owners) LookAtAll(owner);
    lock.lock();
  }
}

void JobEvents::Look(const JobQuery& query) {
  const auto detail = desk_.Show(query);  // waits for the schedule, so that nobody may wait for this
  if (!detail.ok()) return;               // the jobs cannot be kept just now
  const JobNow now = Describe(detail->job());
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
