// The models of tenants: imported in sandboxed processes, and known by what that has told.
#ifndef ATTUNE_SERVICE_MODELS_MODELS_H_
#define ATTUNE_SERVICE_MODELS_MODELS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/file_descriptor.h"
#include "base/metrics_text.h"
#include "fleet/blobs/blob_store.h"
#include "service/models/import_queue.h"
#include "service/models/model_import.h"
#include "service/models/model_store.h"

namespace attune {

struct ModelServiceOptions {
  std::string folder = {};    // for files while they are imported
  std::string program = {};   // as in ImportInProcess()
  int workers = 2;            // models that are imported at a time
  size_t most_waiting = 200;  // of one tenant
  ImportLimits limits = {};
};

// Thread safe. The arguments must outlive it.
class Models {
 public:
  // `blobs` has the uploads, by tenants as owners.
  Models(ModelStore& store, BlobStore& blobs, const ModelServiceOptions& options,
         const Clock& clock = SystemClock());

  // Resumes the imports that an earlier process has left. Fails if the folder cannot be made.
  absl::Status Begin();
  void Stop() { queue_.Stop(); }

  // Has a model imported, whose files must be there, or finds it. InvalidArgument if the source is none,
  // FailedPrecondition if a file is missing, OutOfRange if the tenant has too many models, ResourceExhausted
  // if too many of them wait.
  absl::StatusOr<KnownModel> Add(const std::string& tenant, const std::string& name,
                                 const ModelSource& source);
  // NotFound if there is none.
  absl::StatusOr<KnownModel> Find(const std::string& tenant, const std::string& id);
  absl::StatusOr<std::vector<KnownModel>> List(const std::string& tenant, const ModelCursor& after,
                                               int64_t most) {
    return store_.Models(tenant, after, most);
  }
  // NotFound if there is none. Its files stay.
  absl::Status Remove(const std::string& tenant, const std::string& id);

  // The reason why this version of the program refuses the model; nothing if it does not, or was not asked
  // yet.
  absl::StatusOr<std::optional<std::string>> RefusalOf(const std::string& tenant, const ModelSource& source);

  void AddMetrics(MetricsText& text) const;

 private:
  void Import(const std::string& tenant, const std::string& id);
  // Copies the files to where the importer sees them and nothing else.
  absl::Status Lay(const std::string& folder, const std::string& tenant, const ModelSource& source);

  ModelStore& store_;
  BlobStore& blobs_;
  const ModelServiceOptions options_;
  const Clock& clock_;
  Target target_;  // this machine's, which facts are for

  std::atomic<int64_t> num_imports_ = 0;

  mutable std::mutex mutex_;
  std::array<int64_t, kImportResults.size()> results_ = {};  // by ImportResult

  ImportQueue queue_;
};

// The digests of all files that the tenant's models consist of.
absl::StatusOr<std::set<std::string>> FilesOfModels(Models& models, const std::string& tenant);

// Copies the first `bytes` bytes of a file, without its place in it, to a new file, whose folders are made.
// The disk's blocks are shared where it can do so. Errors name the path.
absl::Status CopyTo(const FileDescriptor& from, int64_t bytes, const std::string& path);

}  // namespace attune

#endif  // ATTUNE_SERVICE_MODELS_MODELS_H_
