// Whether the artifact that a runner hands in is the one that its job has built.
//
// Problem: an artifact is native code that the server signs and hands out, and it comes from a machine that
// the server does not control. Idea: the process that compiles a network says in its result what it has built
// (kinds/network_judge.h), and measures the same bytes. The server compares the file with that by digest
// and size, its manifest with the model that was submitted, and its inputs and outputs with those that the
// result tells. Price: an attacker who controls the process that compiles can still make any code from the
// model; that is why artifacts never leave their tenant.
#ifndef ATTUNE_SERVICE_QUEUE_BUILT_ARTIFACT_H_
#define ATTUNE_SERVICE_QUEUE_BUILT_ARTIFACT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "fleet/blobs/blob_store.h"
#include "work/job/job_spec.h"

namespace attune {

// The name of the artifact that such a job makes; nothing if it makes none that the server vouches for: a
// program's files come from no model, and parts leave records alone.
std::optional<std::string> ArtifactNameOf(const JobSpec& spec);

// Fails with a sentence unless the artifact among `files`, which the store has under `owner`, is the one that
// `result` says was built from the job's model, and there is no other artifact below the outputs. A job that
// makes none passes.
absl::Status CheckBuiltArtifact(const JobSpec& spec, const std::vector<JobFile>& files,
                                const std::string& result, const std::string& owner, BlobStore& store);

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_BUILT_ARTIFACT_H_
