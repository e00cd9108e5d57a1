#include "service/state/audit_store.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/status.h"
#include "nlohmann/json.hpp"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr const char* kUp[] = {
    ("CREATE TABLE audit_entries (sequence INTEGER NOT NULL PRIMARY KEY, time_ms INTEGER NOT NULL, tenant "
     "TEXT NOT NULL, content TEXT NOT NULL, content_digest TEXT NOT NULL, hash TEXT NOT NULL) STRICT"),
    "CREATE INDEX audit_by_tenant ON audit_entries (tenant, sequence)",
    "CREATE INDEX audit_by_time ON audit_entries (time_ms)",
    // The last entry that was forgotten.
    "CREATE TABLE audit_start (sequence INTEGER NOT NULL, hash TEXT NOT NULL) STRICT",
    "INSERT INTO audit_start VALUES (0, '')",
};
constexpr const char* kDown[] = {"DROP TABLE audit_start", "DROP TABLE audit_entries"};
constexpr SqlMigration kMigrations[] = {{.up = kUp, .down = kDown}};

struct Row {
  int64_t sequence = 0, time_ms = 0;
  std::string tenant, content, content_digest, hash;
};

constexpr std::string_view kSelect =
    "SELECT sequence, time_ms, tenant, content, content_digest, hash FROM audit_entries WHERE ";

absl::StatusOr<Row> ReadEntryRow(const SqlRow& row) {
  return Row{.sequence = row.Integer(0),
             .time_ms = row.Integer(1),
             .tenant = row.Text(2),
             .content = row.Text(3),
             .content_digest = row.Text(4),
             .hash = row.Text(5)};
}

absl::StatusOr<AuditHead> ReadHead(const SqlRow& row) {
  return AuditHead{.sequence = row.Integer(0), .hash = row.Text(1)};
}

// The same text for the same entry, in whatever database.
std::string ContentOf(const AuditEntry& entry) {
  return Json({entry.time_ms, entry.tenant, entry.actor, entry.actor_name, entry.operation, entry.subject,
               entry.request, entry.result})
      .dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

absl::StatusOr<AuditEntry> EntryOf(const std::string& content) {
  const Json json = Json::parse(content, nullptr, /*allow_exceptions=*/false);
  constexpr size_t kFields = 8;
  bool is_one = json.is_array() && json.size() == kFields && json[0].is_number_integer();
  for (size_t i = 1; is_one && i < kFields; ++i) is_one = json[i].is_string();
  if (!is_one) return absl::DataLossError("an entry of the audit log is damaged");
  return AuditEntry{.time_ms = json[0],
                    .tenant = json[1],
                    .actor = json[2],
                    .actor_name = json[3],
                    .operation = json[4],
                    .subject = json[5],
                    .request = json[6],
                    .result = json[7]};
}

std::string HashAfter(const std::string& before, int64_t sequence, const std::string& content_digest) {
  return Sha256Hex(absl::StrCat(before, "\n", sequence, "\n", content_digest));
}

absl::StatusOr<AuditHead> StartOf(SqlSession& sql) {
  ASSIGN_OR_RETURN(const auto start, ReadRow(sql, ReadHead, "SELECT sequence, hash FROM audit_start"));
  if (!start) return absl::DataLossError(absl::StrCat(sql.name(), ": the audit log has lost its start"));
  return *start;
}

absl::StatusOr<AuditHead> HeadOf(SqlSession& sql) {
  ASSIGN_OR_RETURN(
      const auto last,
      ReadRow(sql, ReadHead, "SELECT sequence, hash FROM audit_entries ORDER BY sequence DESC LIMIT 1"));
  if (last) return *last;
  return StartOf(sql);
}

absl::Status Damaged(const SqlSession& sql, int64_t sequence, std::string_view how) {
  return absl::DataLossError(absl::StrCat(sql.name(), ": entry ", sequence, " of the audit log ", how));
}

// Whether the row follows that head, and is as it was written.
absl::Status CheckRow(const SqlSession& sql, const Row& row, const AuditHead& before) {
  if (row.sequence != before.sequence + 1) return Damaged(sql, before.sequence + 1, "is missing");
  const bool is_erased = row.content.empty();
  if (!is_erased && Sha256Hex(row.content) != row.content_digest)
    return Damaged(sql, row.sequence, "was changed");
  if (row.hash != HashAfter(before.hash, row.sequence, row.content_digest))
    return Damaged(sql, row.sequence, "does not follow the one before");
  if (is_erased) return absl::OkStatus();
  ASSIGN_OR_RETURN(const AuditEntry entry, EntryOf(row.content));
  if (entry.tenant != row.tenant || entry.time_ms != row.time_ms)
    return Damaged(sql, row.sequence, "was changed");
  return absl::OkStatus();
}

}  // namespace

std::string AuditHead::Text() const { return absl::StrCat(sequence, ":", hash); }

absl::StatusOr<AuditHead> AuditHead::Parse(std::string_view text) {
  constexpr size_t kDigits = 64;
  const std::pair<std::string, std::string> parts = absl::StrSplit(text, absl::MaxSplits(':', 1));
  AuditHead head = {.hash = parts.second};
  if (!absl::SimpleAtoi(parts.first, &head.sequence) || head.sequence < 1 || head.hash.size() != kDigits)
    return InvalidInput("\"", Printable(text),
                        "\" is not a head of an audit log: a number, a colon and 64 digits");
  return head;
}

