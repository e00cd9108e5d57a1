// The measurements of tuning jobs, from their databases of records.
#ifndef ATTUNE_SERVICE_RECORDS_JOB_RECORDS_H_
#define ATTUNE_SERVICE_RECORDS_JOB_RECORDS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "fleet/blobs/blob_store.h"
#include "tune/records/database.h"
#include "work/store/stage_log.h"

namespace attune {

// A copy of a job's database of records, which goes with the object, without those that the server has given
// to the job: they are others', who have not said that they are to be passed on.
class JobRecords {
 public:
  // `folder` is emptied, and is for this object alone. NotFound if the job has left no records; fails if they
  // are damaged.
  static absl::StatusOr<std::unique_ptr<JobRecords>> Open(const JobRecord& job, BlobStore& files,
                                                          const std::string& folder);
  ~JobRecords();
  JobRecords(const JobRecords&) = delete;
  JobRecords& operator=(const JobRecords&) = delete;

  RecordDatabase& database() { return *database_; }

  // Returns the best kernels that the job has found on such a device with this number of threads, as JSON
  // lines for a job of another tenant (the setting "start_records"): task, config and time of each, and
  // nothing about their owner, the time of measuring, or the job's other devices. Empty if there are none.
  absl::StatusOr<std::string> ForOthers(const std::string& device, int threads);

 private:
  explicit JobRecords(std::string folder) : folder_(std::move(folder)) {}

  const std::string folder_;
  std::unique_ptr<RecordDatabase> database_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_RECORDS_JOB_RECORDS_H_
