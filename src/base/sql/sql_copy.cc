#include "base/sql/sql_copy.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/overloaded.h"
#include "base/printable.h"
#include "base/sql/postgres_versions.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr int kRowsAtOnce = 16;
// Larger parts are refused: a statement of PostgreSQL takes at most 65,535 values.
constexpr size_t kMostRows = 256, kMostNameBytes = 63;
constexpr int64_t kMostColumns = 255;

// A part says one of these.
enum class PartKind : int64_t {
  kTables,   // of a store: its name, their version
  kRows,     // of a table: its name, the numbers of columns and of rows, their values
  kCounter,  // that numbers a table's rows: the table's name, the latest number
};

// The sequence that numbers the rows of a table of PostgreSQL by itself, if there is one, in a query for the
// table's name.
constexpr char kSequence[] =
    "CAST(pg_get_serial_sequence(CAST(table_name AS TEXT), CAST(column_name AS TEXT)) AS regclass)";
constexpr char kOfIdentity[] =
    " FROM information_schema.columns WHERE table_schema = 'public' AND is_identity = 'YES' AND "
    "CAST(table_name AS TEXT) = ?";

MessageWriter BeginPart(PartKind kind, std::string_view name) {
  MessageWriter part;
  part.Int(static_cast<int64_t>(kind));
  part.Bytes(name);
  return part;
}

// A value's type is its index in SqlValue.
void WriteValue(const SqlValue& value, MessageWriter& part) {
  part.Int(static_cast<int64_t>(value.index()));
  std::visit(Overloaded{[&](int64_t number) { part.Int(number); },
                        [&](double number) { part.Int(std::bit_cast<int64_t>(number)); },  // or not finite
                        [&](const std::string& text) { part.Bytes(text); },
                        [&](const SqlBytes& bytes) { part.Bytes(bytes.bytes); }, [](SqlNull) {}},
             value);
}

SqlValue ReadValue(MessageReader& part) {
  constexpr int64_t kTypes = std::variant_size_v<SqlValue>;
  switch (part.Int(0, kTypes - 1)) {
    case 0:
      return part.Int();
    case 1:
      return std::bit_cast<double>(part.Int());
    case 2:
      return part.Bytes();
    case 3:
      return SqlBytes{.bytes = part.Bytes()};
    default:
      return SqlNull{};
  }
}

// Passes the parts of stores to a function.
class PartsWriter {
 public:
  explicit PartsWriter(const SqlPartTaker& take) : take_(take) {}

  absl::Status AddTables(const SqlSchema& schema, int64_t version) {
    MessageWriter part = BeginPart(PartKind::kTables, schema.store);
    part.Int(version);
    return take_(part.text());
  }
  // `first`: the column that the table begins with.
  absl::Status AddRows(const std::string& table, const std::vector<SqlRow>& rows, size_t first) {
    MessageWriter part = BeginPart(PartKind::kRows, table);
    part.Int(static_cast<int64_t>(rows.front().values().size() - first));
    part.Int(std::ssize(rows));
    for (const SqlRow& row : rows)
      for (size_t i = first; i < row.values().size(); ++i) WriteValue(row.values()[i], part);
    rows_ += std::ssize(rows);
    return take_(part.text());
  }
  // Numbers that were given out do not come again, even if their rows are gone. 0: there were none.
  absl::Status AddCounter(const std::string& table, int64_t latest) {
    if (latest == 0) return absl::OkStatus();
    MessageWriter part = BeginPart(PartKind::kCounter, table);
    part.Int(latest);
    return take_(part.text());
  }

  int64_t rows() const { return rows_; }

 private:
  const SqlPartTaker& take_;
  int64_t rows_ = 0;
};

absl::Status CopyPostgresTable(SqlSession& session, const std::string& table, PartsWriter& parts) {
  // A statement that comes again is prepared, and then has the same columns.
  const std::string cursor = absl::StrCat("rows_of_", table);
  const std::string declare = absl::StrCat("DECLARE ", cursor, " NO SCROLL CURSOR FOR SELECT * FROM ", table);
  RETURN_IF_ERROR(session.Execute(declare, {}).status());
  const std::string fetch = absl::StrCat("FETCH ", kRowsAtOnce, " FROM ", cursor);
  for (;;) {
    ASSIGN_OR_RETURN(const SqlAnswer answer, session.Execute(fetch, {}));
    if (answer.rows.empty()) break;
    RETURN_IF_ERROR(parts.AddRows(table, answer.rows, /*first=*/0));
  }
  RETURN_IF_ERROR(session.Execute("CLOSE " + cursor, {}).status());
  ASSIGN_OR_RETURN(const int64_t latest, ReadInteger(session,
                                                     absl::StrCat("SELECT COALESCE(pg_sequence_last_value(",
                                                                  kSequence, "), 0)", kOfIdentity),
                                                     table));
  return parts.AddCounter(table, latest);
}

