// Forgets files that runners have sent for jobs and that no job has.
//
// Problem: a file comes before the report that names it, and the report may never come, or too late. Idea:
// the row of a job says which files it has. Whenever it changes, all others of the job are forgotten, also
// those that have come in part; so are the files of a job that is over, which come while its runner hears of
// that. Price: a job whose row does not change keeps what was sent, which SentFiles bounds.
#ifndef ATTUNE_SERVICE_QUEUE_JOB_FILE_CLEANER_H_
#define ATTUNE_SERVICE_QUEUE_JOB_FILE_CLEANER_H_

#include <string>
#include <vector>

#include "fleet/blobs/blob_store.h"
#include "service/queue/live_schedule.h"
#include "service/queue/sent_files.h"
#include "work/job/job_spec.h"

namespace attune {

// Thread safe. The arguments must outlive it.
class JobFileCleaner {
 public:
  // `sent` counts the files that no row names yet, and begins anew with each change.
  JobFileCleaner(BlobStore& files, SentFiles& sent, ScheduleQueue& queue)
      : files_(files), sent_(sent), queue_(queue) {}

  // Forgets all files of this owner of files but these. A failure goes to the log.
  void ForgetAllBut(const std::vector<JobFile>& files, const std::string& files_owner);
  // Forgets files that a runner has sent after it lost the job, soon or when the job's row changes next. Does
  // not wait.
  void ForgetLate(const std::string& job, const std::string& files_owner);

 private:
  BlobStore& files_;
  SentFiles& sent_;
  ScheduleQueue& queue_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_JOB_FILE_CLEANER_H_
