#include "process/server/server_lease.h"

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"

namespace attune {
namespace {

// A holder's token is part of the key: PostgreSQL then lets the holder's transactions lock the token while
// its renewals of the same row proceed.
constexpr const char* kUp1[] = {
    "CREATE TABLE server_leases (name TEXT NOT NULL, token INTEGER NOT NULL, beat INTEGER NOT NULL, holder "
    "TEXT NOT NULL, address TEXT NOT NULL, PRIMARY KEY (name, token)) STRICT",
    "INSERT INTO server_leases VALUES ('scheduler', 0, 0, '', '')",
};
constexpr const char* kDown1[] = {"DROP TABLE server_leases"};
constexpr SqlMigration kMigrations[] = {{.up = kUp1, .down = kDown1}};

constexpr double kRenewals =
    5;  // renewals within the time after which the lease is lost, unless the options say otherwise

absl::Status IsLost() {
  return absl::UnavailableError("another server schedules now; this one has lost its lease");
}

}  // namespace

const SqlSchema& ServerLeaseSchema() {
  static constexpr SqlSchema kSchema = {.store = "leases",
                                        .file = "leases.db",
                                        .application_id = 0x4174536C,  // "AtSl"
                                        .migrations = kMigrations,
                                        .words = {.what = "database of leases", .flag = "--state"}};
  return kSchema;
}

absl::StatusOr<std::unique_ptr<ServerLease>> ServerLease::Open(const SqlLocation& location,
                                                               const ServerLeaseOptions& options) {
  ASSIGN_OR_RETURN(auto database, location.Open(ServerLeaseSchema()));
  std::unique_ptr<ServerLease> lease(new ServerLease(std::move(database), options));
  lease->seen_since_ = SystemClock().Now();
  RETURN_IF_ERROR(lease->loop_.Start());
  return lease;
}

ServerLease::ServerLease(std::unique_ptr<SqlDatabase> database, const ServerLeaseOptions& options)
    : database_(std::move(database)), options_(options), loop_([this] {
        Look();
        return options_.look_seconds > 0 ? options_.look_seconds : options_.seconds / kRenewals;
      }) {}

ServerLease::~ServerLease() {
  loop_.Stop();
  GiveUp();
}

void ServerLease::Look() {
  const double now = SystemClock().Now();
  bool is_held = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_held = held_.has_value();
  }
  if (is_held) {
    const absl::StatusOr<bool> renewed = Renew();
    if (renewed.ok() && !*renewed) return Lose("another server has taken it");
    const std::lock_guard<std::mutex> lock(mutex_);
    if (renewed.ok()) renewed_ = now;
    if (renewed.ok() || SystemClock().Now() - renewed_ < options_.seconds) return;
  }
  // No server can rely on its lease while the database does not answer.
  if (is_held) return Lose("the database does not answer");
  const absl::StatusOr<Row> found = Find();
  std::unique_lock<std::mutex> lock(mutex_);
  if (!found.ok() || *found != seen_) {
    if (found.ok()) seen_ = *found;
    seen_since_ = now;
  }
  if (!found.ok() && !is_blind_)
    Log(LogLevel::kWarning, "the servers' lease is not seen", "reason", found.status().message());
  is_blind_ = !found.ok();
  if (!found.ok() || now < waits_until_) return;
  if (!found->holder.empty() && now - seen_since_ < options_.seconds) return;
  lock.unlock();
  const absl::StatusOr<bool> taken = Take(*found);
  if (!taken.ok() || !*taken) return;
  lock.lock();
  held_ = found->token + 1;
  renewed_ = now;
  Log(LogLevel::kInfo, "this server schedules from now on", "token", *held_, "before", found->holder);
  changed_.notify_all();
}

absl::StatusOr<ServerLease::Row> ServerLease::ReadLease(const SqlRow& row) {
  return Row{.token = row.Integer(0), .beat = row.Integer(1), .holder = row.Text(2), .address = row.Text(3)};
}

absl::StatusOr<ServerLease::Row> ServerLease::Find() {
  ASSIGN_OR_RETURN(
      const std::optional<Row> row,
      ReadRow(*database_, &ServerLease::ReadLease,
              "SELECT token, beat, holder, address FROM server_leases WHERE name = 'scheduler'"));
  if (!row)
    return absl::DataLossError(absl::StrCat(database_->name(), ": has lost the lease of its servers"));
  return *row;
}

absl::StatusOr<bool> ServerLease::Take(const Row& seen) {
  ASSIGN_OR_RETURN(const int64_t changed,
                   ChangeRows(*database_,
                              "UPDATE server_leases SET token = token + 1, beat = 0, holder = ?, address = "
                              "'' WHERE name = 'scheduler' AND token = ? AND beat = ?",
                              options_.holder, seen.token, seen.beat));
  return changed > 0;
}

absl::StatusOr<bool> ServerLease::Renew() {
  int64_t token = 0;
  std::string address;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    token = held_.value_or(0);
    address = address_;
  }
  ASSIGN_OR_RETURN(
      const int64_t changed,
      ChangeRows(
          *database_,
          "UPDATE server_leases SET beat = beat + 1, address = ? WHERE name = 'scheduler' AND token = ?",
          address, token));
  return changed > 0;
}

void ServerLease::Lose(std::string_view reason) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Log(LogLevel::kError, "this server schedules no more", "reason", reason);
  held_.reset();
  address_.clear();
  seen_since_ = SystemClock().Now();
  changed_.notify_all();
}

void ServerLease::GiveUp() {
  std::optional<int64_t> token;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    token = std::exchange(held_, std::nullopt);
    address_.clear();
    waits_until_ = SystemClock().Now() + options_.seconds;
  }
  if (!token) return;
  const absl::Status given = Execute(*database_,
                                     "UPDATE server_leases SET holder = '', address = '', beat = beat + 1 "
                                     "WHERE name = 'scheduler' AND token = ?",
                                     *token);
  if (!given.ok()) Log(LogLevel::kWarning, "the servers' lease is not given back", "reason", given.message());
}

SqlFence ServerLease::Fence() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return [token = held_.value_or(0)](SqlSession& session) -> absl::Status {
    ASSIGN_OR_RETURN(
        const SqlAnswer held,
        session.Execute(
            "SELECT token FROM server_leases WHERE name = 'scheduler' AND token = ? FOR KEY SHARE",
            {ToSqlValue(token)}));
    return held.rows.empty() ? IsLost() : absl::OkStatus();
  };
}

bool ServerLease::AwaitHeld() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return held_.has_value() || is_woken_; });
  return !is_woken_;
}

void ServerLease::AwaitLost() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return !held_.has_value() || is_woken_; });
}

void ServerLease::Wake() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_woken_ = true;
  }
  changed_.notify_all();
}

void ServerLease::Announce(const std::string& address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  address_ = address;
}

std::string ServerLease::Leader() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return held_ ? address_ : seen_.address;
}

}  // namespace attune
