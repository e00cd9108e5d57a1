#include "api/records.h"

#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/face.h"
#include "base/status.h"
#include "device/host.h"

namespace attune {

absl::StatusOr<std::string> DefaultRecordsPath() {
  return DefaultRecordsPath([](const char* name) { return std::getenv(name); });
}

absl::StatusOr<std::unique_ptr<RecordDatabase>> OpenRecords(const std::string& path, DatabaseAccess access) {
  std::string file = path;
  const std::string option = NameAsGiven("--records", "records");
  if (file == "none") return InvalidInput("there are no records without a database; name one with ", option);
  if (file.empty()) {
    ASSIGN_OR_RETURN(file, DefaultRecordsPath());
    if (file == "none") return InvalidInput("ATTUNE_RECORDS is none; name a database with ", option);
  }
  return RecordDatabase::Open(file, {.access = access});
}

absl::StatusOr<std::shared_ptr<const KernelChooser>> LoadRecordChooser(const std::string& path,
                                                                       const std::string& fingerprint,
                                                                       int threads) {
  if (path.empty()) {
    const absl::StatusOr<std::string> usual = DefaultRecordsPath();
    std::error_code error;
    if (!usual.ok() || *usual == "none" || !std::filesystem::exists(*usual, error)) return nullptr;
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<RecordDatabase> database, OpenRecords(path, DatabaseAccess::kRead));
  ASSIGN_OR_RETURN(RecordChooser chooser, RecordChooser::Load(*database, fingerprint, threads));
  return std::make_shared<const RecordChooser>(std::move(chooser));
}

absl::StatusOr<int64_t> CopyRecords(const std::string& from, const std::string& to,
                                    const RecordFilter& filter, bool only_best) {
  ASSIGN_OR_RETURN(const auto source, RecordDatabase::Open(from, {.access = DatabaseAccess::kRead}));
  ASSIGN_OR_RETURN(const auto database, RecordDatabase::Open(to, {.access = DatabaseAccess::kCreate}));
  if (!only_best) {
    ASSIGN_OR_RETURN(const ImportReport report, MergeRecords(*database, *source, filter));
    return report.added;
  }
  ASSIGN_OR_RETURN(const std::vector<BestRecord> best, source->Best(filter));
  std::vector<Record> records;
  for (const BestRecord& one : best) records.push_back(one.record);
  return database->Add(records);
}

}  // namespace attune
