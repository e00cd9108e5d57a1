// The store of models in one SQLite file.
#ifndef ATTUNE_SERVICE_MODELS_SQLITE_MODEL_STORE_H_
#define ATTUNE_SERVICE_MODELS_SQLITE_MODEL_STORE_H_

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/sqlite/sqlite.h"
#include "service/models/model_store.h"

namespace attune {

class SqliteModelStore final : public ModelStore {
 public:
  // Creates the file and its folder if they are missing. Fails with one sentence if the file is damaged,
  // belongs to another program, or was written by a newer version.
  static absl::StatusOr<std::unique_ptr<SqliteModelStore>> Open(const std::string& path);

  absl::StatusOr<KnownModel> AddModel(const KnownModel& model) override;
  absl::StatusOr<std::optional<KnownModel>> FindModel(const std::string& tenant,
                                                      const std::string& id) override;
  absl::StatusOr<std::vector<KnownModel>> Models(const std::string& tenant, const ModelCursor& after,
                                                 int64_t most) override;
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ImportingModels() override;
  absl::Status SetVerdict(const std::string& tenant, const std::string& id,
                          const ModelVerdict& verdict) override;
  absl::StatusOr<bool> RemoveModel(const std::string& tenant, const std::string& id) override;

 private:
  explicit SqliteModelStore(std::unique_ptr<SqliteConnection> connection)
      : connection_(std::move(connection)) {}

  // For those who hold the mutex.
  absl::StatusOr<std::optional<KnownModel>> Find(const std::string& tenant, const std::string& id);

  std::mutex mutex_;  // of the connection
  const std::unique_ptr<SqliteConnection> connection_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_MODELS_SQLITE_MODEL_STORE_H_
