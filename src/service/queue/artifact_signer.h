// Signs the artifacts that jobs build, with a key for each tenant.
//
// Problem: a tenant may make a job produce any code, on a runner of its own, and a signature of one key for
// all would make it run wherever that is trusted. Idea: each tenant has a key of its own, derived from a
// secret of the server and the tenant's name, so that no key is stored. A secret is replaced by one that
// stands before it: new files are signed by that, and the public keys of both are told. Price: to trust a
// tenant is to trust everything that it has run.
#ifndef ATTUNE_SERVICE_QUEUE_ARTIFACT_SIGNER_H_
#define ATTUNE_SERVICE_QUEUE_ARTIFACT_SIGNER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "artifact/signer.h"
#include "fleet/blobs/blob_store.h"
#include "work/job/job_spec.h"

namespace attune {

// Thread safe. The secrets are in a file, and are read again for each call, so that another process may
// replace them.
class ArtifactSigner {
 public:
  // Makes the first secret if there is none in the folder, which must exist.
  static absl::StatusOr<ArtifactSigner> OpenOrCreate(const std::string& folder);

  // The tenant's keys, the one that signs first.
  absl::StatusOr<std::vector<SigningKey>> KeysOf(const std::string& tenant) const;
  // New files are signed by a new key.
  absl::Status Rotate() const;

  // Replaces the artifact with this name among a job's files by a signed one. `owner`: by which the store has
  // them. Does nothing if there is none.
  absl::Status SignFile(const std::string& tenant, const std::string& name, const std::string& owner,
                        BlobStore& store, std::vector<JobFile>& files) const;

 private:
  explicit ArtifactSigner(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_ARTIFACT_SIGNER_H_
