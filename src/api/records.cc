#include "api/records.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/status.h"
#include "device/host.h"

namespace attune {

namespace {

absl::StatusOr<std::string> DefaultPath() {
  return DefaultRecordsPath([](const char* name) { return std::getenv(name); });
}

}  // namespace

absl::StatusOr<std::unique_ptr<RecordDatabase>> OpenRecords(const std::string& path, DatabaseAccess access) {
  std::string file = path;
  if (file == "none") return InvalidInput("there are no records without a database; name one with --records");
  if (file.empty()) {
    ASSIGN_OR_RETURN(file, DefaultPath());
    if (file == "none") return InvalidInput("ATTUNE_RECORDS is none; name a database with --records");
  }
  return RecordDatabase::Open(file, {.access = access});
}

absl::StatusOr<std::shared_ptr<const KernelChooser>> LoadRecordChooser(const std::string& path,
                                                                       const std::string& fingerprint,
                                                                       int threads) {
  if (path.empty()) {
    const absl::StatusOr<std::string> usual = DefaultPath();
    std::error_code error;
    if (!usual.ok() || *usual == "none" || !std::filesystem::exists(*usual, error)) return nullptr;
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<RecordDatabase> database, OpenRecords(path, DatabaseAccess::kRead));
  ASSIGN_OR_RETURN(RecordChooser chooser, RecordChooser::Load(*database, fingerprint, threads));
  return std::make_shared<const RecordChooser>(std::move(chooser));
}

}  // namespace attune
