// Tells those who follow a job what changes.
//
// Problem: thousands may follow, most jobs rest, and a follower that was cut off wants to resume. Idea: one
// thread asks the schedule which of the jobs that are followed have changed, all in one question, and sends
// each of these whole to its followers. The event's id is the digest of that: a follower that reconnects with
// it is sent nothing that it has. Price: two changes between two looks are sent as one.
#ifndef ATTUNE_SERVICE_REST_JOB_EVENTS_H_
#define ATTUNE_SERVICE_REST_JOB_EVENTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/background_loop.h"
#include "http/event_stream.h"
#include "service/queue/job_reader.h"

namespace attune {

// Thread safe. `jobs` must outlive it.
class JobEvents {
 public:
  explicit JobEvents(JobReader& jobs, double look_seconds = 0.5) : jobs_(jobs), look_seconds_(look_seconds) {}
  ~JobEvents() { Stop(); }

  // Fails if the system has no thread to give.
  absl::Status Begin() { return loop_.Start(look_seconds_); }
  // Tells all followers, by an event "ending", that the server ends, and ends their streams.
  void Stop();

  // Events "job", each with the job in JSON, from now until it is over; the first one at once, unless its id
  // is `last_id`. Null if the job is over and that was its last event. NotFound if there is no such job.
  absl::StatusOr<std::shared_ptr<EventStream>> Follow(const JobQuery& job, const std::string& last_id);
  // A stream of events for each of the owner's jobs that is new or has changed from now on: of those that are
  // not over, and of the latest ones.
  absl::StatusOr<std::shared_ptr<EventStream>> FollowAll(const std::string& owner);
  // How many streams are open.
  int64_t streams() const;

 private:
  struct Followed {
    JobMark mark;
    std::string last_id;  // of the event that all followers have
    std::vector<std::shared_ptr<EventStream>> streams;
  };

  struct FollowedOwner {
    std::map<std::string, std::string> last_ids;  // of events, by id of the job
    std::vector<std::shared_ptr<EventStream>> streams;
  };

  double Step();
  // Tells the followers of each job if it has changed.
  void LookAtEach(std::vector<JobMark>& marks);
  // The followers have seen the jobs as the marks say. Forgets jobs without followers. The caller holds the
  // mutex; so for the next one.
  void Mark(const std::vector<JobMark>& marks);
  // Sends the job to its followers if it is not as they have it.
  void Tell(const jobs_service_proto::Job& job);
  void LookAtAll(const std::string& owner);
  // By id of the job.
  absl::StatusOr<std::map<std::string, ServerEvent>> EventsOf(const std::string& owner);

  JobReader& jobs_;
  const double look_seconds_;

  mutable std::mutex mutex_;
  bool is_ending_ = false;
  std::map<std::string, Followed> followed_;  // by the stored id of the job
  std::map<std::string, FollowedOwner> followed_owners_;

  BackgroundLoop loop_{[this] { return Step(); }};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_JOB_EVENTS_H_
