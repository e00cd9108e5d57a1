// Checks what runners report of the stages of jobs.
#ifndef ATTUNE_SERVICE_QUEUE_REPORT_CHECK_H_
#define ATTUNE_SERVICE_QUEUE_REPORT_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "fleet/blobs/blob_store.h"
#include "service/queue/artifact_signer.h"
#include "service/queue/job_supplies.h"
#include "work/driver/runner_messages.h"

namespace attune {

// Thread safe. The arguments must outlive it.
class ReportCheck {
 public:
  // `files`: those of jobs. `signer` signs the artifacts of jobs; null: they stay unsigned.
  ReportCheck(BlobStore& files, const ArtifactSigner* signer) : files_(files), signer_(signer) {}

  // Gives the report all files of the job, the artifact signed at its end. `on`: the key of the device that
  // the job measures on; empty: none. `made`: the files that the runner names. Fails if the job has made what
  // cannot be kept or wants another's device, if the store lacks a file, or if the artifact is not the one
  // that was built. A report of a stage that has failed stays as it is.
  absl::Status Complete(const JobSupplies& supplies, const std::string& on, const std::vector<JobFile>& made,
                        RunnerStageEnded& ended) const;

 private:
  // Checks the artifact among the files that a job has left, and signs it for the job's owner.
  absl::Status TakeArtifact(const JobSupplies& supplies, const std::string& result,
                            std::vector<JobFile>& files) const;

  BlobStore& files_;
  const ArtifactSigner* const signer_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_REPORT_CHECK_H_
