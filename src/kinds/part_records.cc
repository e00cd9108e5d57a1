#include "kinds/part_records.h"

#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "tune/records/database.h"
#include "tune/records/exchange.h"
#include "work/job/kind.h"

namespace attune {

absl::Status TakeRecordsOfParts(const std::string& folder, int parts, const std::string& records) {
  namespace fs = std::filesystem;
  ASSIGN_OR_RETURN(const std::unique_ptr<RecordDatabase> all, RecordDatabase::Open(records));
  for (int part = 1; part <= parts; ++part) {
    const fs::path left = fs::path(folder) / PartFolder(part);
    const fs::path database = left / kPartRecords;
    std::error_code error;
    if (fs::exists(database, error)) {
      ASSIGN_OR_RETURN(const std::unique_ptr<RecordDatabase> of_part,
                       RecordDatabase::Open(database.string()));
      RETURN_IF_ERROR(MergeRecords(*all, *of_part).status());
    }
    fs::remove_all(left, error);
    if (error)
      return absl::UnavailableError(absl::StrCat(left.string(), ": cannot be removed: ", error.message()));
  }
  return absl::OkStatus();
}

}  // namespace attune
