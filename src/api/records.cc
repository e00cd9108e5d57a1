#include "api/records.h"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/processors.h"
#include "base/status.h"

namespace attune {

absl::StatusOr<std::shared_ptr<const KernelChooser>> LoadRecordChooser(const std::string& path, int threads) {
  std::string file = path;
  if (file.empty()) {
    const absl::StatusOr<std::string> usual =
        DefaultRecordsPath([](const char* name) { return std::getenv(name); });
    std::error_code error;
    if (!usual.ok() || !std::filesystem::exists(*usual, error)) return nullptr;
    file = *usual;
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<RecordDatabase> database,
                   RecordDatabase::Open(file, {.create = false}));
  ASSIGN_OR_RETURN(RecordChooser chooser, RecordChooser::Load(*database, DeviceFingerprint(),
                                                              threads == 0 ? Processors() : threads));
  return std::make_shared<const RecordChooser>(std::move(chooser));
}

}  // namespace attune
