#include "service/rest/job_events.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status.h"
#include "service/rest/job_json.h"
#include "work/job/job_id.h"

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

// The key of one job among all owners'.
std::string KeyOf(const std::string& owner, const std::string& id) {
  return StoredJobId(OwnJobId(id, owner), owner);
}

void End(const std::vector<std::shared_ptr<EventStream>>& streams) {
  for (const auto& stream : streams) {
    stream->Send({.event = "ending", .data = "{}"});
    stream->Close();
  }
}

}  // namespace

void JobEvents::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_ending_ = true;
    for (auto& [id, followed] : followed_) End(followed.streams);
    for (auto& [owner, followed] : followed_owners_) End(followed.streams);
    followed_.clear();
    followed_owners_.clear();
  }
  loop_.Stop();
}

absl::StatusOr<std::shared_ptr<EventStream>> JobEvents::Follow(const JobQuery& job,
                                                               const std::string& last_id) {
  std::vector<JobMark> mark = {{.query = job}};
  ASSIGN_OR_RETURN(const auto shown, jobs_.Changes(mark));
  if (mark.front().is_gone) return absl::NotFoundError(absl::StrCat("there is no job \"", job.id, "\""));
  const JobNow now = Describe(shown.front());
  if (now.is_over && now.event.id == last_id) return nullptr;
  auto stream = std::make_shared<EventStream>();
  if (now.event.id != last_id) stream->Send(now.event);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (now.is_over || is_ending_) {
    stream->Close();
    return stream;
  }
  Followed& followed = followed_[KeyOf(job.owner, job.id)];
  if (followed.streams.empty()) {
    followed = {.mark = mark.front(), .last_id = now.event.id, .streams = {}};
  } else if (followed.last_id != now.event.id) {
    // Others have an earlier event, or a later one: then all get the next one.
    followed.last_id = "";
    followed.mark.digest = 0;
  }
  followed.streams.push_back(stream);
  return stream;
}

absl::StatusOr<std::map<std::string, ServerEvent>> JobEvents::EventsOf(const std::string& owner) {
  constexpr int64_t kMostUnfinished = 500, kMostLatest = 50;
  std::map<std::string, ServerEvent> events;
  const JobQuery queries[] = {{.owner = owner, .state = JobState::kUnfinished, .most = kMostUnfinished},
                              {.owner = owner, .most = kMostLatest}};
  for (const JobQuery& query : queries) {
    ASSIGN_OR_RETURN(const auto jobs, jobs_.List(query));
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

double JobEvents::Step() {
  std::vector<JobMark> marks;
  std::vector<std::string> owners;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [id, followed] : followed_) marks.push_back(followed.mark);
    for (const auto& [owner, followed] : followed_owners_) owners.push_back(owner);
  }
  if (!marks.empty()) LookAtEach(marks);
  for (const std::string& owner : owners) LookAtAll(owner);
  return look_seconds_;
}

void JobEvents::LookAtEach(std::vector<JobMark>& marks) {
  const auto changed = jobs_.Changes(marks);  // waits for the schedule, so no thread may wait for this
  if (!changed.ok()) return;                  // the jobs cannot be kept just now
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const jobs_service_proto::Job& job : *changed) Tell(job);
  Mark(marks);
}

void JobEvents::Mark(const std::vector<JobMark>& marks) {
  for (const JobMark& mark : marks) {
    const auto found = followed_.find(KeyOf(mark.query.owner, mark.query.id));
    if (found == followed_.end()) continue;
    found->second.mark = mark;
    auto& streams = found->second.streams;
    if (mark.is_gone)
      for (const auto& stream : streams) stream->Close();
    std::erase_if(streams, [](const auto& stream) { return stream->is_closed(); });
    if (streams.empty()) followed_.erase(found);
  }
}

void JobEvents::Tell(const jobs_service_proto::Job& job) {
  const auto found = followed_.find(KeyOf(job.owner(), job.id()));
  if (found == followed_.end()) return;
  const JobNow now = Describe(job);
  Followed& followed = found->second;
  if (followed.last_id != now.event.id)
    for (const auto& stream : followed.streams) stream->Send(now.event);
  followed.last_id = now.event.id;
  if (!now.is_over) return;
  for (const auto& stream : followed.streams) stream->Close();
  followed_.erase(found);
}

int64_t JobEvents::streams() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  int64_t count = 0;
  for (const auto& [id, followed] : followed_) count += std::ssize(followed.streams);
  for (const auto& [owner, followed] : followed_owners_) count += std::ssize(followed.streams);
  return count;
}

}  // namespace attune
