#include "backup/backup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "backup/archive.h"
#include "backup/frozen_state.h"
#include "backup/restored_state.h"
#include "base/clock.h"
#include "base/file_descriptor.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "base/private_file.h"
#include "base/status.h"
#include "nlohmann/json.hpp"

namespace attune {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

absl::Status SystemError(const std::string& path, int error) {
  if (error == ENOSPC || error == EDQUOT)
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": the disk is full; free some space and try again"));
  return absl::FailedPreconditionError(absl::StrCat(path, ": ", std::strerror(error)));
}

absl::Status CheckPassphrase(std::string_view passphrase) {
  if (passphrase.size() >= kLeastPassphraseBytes) return absl::OkStatus();
  return InvalidInput("the passphrase is shorter than ", kLeastPassphraseBytes,
                      " bytes; whoever finds the file could guess it");
}

// What every server's state has, and a backup of it must have.
constexpr const char* kNeeded[] = {"fleet.db", "authorities.pem"};

absl::Status CheckIsState(const std::string& folder) {
  for (const char* name : kNeeded) {
    std::error_code error;
    if (fs::is_regular_file(folder + "/" + name, error)) continue;
    return absl::NotFoundError(absl::StrCat(folder,
                                            ": is no state of a server, or its database is elsewhere: it "
                                            "has no ",
                                            name, "; name the folder with --state"));
  }
  return absl::OkStatus();
}

// The folder does not exist, or is empty.
absl::Status CheckIsFree(const std::string& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return absl::OkStatus();
  if (fs::is_directory(folder, error) && fs::is_empty(folder, error)) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat(
      folder, ": is there already, and restoring overwrites nothing; end its server and move it away first"));
}

absl::Status ReadAbout(const ArchiveEntry& entry, RestoreReport& report) {
  const Json about = Json::parse(entry.text, nullptr, /*allow_exceptions=*/false);
  const bool is_right = about.is_object() && about.contains("time_ms") &&
                        about["time_ms"].is_number_integer() && about.contains("version") &&
                        about["version"].is_string();
  if (!is_right) return absl::DataLossError("is no backup that this version knows");
  report.backup.time_ms = about["time_ms"];
  report.version = about["version"];
  return absl::OkStatus();
}

// Reads everything, and writes nothing.
absl::StatusOr<RestoreReport> Check(const std::string& file, std::string_view passphrase) {
  RestoreReport report;
  size_t needed = 0;
  RETURN_IF_ERROR(VisitArchive(file, passphrase, [&](const ArchiveEntry& entry, const auto&) {
    if (entry.kind == ArchiveEntryKind::kAbout) return ReadAbout(entry, report);
    for (const char* name : kNeeded) needed += entry.path == name ? 1 : 0;
    if (entry.kind == ArchiveEntryKind::kFile || entry.kind == ArchiveEntryKind::kLink) ++report.backup.files;
    report.backup.bytes += entry.kind == ArchiveEntryKind::kFile ? entry.bytes : 0;
    return absl::OkStatus();
  }));
  if (needed != std::size(kNeeded))
    return absl::DataLossError(absl::StrCat(file, ": is no backup of a server"));
  return report;
}

absl::Status MakeParent(const std::string& path) {
  return MakePrivateFolder(fs::path(path).parent_path().string());
}

absl::Status WriteContent(const std::string& path, const ArchiveEntry& entry,
                          const std::function<absl::StatusOr<std::string_view>()>& read) {
  RETURN_IF_ERROR(MakeParent(path));
  const FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return SystemError(path, errno);
  while (true) {
    ASSIGN_OR_RETURN(const std::string_view piece, read());
    if (piece.empty()) break;
    if (!WriteAll(file, piece)) return SystemError(path, errno);
  }
  if (fchmod(file.get(), static_cast<mode_t>(entry.mode)) != 0 || fsync(file.get()) != 0)
    return SystemError(path, errno);
  return absl::OkStatus();
}

absl::Status Unpack(const std::string& file, std::string_view passphrase, const std::string& folder) {
  return VisitArchive(file, passphrase, [&](const ArchiveEntry& entry, const auto& read) -> absl::Status {
    const std::string path = absl::StrCat(folder, "/", entry.path);
    if (entry.kind == ArchiveEntryKind::kFile) return WriteContent(path, entry, read);
    if (entry.kind != ArchiveEntryKind::kLink) return absl::OkStatus();
    RETURN_IF_ERROR(MakeParent(path));
    std::error_code error;
    fs::create_hard_link(absl::StrCat(folder, "/", entry.text), path, error);
    return error ? SystemError(path, error.value()) : absl::OkStatus();
  });
}

// Where a state is put together; removed in the end unless it has got its place.
class Workplace {
 public:
  explicit Workplace(const std::string& folder) : path_(absl::StrCat(folder, ".restoring")) {}
  ~Workplace() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Workplace(const Workplace&) = delete;
  Workplace& operator=(const Workplace&) = delete;

  const std::string& path() const { return path_; }
  absl::Status Make() {
    std::error_code error;
    fs::remove_all(path_, error);  // of one that was killed
    return error ? SystemError(path_, error.value()) : MakePrivateFolder(path_);
  }
  absl::Status MoveTo(const std::string& folder) {
    // Replaces an empty folder, and fails for any other.
    if (rename(path_.c_str(), folder.c_str()) != 0) return SystemError(folder, errno);
    return absl::OkStatus();
  }

 private:
  const std::string path_;
};

}  // namespace

absl::StatusOr<BackupReport> BackUp(const std::string& folder, const std::string& file,
                                    std::string_view passphrase, const std::string& version) {
  RETURN_IF_ERROR(CheckPassphrase(passphrase));
  RETURN_IF_ERROR(CheckIsState(folder));
  ASSIGN_OR_RETURN(const FrozenState state, FrozenState::Of(folder));
  const Json about = {{"time_ms", state.time_ms()}, {"version", version}};
  ASSIGN_OR_RETURN(const std::unique_ptr<ArchiveWriter> archive,
                   ArchiveWriter::Create(file, passphrase, about.dump()));
  for (const FrozenFile& frozen : state.files()) {
    if (!frozen.same_as.empty()) {
      RETURN_IF_ERROR(archive->AddLink(frozen.path, frozen.same_as));
      continue;
    }
    ASSIGN_OR_RETURN(const InputFile source, OpenInputFile(frozen.source));
    RETURN_IF_ERROR(archive->AddFile(frozen.path, frozen.mode, source, frozen.bytes));
  }
  RETURN_IF_ERROR(archive->Finish());
  return BackupReport{.files = archive->entries(), .bytes = archive->bytes(), .time_ms = state.time_ms()};
}

absl::StatusOr<RestoreReport> Restore(const std::string& file, const std::string& folder,
                                      std::string_view passphrase) {
  RETURN_IF_ERROR(CheckIsFree(folder));
  ASSIGN_OR_RETURN(RestoreReport report, Check(file, passphrase));
  Workplace workplace(folder);
  RETURN_IF_ERROR(workplace.Make());
  RETURN_IF_ERROR(Unpack(file, passphrase, workplace.path()));
  ASSIGN_OR_RETURN(report.epoch,
                   EndWhatMustNotCount(workplace.path(), report.backup.time_ms, SystemClock().WallMillis()));
  RETURN_IF_ERROR(workplace.MoveTo(folder));
  return report;
}

}  // namespace attune
