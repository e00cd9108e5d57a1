// What programs do with records of tuning.
#include "api/records.h"

#include "base/status.h"
#include "library/convert.h"

namespace attune::compiler {
namespace {

absl::StatusOr<int64_t> Copy(const std::string& from, const std::string& to, const RecordSelection& which) {
  ASSIGN_OR_RETURN(const auto source, RecordDatabase::Open(from, {.access = DatabaseAccess::kRead}));
  ASSIGN_OR_RETURN(const auto database, RecordDatabase::Open(to, {.access = DatabaseAccess::kCreate}));
  const RecordFilter filter = {.run = which.run};
  if (!which.is_best_only) {
    ASSIGN_OR_RETURN(const ImportReport report, MergeRecords(*database, *source, filter));
    return report.added;
  }
  ASSIGN_OR_RETURN(const std::vector<BestRecord> best, source->Best(filter));
  std::vector<Record> records;
  for (const BestRecord& one : best) records.push_back(one.record);
  return database->Add(records);
}

}  // namespace

int64_t copy_records(const std::string& from, const std::string& to, const RecordSelection& which) {
  return Value(Copy(from, to, which));
}

}  // namespace attune::compiler
