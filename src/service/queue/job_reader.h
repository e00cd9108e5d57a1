// Tells clients of a server's jobs: what they do, their results, files and records.
#ifndef ATTUNE_SERVICE_QUEUE_JOB_READER_H_
#define ATTUNE_SERVICE_QUEUE_JOB_READER_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/input_file.h"
#include "fleet/blobs/blob_store.h"
#include "service/queue/live_schedule.h"
#include "service/wire/jobs.pb.h"
#include "work/store/job_store.h"

namespace attune {

struct OpenedJobFile {
  InputFile file;
  std::string digest = {};  // SHA-256, that it had when it was kept
};

// Thread safe. The arguments must outlive it. Works while the disk is full, too; otherwise fails with
// Unavailable, which passes by itself, while jobs cannot be stored.
class JobReader {
 public:
  // `files`: those of jobs, by the owner that is their `base` (JobSpec). `folder`: for copies of records
  // while they are read.
  JobReader(ScheduleQueue& queue, BlobStore& files, std::string folder)
      : queue_(queue), files_(files), folder_(std::move(folder)) {}

  // The latest first, without results. `with_judged`: those of jobs with an agreement are there, which it is
  // judged by.
  absl::StatusOr<std::vector<jobs_service_proto::Job>> List(const JobQuery& query, bool with_judged = false);
  // NotFound if there is no such job, here and below.
  absl::StatusOr<jobs_service_proto::JobDetail> Show(const JobQuery& query);
  absl::StatusOr<JobRecord> Find(const JobQuery& query);
  // Returns the jobs that have changed since they were seen, in the order of the marks, which are brought up
  // to date. Jobs that rest cost next to nothing: unfinished jobs are in memory.
  absl::StatusOr<std::vector<jobs_service_proto::Job>> Changes(std::vector<JobMark>& marks);
  // Opens a file of the job. Its bytes may be damaged, and then have another digest.
  absl::StatusOr<OpenedJobFile> OpenFile(const JobQuery& query, const std::string& name);
  // As JobRecords::ForOthers(). NotFound also if the records are gone.
  absl::StatusOr<std::string> RecordsForOthers(const JobQuery& query, const std::string& device, int threads);

  // How many jobs of the owner are not over; the parts of a job are no jobs of their own.
  absl::StatusOr<int64_t> Unfinished(const std::string& owner);
  // The bytes of all files of the owner's jobs.
  absl::StatusOr<int64_t> StoredBytes(const std::string& owner);
  // Why no machine runs the owner's jobs now. Fails while jobs cannot be stored.
  absl::StatusOr<MachineLack> LackOf(const std::string& owner);

 private:
  ScheduleQueue& queue_;
  BlobStore& files_;
  const std::string folder_;
  std::mutex folder_mutex_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_JOB_READER_H_
