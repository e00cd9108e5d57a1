#include "base/sql/sql_schema.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {

absl::Status ExecuteMigrations(SqlSession& session, const SqlSchema& schema, int64_t from, int64_t to) {
  if (to < 0 || to > schema.version())
    return InvalidInput("the tables of ", schema.store, " have versions 0 to ", schema.version(),
                        ", and not ", to);
  const auto execute = [&](std::span<const char* const> statements) -> absl::Status {
    for (const char* statement : statements) RETURN_IF_ERROR(session.Execute(statement, {}).status());
    return absl::OkStatus();
  };
  for (; from < to; ++from) RETURN_IF_ERROR(execute(schema.migrations[from].up));
  for (; from > to; --from) RETURN_IF_ERROR(execute(schema.migrations[from - 1].down));
  return absl::OkStatus();
}

std::vector<std::string> TablesOf(const SqlSchema& schema, int64_t version) {
  constexpr std::string_view kCreate = "CREATE TABLE ", kDrop = "DROP TABLE ";
  std::vector<std::string> tables;
  for (const SqlMigration& step : schema.migrations.first(static_cast<size_t>(version))) {
    for (const std::string_view statement : step.up) {
      if (statement.starts_with(kCreate)) {
        const std::string_view begin = statement.substr(kCreate.size());
        tables.emplace_back(begin.substr(0, begin.find(' ')));
      } else if (statement.starts_with(kDrop)) {
        std::erase(tables, statement.substr(kDrop.size()));
      }
    }
  }
  return tables;
}

absl::Status CheckVersion(const std::string& name, const SqlSchema& schema, int64_t version) {
  if (version >= 0 && version <= schema.version()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(name, ": its tables of ", schema.store, " are of a newer attune (version ", version,
                   ", this one knows ", schema.version(),
                   "); update attune, or go back with that one's attune server database migrate"));
}

}  // namespace attune
