// The observations that promises are made from, which outlive the server: tuning jobs that are over.
#ifndef ATTUNE_SERVICE_AGREEMENT_AGREEMENT_STORE_H_
#define ATTUNE_SERVICE_AGREEMENT_AGREEMENT_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"
#include "service/agreement/observation.h"

namespace attune {

inline constexpr int64_t kMostObservations = 10'000;

const SqlSchema& AgreementSchema();

// Thread safe; several servers may share its database. Errors name it.
class AgreementStore {
 public:
  static absl::StatusOr<std::unique_ptr<AgreementStore>> Open(const SqlLocation& location);

  // Adds one, unless its job has one. The oldest go if there are more than kMostObservations.
  absl::Status Add(const Observation& observation);
  // Returns the observations after the one with this number, 0: all; in the order of adding, with their
  // numbers.
  struct Numbered {
    int64_t number = 0;
    Observation observation = {};
  };
  absl::StatusOr<std::vector<Numbered>> ObservationsAfter(int64_t number);
  // Nothing of this tenant is known any more.
  absl::Status RemoveTenant(const std::string& tenant);

 private:
  explicit AgreementStore(std::unique_ptr<SqlDatabase> database) : database_(std::move(database)) {}

  const std::unique_ptr<SqlDatabase> database_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_AGREEMENT_STORE_H_