const SqlSchema& AuditSchema() {
  static constexpr SqlSchema kSchema = {.store = "audit",
                                        .file = "audit.db",
                                        .application_id = 0x41744175,  // "AtAu"
                                        .migrations = kMigrations,
                                        .words = {.what = "audit log", .flag = "--state"}};
  return kSchema;
}

absl::StatusOr<std::unique_ptr<AuditStore>> AuditStore::Open(const SqlLocation& location) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqlDatabase> database, location.Open(AuditSchema()));
  return std::unique_ptr<AuditStore>(new AuditStore(std::move(database)));
}

absl::Status AuditStore::Append(const std::vector<AuditEntry>& entries) {
  return database_->Write([&](SqlSession& sql) -> absl::Status {
    ASSIGN_OR_RETURN(AuditHead head, HeadOf(sql));
    for (const AuditEntry& entry : entries) {
      const std::string content = ContentOf(entry), digest = Sha256Hex(content);
      head = {.sequence = head.sequence + 1, .hash = HashAfter(head.hash, head.sequence + 1, digest)};
      RETURN_IF_ERROR(Execute(sql, "INSERT INTO audit_entries VALUES (?, ?, ?, ?, ?, ?)", head.sequence,
                              entry.time_ms, entry.tenant, content, digest, head.hash));
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<KeptAuditEntry>> AuditStore::Entries(const AuditQuery& query) {
  using Entries = std::vector<KeptAuditEntry>;
  return database_->Read([&](SqlSession& sql) -> absl::StatusOr<Entries> {
    ASSIGN_OR_RETURN(const auto rows, ReadRows(sql, ReadEntryRow,
                                               absl::StrCat(kSelect, "sequence < ? AND ",
                                                            query.tenant.empty() ? "? = ''" : "tenant = ?",
                                                            " ORDER BY sequence DESC LIMIT ?"),
                                               query.before, query.tenant, query.most));
    Entries entries;
    for (const Row& row : rows) {
      KeptAuditEntry kept = {.sequence = row.sequence, .is_erased = row.content.empty(), .hash = row.hash};
      kept.entry.time_ms = row.time_ms;
      if (!kept.is_erased) {
        ASSIGN_OR_RETURN(kept.entry, EntryOf(row.content));
      }
      entries.push_back(std::move(kept));
    }
    return entries;
  });
}

absl::StatusOr<AuditHead> AuditStore::Head() { return database_->Read(HeadOf); }

absl::Status AuditStore::ForgetBefore(int64_t time_ms) {
  return database_->Write([&](SqlSession& sql) -> absl::Status {
    // Clocks jump; the chain is cut at one place.
    ASSIGN_OR_RETURN(
        const int64_t first_kept,
        ReadInteger(sql, "SELECT coalesce(min(sequence), 0) FROM audit_entries WHERE time_ms >= ?", time_ms));
    ASSIGN_OR_RETURN(const auto last, ReadRow(sql, ReadHead,
                                              "SELECT sequence, hash FROM audit_entries WHERE sequence < ? "
                                              "OR ? = 0 ORDER BY sequence DESC LIMIT 1",
                                              first_kept, first_kept));
    if (!last) return absl::OkStatus();
    RETURN_IF_ERROR(
        Execute(sql, "UPDATE audit_start SET sequence = ?, hash = ?", last->sequence, last->hash));
    return Execute(sql, "DELETE FROM audit_entries WHERE sequence <= ?", last->sequence);
  });
}

absl::Status AuditStore::Erase(const std::string& tenant) {
  return Execute(*database_, "UPDATE audit_entries SET content = '', tenant = '' WHERE tenant = ?", tenant);
}

absl::StatusOr<AuditVerdict> AuditStore::Verify(const AuditHead& passes) {
  constexpr int64_t kAtOnce = 1000;
  AuditVerdict verdict;
  ASSIGN_OR_RETURN(verdict.first, database_->Read(StartOf));
  verdict.last = verdict.first;
  bool has_passed = passes.sequence <= verdict.first.sequence;
  if (passes.sequence == verdict.first.sequence && passes.sequence > 0) has_passed = passes == verdict.first;
  for (;;) {
    using Rows = std::vector<Row>;
    ASSIGN_OR_RETURN(const Rows rows, database_->Read([&](SqlSession& sql) -> absl::StatusOr<Rows> {
      ASSIGN_OR_RETURN(Rows found, ReadRows(sql, ReadEntryRow,
                                            absl::StrCat(kSelect, "sequence > ? ORDER BY sequence LIMIT ?"),
                                            verdict.last.sequence, kAtOnce));
      AuditHead before = verdict.last;
      for (const Row& row : found) {
        RETURN_IF_ERROR(CheckRow(sql, row, before));
        before = {.sequence = row.sequence, .hash = row.hash};
      }
      return found;
    }));
    if (rows.empty()) break;
    for (const Row& row : rows) {
      ++verdict.entries;
      verdict.erased += row.content.empty() ? 1 : 0;
      verdict.last = {.sequence = row.sequence, .hash = row.hash};
      has_passed = has_passed || verdict.last == passes;
    }
  }
  if (has_passed) return verdict;
  return absl::DataLossError(absl::StrCat(database_->name(), ": the audit log does not pass through ",
                                          passes.Text(), ", so that it was rewritten or cut off since then"));
}

}  // namespace attune