absl::Status CopySqliteTable(SqlSession& session, const std::string& table, PartsWriter& parts) {
  const std::string select =
      absl::StrCat("SELECT rowid, * FROM ", table, " WHERE rowid > ? ORDER BY rowid LIMIT ", kRowsAtOnce);
  for (int64_t before = INT64_MIN;;) {
    ASSIGN_OR_RETURN(const SqlAnswer answer, session.Execute(select, {before}));
    if (answer.rows.empty()) break;
    RETURN_IF_ERROR(parts.AddRows(table, answer.rows, /*first=*/1));
    before = answer.rows.back().Integer(0);
  }
  ASSIGN_OR_RETURN(const int64_t has_counters,
                   ReadInteger(session, "SELECT count(*) FROM sqlite_schema WHERE name = 'sqlite_sequence'"));
  if (has_counters == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int64_t latest,
                   ReadInteger(session, "SELECT seq FROM sqlite_sequence WHERE name = ?", table));
  return parts.AddCounter(table, latest);
}

}  // namespace

absl::StatusOr<int64_t> CopyStores(SqlSession& session, std::span<const SqlSchema* const> schemas,
                                   const SqlPartTaker& take) {
  PartsWriter parts(take);
  for (const SqlSchema* schema : schemas) {
    ASSIGN_OR_RETURN(const int64_t version, PostgresVersion(session, *schema));
    RETURN_IF_ERROR(CheckVersion(session.name(), *schema, version));
    if (version == 0) continue;
    RETURN_IF_ERROR(parts.AddTables(*schema, version));
    for (const std::string& table : TablesOf(*schema, version))
      RETURN_IF_ERROR(CopyPostgresTable(session, table, parts));
  }
  return parts.rows();
}

absl::Status CopySqliteStore(SqlDatabase& database, const SqlSchema& schema, const SqlPartTaker& take) {
  PartsWriter parts(take);
  ASSIGN_OR_RETURN(const int64_t version, database.Version());
  RETURN_IF_ERROR(CheckVersion(database.name(), schema, version));
  RETURN_IF_ERROR(parts.AddTables(schema, version));
  return database.Read([&](SqlSession& session) -> absl::Status {
    for (const std::string& table : TablesOf(schema, version))
      RETURN_IF_ERROR(CopySqliteTable(session, table, parts));
    return absl::OkStatus();
  });
}

absl::Status StoresFromCopy::Take(std::string_view part) {
  MessageReader reader(part);
  switch (static_cast<PartKind>(reader.Int(0, static_cast<int64_t>(PartKind::kCounter)))) {
    case PartKind::kTables:
      return MakeTables(reader);
    case PartKind::kRows:
      return AddRows(reader);
    case PartKind::kCounter:
      return SetCounter(reader);
  }
  return Damaged();
}

absl::Status StoresFromCopy::Finish() {
  for (const SqlSchema* schema : schemas_)
    RETURN_IF_ERROR(MigratePostgres(session_, *schema, schema->version()));
  return absl::OkStatus();
}

absl::Status StoresFromCopy::MakeTables(MessageReader& part) {
  const std::string store = part.Bytes(kMostNameBytes);
  const int64_t version = part.Int(1);
  if (!part.Finish().ok()) return Damaged();
  const auto schema = std::ranges::find(schemas_, store, &SqlSchema::store);
  if (schema == schemas_.end())
    return absl::FailedPreconditionError(absl::StrCat(name_, ": has tables of ", Printable(store),
                                                      ", which only a newer attune knows; update attune"));
  RETURN_IF_ERROR(CheckVersion(name_, **schema, version));
  RETURN_IF_ERROR(MigratePostgres(session_, **schema, version));
  for (const std::string& table : TablesOf(**schema, version)) {
    // The steps themselves put rows into some.
    RETURN_IF_ERROR(session_.Execute(absl::StrCat("DELETE FROM ", table), {}).status());
    tables_.insert(table);
  }
  return absl::OkStatus();
}

absl::Status StoresFromCopy::AddRows(MessageReader& part) {
  const std::string table = part.Bytes(kMostNameBytes);
  const auto columns = static_cast<size_t>(part.Int(1, kMostColumns));
  const size_t rows = part.Count(kMostRows);
  std::vector<SqlValue> values;
  for (size_t i = 0; i < rows * columns; ++i) values.push_back(ReadValue(part));
  if (!part.Finish().ok() || rows == 0 || !tables_.contains(table)) return Damaged();
  const std::string row =
      absl::StrCat("(", absl::StrJoin(std::vector<std::string_view>(columns, "?"), ", "), ")");
  const std::string rows_text = absl::StrJoin(std::vector<std::string_view>(rows, row), ", ");
  rows_ += static_cast<int64_t>(rows);
  return session_.Execute(absl::StrCat("INSERT INTO ", table, " VALUES ", rows_text), values).status();
}

absl::Status StoresFromCopy::SetCounter(MessageReader& part) {
  const std::string table = part.Bytes(kMostNameBytes);
  const int64_t latest = part.Int(1);
  if (!part.Finish().ok() || !tables_.contains(table)) return Damaged();
  const std::string set = absl::StrCat("SELECT setval(", kSequence, ", ?)", kOfIdentity);
  return session_.Execute(set, {latest, table}).status();
}

absl::Status StoresFromCopy::Damaged() const {
  return absl::DataLossError(absl::StrCat(name_, ": has a part that this version does not know"));
}

}  // namespace attune
