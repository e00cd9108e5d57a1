// Checks what runners report of the stages of jobs, and whether the artifact that one hands in is the one
// that its job has built.
//
// Problem: an artifact is native code that the server signs and hands out, and it comes from a machine that
// the server does not control. Idea: the process that compiles a network says in its result what it has built
// (kinds/network_judge.h), and measures the same bytes. The server compares the file with that by digest
// and size, its manifest with the model that was submitted, and its inputs and outputs with those that the
// result tells. Price: an attacker who controls the process that compiles can still make any code from the
// model; that is why artifacts never leave their tenant.
#ifndef ATTUNE_SERVICE_QUEUE_REPORT_CHECK_H_
#define ATTUNE_SERVICE_QUEUE_REPORT_CHECK_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "fleet/blobs/blob_store.h"
#include "service/queue/artifact_signer.h"
#include "work/driver/runner_messages.h"
#include "work/job/job_spec.h"

namespace attune {

// The supplies of a job, which a machine gets with it.
//
// A process on a machine needs these before its job can be opened.
struct JobSupplies {
  JobSpec spec = {};
  std::vector<JobFile> files = {};
  std::string files_owner = {};  // by which the store of job files has them
  std::string credentials = {};  // fleet/identity/credentials.h
};

// The name of the artifact that such a job makes; nothing if it makes none that the server vouches for: a
// program's files come from no model, and parts leave records alone.
std::optional<std::string> ArtifactNameOf(const JobSpec& spec);

// Fails with a sentence unless the artifact among `files`, which the store has under `owner`, is the one that
// `result` says was built from the job's model, and there is no other artifact below the outputs. A job that
// makes none passes.
absl::Status CheckBuiltArtifact(const JobSpec& spec, const std::vector<JobFile>& files,
                                const std::string& result, const std::string& owner, BlobStore& store);

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
