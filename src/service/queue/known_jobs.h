// The jobs of a schedule as clients are told of them.
#ifndef ATTUNE_SERVICE_QUEUE_KNOWN_JOBS_H_
#define ATTUNE_SERVICE_QUEUE_KNOWN_JOBS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "service/queue/schedule_hosts.h"
#include "service/wire/jobs.pb.h"
#include "work/driver/schedule_driver.h"
#include "work/store/job_store.h"

namespace attune {

// A job that a follower watches, as it was last seen.
struct JobMark {
  JobQuery query = {};
  size_t number = 0;  // in the store; 0: not known
  size_t digest = 0;  // of the job as it was; 0: not seen yet
  bool is_gone = false;
};

// The arguments must outlive it. For the thread of the driver; without one, for any.
class KnownJobs {
 public:
  // `schedule`: its id in the store. `driver`: null if no job can run now. `hosts`, which say for people what
  // a job waits for, may be null.
  KnownJobs(JobStore& store, std::string schedule, const ScheduleDriver* driver, ScheduleHosts* hosts)
      : store_(store), schedule_(std::move(schedule)), driver_(driver), hosts_(hosts) {}

  // The one job that the query finds, with its number; NotFound if there is none.
  absl::StatusOr<std::pair<size_t, JobRecord>> Find(const JobQuery& query) const;
  jobs_service_proto::Job Describe(size_t number, const JobRecord& job) const;
  // Looks into the store only if the job is over.
  absl::StatusOr<jobs_service_proto::Job> Describe(JobMark& mark) const;
  // How many jobs of the owner are not over; the parts of a job are no jobs of their own.
  absl::StatusOr<int64_t> Unfinished(const std::string& owner) const;
  // The same with its stages and files.
  absl::StatusOr<jobs_service_proto::JobDetail> Detail(size_t number, const JobRecord& job) const;

 private:
  // The job if it runs or waits; null: it is over, or no job can run.
  const JobManager* Live(size_t number) const;
  // The resource that the job waits for and that is not available now; empty if it waits for its turn alone.
  std::string WaitsFor(size_t number) const;
  // A whole job whose parts have not all ended: what they do.
  void DescribeParts(const std::vector<size_t>& unfinished, int parts, jobs_service_proto::Job& wire) const;
  // The job's latest stages, and those of its parts, in the order of their ends.
  absl::StatusOr<std::multimap<int64_t, jobs_service_proto::StageOfJob>> StagesOf(size_t number,
                                                                                  const JobRecord& job) const;

  JobStore& store_;
  const std::string schedule_;
  const ScheduleDriver* const driver_;
  ScheduleHosts* const hosts_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_KNOWN_JOBS_H_
