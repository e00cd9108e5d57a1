// The store of models in a database.
#ifndef ATTUNE_SERVICE_MODELS_SQL_MODEL_STORE_H_
#define ATTUNE_SERVICE_MODELS_SQL_MODEL_STORE_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"
#include "service/models/model_store.h"

namespace attune {

const SqlSchema& ModelSchema();

class SqlModelStore final : public ModelStore {
 public:
  // As SqlLocation::Open().
  static absl::StatusOr<std::unique_ptr<SqlModelStore>> Open(const SqlLocation& location);

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
  explicit SqlModelStore(std::unique_ptr<SqlDatabase> database) : database_(std::move(database)) {}

  const std::unique_ptr<SqlDatabase> database_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_MODELS_SQL_MODEL_STORE_H_
