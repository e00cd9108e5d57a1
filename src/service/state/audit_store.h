// The record of who has changed what, in which no past entry can be changed unnoticed.
//
// Problem: a person with access to the database can rewrite it. Idea: each entry has a hash over its content
// and over the hash of the one before, so that the last hash stands for all entries; a copy of it elsewhere
// reveals any later change. The hash covers the content's digest, so that a deleted tenant's contents can go
// while the chain stays. Price: entries are written one after the other.
#ifndef ATTUNE_SERVICE_STATE_AUDIT_STORE_H_
#define ATTUNE_SERVICE_STATE_AUDIT_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"

namespace attune {

struct AuditEntry {
  int64_t time_ms = 0;      // since 1970, UTC
  std::string tenant = {};  // of who has asked
  std::string actor = {},
              actor_name = {};  // the id of a token, a session or a person; "local": beside the server
  std::string operation = {};   // as the OpenAPI document names it
  std::string subject = {};     // the path that was asked
  std::string request = {};     // the same for all entries of a request
  std::string result = {};      // "begun" before the effect, and then the status of the answer

  bool operator==(const AuditEntry&) const = default;
};

struct KeptAuditEntry {
  int64_t sequence = 0;
  AuditEntry entry = {};
  bool is_erased = false;  // its tenant was deleted
  std::string hash = {};
};

// Stands for all entries up to this one.
struct AuditHead {
  int64_t sequence = 0;  // 0: there is none
  std::string hash = {};

  bool operator==(const AuditHead&) const = default;
  std::string Text() const;
  static absl::StatusOr<AuditHead> Parse(std::string_view text);
};

struct AuditQuery {
  std::string tenant = {};     // empty: all
  int64_t before = INT64_MAX;  // sequences below this one alone
  int64_t most = 100;
};

struct AuditVerdict {
  AuditHead first = {}, last = {};  // the first follows the oldest entry that is stored
  int64_t entries = 0, erased = 0;
};

const SqlSchema& AuditSchema();

// Thread safe. A change has taken effect when its call returns.
class AuditStore {
 public:
  // As SqlLocation::Open().
  static absl::StatusOr<std::unique_ptr<AuditStore>> Open(const SqlLocation& location);

  absl::Status Append(const std::vector<AuditEntry>& entries);
  // The latest first.
  absl::StatusOr<std::vector<KeptAuditEntry>> Entries(const AuditQuery& query);
  absl::StatusOr<AuditHead> Head();
  // Forgets entries from before then, but for the hash that the rest follows.
  absl::Status ForgetBefore(int64_t time_ms);
  // Forgets what the tenant's entries say.
  absl::Status Erase(const std::string& tenant);
  // DataLoss, naming the entry, if one was changed, removed or put in; or if the log does not pass through
  // the given head, unless that is of entry 0.
  absl::StatusOr<AuditVerdict> Verify(const AuditHead& passes = {});

 private:
  explicit AuditStore(std::unique_ptr<SqlDatabase> database) : database_(std::move(database)) {}

  const std::unique_ptr<SqlDatabase> database_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_STATE_AUDIT_STORE_H_
