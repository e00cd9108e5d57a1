#include "service/agreement/agreement_store.h"

#include <utility>

#include "base/json_object.h"
#include "base/status.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr const char* kUp1[] = {
    "CREATE TABLE observations (number INTEGER PRIMARY KEY AUTOINCREMENT, job TEXT NOT NULL UNIQUE, tenant "
    "TEXT NOT NULL, is_shared INTEGER NOT NULL, content TEXT NOT NULL)",
};
constexpr const char* kDown1[] = {"DROP TABLE observations"};
// Whether an answer is for others is asked when it is given. An earlier program learns again from those jobs
// of which it does not find that.
constexpr const char* kUp2[] = {"ALTER TABLE observations DROP COLUMN is_shared"};
constexpr const char* kDown2[] = {
    "DELETE FROM observations WHERE content NOT LIKE '%\"is_shared\":%'",
    "ALTER TABLE observations ADD COLUMN is_shared INTEGER NOT NULL DEFAULT 0",
};
constexpr SqlMigration kMigrations[] = {{.up = kUp1, .down = kDown1}, {.up = kUp2, .down = kDown2}};

std::string TextOf(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

absl::StatusOr<AgreementStore::Numbered> ReadObservation(const SqlRow& row) {
  ASSIGN_OR_RETURN(const Json json, ParseJsonObject<Json>(row.Text(1)));
  ASSIGN_OR_RETURN(Observation observation, ObservationOfJson(json));
  return AgreementStore::Numbered{.number = row.Integer(0), .observation = std::move(observation)};
}

}  // namespace

const SqlSchema& AgreementSchema() {
  static constexpr SqlSchema kSchema = {.store = "agreements",
                                        .file = "agreements.db",
                                        .application_id = 0x41744167,  // "AtAg"
                                        .migrations = kMigrations,
                                        .words = {.what = "database of agreements", .flag = "--state"}};
  return kSchema;
}

absl::StatusOr<std::unique_ptr<AgreementStore>> AgreementStore::Open(const SqlLocation& location) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqlDatabase> database, location.Open(AgreementSchema()));
  return std::unique_ptr<AgreementStore>(new AgreementStore(std::move(database)));
}

absl::Status AgreementStore::Add(const Observation& observation) {
  return database_->Write([&](SqlSession& session) -> absl::Status {
    RETURN_IF_ERROR(Execute(
        session,
        "INSERT INTO observations (job, tenant, content) VALUES (?, ?, ?) ON CONFLICT (job) DO NOTHING",
        observation.job, observation.tenant, TextOf(ToJson(observation))));
    ASSIGN_OR_RETURN(const int64_t last, ReadInteger(session, "SELECT MAX(number) FROM observations"));
    return Execute(session, "DELETE FROM observations WHERE number <= ?", last - kMostObservations);
  });
}

absl::StatusOr<std::vector<AgreementStore::Numbered>> AgreementStore::ObservationsAfter(int64_t number) {
  return ReadSoundRows(*database_, ReadObservation,
                       "SELECT number, content FROM observations WHERE number > ? ORDER BY number", number);
}

absl::Status AgreementStore::RemoveTenant(const std::string& tenant) {
  return Execute(*database_, "DELETE FROM observations WHERE tenant = ?", tenant);
}

}  // namespace attune
