// The data of the shared cost model, which outlives the server: its versions, and the records that it learns
// from, each with its tenant.
#ifndef ATTUNE_SERVICE_RECORDS_COST_MODEL_STORE_H_
#define ATTUNE_SERVICE_RECORDS_COST_MODEL_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"
#include "tune/records/record.h"

namespace attune {

enum class CostModelState : uint8_t {
  kCurrent,     // jobs begin with it
  kReplaced,    // a later one is better
  kRolledBack,  // it ranks worse than the one before, which has stayed
};
// "current", "replaced", "rolled_back".
std::string_view Name(CostModelState state);

struct CostModelVersion {
  int64_t version = 0;               // from 1
  int64_t created_ms = 0;            // since 1970, UTC
  int64_t records = 0;               // that there were
  int64_t tasks = 0, held_back = 0;  // that it has learned from, and that judge it
  double ranking = 0;                // Kendall's tau on the tasks held back, in the mean
  // On the same, of the one that was current; nothing: there was none.
  std::optional<double> ranking_before = {};
  CostModelState state = CostModelState::kCurrent;

  bool operator==(const CostModelVersion&) const = default;
};

// A task with records on a device.
struct LearnedTask {
  std::string digest = {};
  int64_t last = 0;  // the number of its latest record; later ones have larger numbers
};

// The most records of one tenant; the oldest go when it shares more.
inline constexpr int64_t kMostRecordsOfTenant = 50'000;

const SqlSchema& CostModelSchema();

// Thread safe; what returns has taken effect. Errors name the database.
class CostModelStore {
 public:
  static absl::StatusOr<std::unique_ptr<CostModelStore>> Open(const SqlLocation& location);

  // Gives it the next number, which is returned. The one that was current is replaced unless this one is
  // rolled back.
  absl::StatusOr<int64_t> Add(const CostModelVersion& model, const std::string& text);
  // Returns at most `most` versions, the latest first.
  absl::StatusOr<std::vector<CostModelVersion>> Versions(int64_t most);
  // The text of the current one; nothing if there is none.
  absl::StatusOr<std::optional<std::string>> Current();

  // Adds those that the tenant does not share yet.
  absl::Status AddRecords(const std::string& tenant, std::span<const Record> records);
  // How many there are, and how many came since the latest version.
  struct Count {
    int64_t all = 0, since_latest = 0;
  };
  absl::StatusOr<Count> CountRecords();
  // The tenants that share records.
  absl::StatusOr<std::vector<std::string>> Tenants();
  // Nothing of this tenant is learned from any more.
  absl::Status RemoveTenant(const std::string& tenant);
  // Returns at most `most` tasks on this device with the latest records, the latest first.
  absl::StatusOr<std::vector<LearnedTask>> Tasks(const std::string& device, int64_t most);
  // The task's latest records on the device, the oldest of them first. Rows that this program cannot read are
  // left out.
  absl::StatusOr<std::vector<Record>> Records(const std::string& task, const std::string& device,
                                              int64_t most);

 private:
  explicit CostModelStore(std::unique_ptr<SqlDatabase> database) : database_(std::move(database)) {}

  const std::unique_ptr<SqlDatabase> database_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_RECORDS_COST_MODEL_STORE_H_
