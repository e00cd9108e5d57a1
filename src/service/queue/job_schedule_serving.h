// The data of the thread that schedules, and how other threads ask it; for the sources of JobSchedule alone.
#ifndef ATTUNE_SERVICE_QUEUE_JOB_SCHEDULE_SERVING_H_
#define ATTUNE_SERVICE_QUEUE_JOB_SCHEDULE_SERVING_H_

#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/status.h"
#include "service/queue/job_schedule.h"
#include "service/queue/known_jobs.h"
#include "service/queue/runner_hub.h"
#include "service/queue/schedule_hosts.h"
#include "work/driver/schedule_driver.h"
#include "work/store/sql_job_store.h"

namespace attune {

struct JobSchedule::Serving {
  Serving(std::shared_ptr<SqlJobStore> opened, ScheduleRecord record, ScheduleDriverOptions driving,
          const FleetParts& parts, RunnerHub& hub)
      : store(std::move(opened)),
        schedule(record.id),
        driver(std::move(record), std::move(driving), *store, hub),
        hosts(hub, parts.devices, parts.store, driver),
        known(*store, schedule, &driver, &hosts) {}

  // The driver gets a job that is not over.
  void Add(size_t number, JobRecord job) {
    hosts.Expect(job.spec);
    driver.Add(number, std::move(job));
  }

  const std::shared_ptr<SqlJobStore> store;
  const std::string schedule;
  ScheduleDriver driver;
  ScheduleHosts hosts;
  const KnownJobs known;
  absl::Status broken;  // why the driver and the store may differ
  Stopwatch since_update, since_quotas;
};

// The stored state of jobs, which can be read while nothing can be written.
struct JobSchedule::Resting {
  Resting(std::shared_ptr<SqlJobStore> opened, const std::string& id)
      : store(std::move(opened)), schedule(id), known(*store, schedule, nullptr, nullptr) {}

  const std::shared_ptr<SqlJobStore> store;
  const std::string schedule;
  const KnownJobs known;
};

struct JobSchedule::Reading {
  JobStore& store;
  const std::string& schedule;
  const KnownJobs& known;
};

template <typename Item>
absl::Status JobSchedule::Enqueue(std::vector<Item>& queue, Item item) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (is_ending_) return absl::UnavailableError("the server is ending");
    if (!broken_.ok())
      return absl::UnavailableError(absl::StrCat("jobs cannot be stored now: ", broken_.message()));
    queue.push_back(std::move(item));
  }
  hub_.Wake();
  return absl::OkStatus();
}

template <typename Answer>
absl::StatusOr<Answer> JobSchedule::Ask(const std::function<absl::StatusOr<Answer>(Serving&)>& question) {
  std::promise<absl::StatusOr<Answer>> promise;
  RETURN_IF_ERROR(Enqueue<Task>(tasks_, [&](const absl::StatusOr<Serving*>& serving) {
    promise.set_value(serving.ok() ? question(**serving) : serving.status());
  }));
  return promise.get_future().get();
}

template <typename Answer>
absl::StatusOr<Answer> JobSchedule::Read(
    const std::function<absl::StatusOr<Answer>(const Reading&)>& question) {
  absl::StatusOr<Answer> answer = Ask<Answer>([&](Serving& serving) {
    return question({.store = *serving.store, .schedule = serving.schedule, .known = serving.known});
  });
  if (!absl::IsUnavailable(answer.status())) return answer;
  std::shared_ptr<const Resting> resting;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!is_ending_ && !broken_.ok()) resting = resting_;
  }
  if (resting == nullptr) return answer;
  return question({.store = *resting->store, .schedule = resting->schedule, .known = resting->known});
}

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_JOB_SCHEDULE_SERVING_H_
