// Which models tenants have, and what their imports have told.
#ifndef ATTUNE_SERVICE_MODELS_MODEL_STORE_H_
#define ATTUNE_SERVICE_MODELS_MODEL_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"
#include "service/models/model_source.h"

namespace attune {

enum class ModelState : uint8_t { kImporting, kReady, kRefused };
std::string_view Name(ModelState state);

// The result of an import.
struct ModelVerdict {
  ModelState state = ModelState::kImporting;
  std::string facts = {};    // JSON, if it is ready
  std::string error = {};    // if it is refused
  std::string program = {};  // the version that has imported it; empty: the next one is to try again

  bool operator==(const ModelVerdict&) const = default;
};

struct KnownModel {
  std::string tenant = {}, id = {};  // IdOfModel()
  std::string name = {};             // for people
  ModelSource source = {};
  int64_t created_ms = 0;
  ModelVerdict verdict = {};

  bool operator==(const KnownModel&) const = default;
};

inline constexpr int64_t kMostModels = 2000;  // of one tenant

// The position in a list: it continues after this model.
struct ModelCursor {
  int64_t created_ms = INT64_MAX;
  std::string id = {};
};

const SqlSchema& ModelSchema();

// Acknowledged calls outlive the process. Errors name the database. Thread safe.
class ModelStore {
 public:
  // As SqlLocation::Open().
  static absl::StatusOr<std::unique_ptr<ModelStore>> Open(const SqlLocation& location);

  // The tenant's model with this id, which is added if there is none. OutOfRange if the tenant has
  // kMostModels.
  absl::StatusOr<KnownModel> AddModel(const KnownModel& model);
  absl::StatusOr<std::optional<KnownModel>> FindModel(const std::string& tenant, const std::string& id);
  // The tenant's, the latest first, at most `most`.
  absl::StatusOr<std::vector<KnownModel>> Models(const std::string& tenant, const ModelCursor& after,
                                                 int64_t most);
  // Tenants and ids of all that are being imported.
  absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ImportingModels();
  // Does nothing if it is gone.
  absl::Status SetVerdict(const std::string& tenant, const std::string& id, const ModelVerdict& verdict);
  // Whether there was one.
  absl::StatusOr<bool> RemoveModel(const std::string& tenant, const std::string& id);

 private:
  explicit ModelStore(std::unique_ptr<SqlDatabase> database) : database_(std::move(database)) {}

  const std::unique_ptr<SqlDatabase> database_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_MODELS_MODEL_STORE_H_
