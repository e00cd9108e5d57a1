#include "process/backup/backup.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file_descriptor.h"
#include "base/input_file.h"
#include "base/output_file.h"
#include "base/private_file.h"
#include "base/status.h"
#include "nlohmann/json.hpp"
#include "process/backup/archive.h"
#include "process/backup/database_rows.h"
#include "process/backup/frozen_state.h"
#include "process/backup/restored_state.h"
#include "process/backup/sqlite_to_postgres.h"

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
                      " bytes; a finder of the file could guess it");
}

// Every server with SQLite has these files, and each backup of one must have them.
constexpr const char* kNeeded[] = {"fleet.db", "authorities.pem"};

// A server with PostgreSQL keeps copies of its blobs there, and can fetch them again
// (fleet/blobs/sql_blob_store.h).
constexpr const char* kCaches[] = {"uploads/", "jobs/files/"};

bool IsCached(const std::string& path) {
  return std::ranges::any_of(kCaches, [&](const char* cache) { return path.starts_with(cache); });
}

absl::Status CheckIsState(const ServerState& state) {
  const std::string& folder = state.folder;
  std::error_code error;
  if (state.database) {
    if (!fs::is_directory(folder, error))
      return absl::NotFoundError(
          absl::StrCat(folder, ": there is no such folder of a server; name it with --state"));
    if (!fs::exists(absl::StrCat(folder, "/", kNeeded[0]), error)) return absl::OkStatus();
    return absl::FailedPreconditionError(
        absl::StrCat(folder, ": has its state in SQLite files, and not in ", state.database->name(),
                     "; name another folder with --state, or leave --database out"));
  }
  for (const char* name : kNeeded) {
    if (fs::is_regular_file(folder + "/" + name, error)) continue;
    return absl::NotFoundError(
        absl::StrCat(folder, ": is not a state of a server, or its database is elsewhere: it has no ", name,
                     "; name the folder with --state, or a database in PostgreSQL with --database"));
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

// The first entry of a backup.
struct About {
  int64_t time_ms = 0;
  std::string version = {};
  bool is_postgres = false;  // the database was PostgreSQL
};

std::string FormatAbout(const About& about) {
  const Json json = {
      {"time_ms", about.time_ms}, {"version", about.version}, {"is_postgres", about.is_postgres}};
  return json.dump();
}

absl::StatusOr<About> ParseAbout(const std::string& text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto has = [&](const char* name, auto is_type) {
    return json.is_object() && json.contains(name) && (json[name].*is_type)();
  };
  if (!has("time_ms", &Json::is_number_integer) || !has("version", &Json::is_string))
    return absl::DataLossError("is not a backup that this version knows");
  return About{.time_ms = json["time_ms"].get<int64_t>(),
               .version = json["version"].get<std::string>(),
               .is_postgres = has("is_postgres", &Json::is_boolean) && json["is_postgres"].get<bool>()};
}

absl::Status CheckKind(const About& about, const ServerState& state) {
  if (!about.is_postgres || state.database) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "is a backup of a server with PostgreSQL, which does not become files; name an empty database for it "
      "with --database");
}

// Reads everything, and writes nothing.
absl::StatusOr<RestoreReport> Check(const std::string& file, const ServerState& state,
                                    std::string_view passphrase, bool& is_postgres) {
  RestoreReport report;
  size_t needed = 0;
  RETURN_IF_ERROR(VisitArchive(file, passphrase, [&](const ArchiveEntry& entry, const auto&) -> absl::Status {
    if (entry.kind == ArchiveEntryKind::kAbout) {
      const absl::StatusOr<About> about = ParseAbout(entry.text);
      if (!about.ok()) return Annotate(about.status(), file);
      report.backup.time_ms = about->time_ms;
      report.version = about->version;
      is_postgres = about->is_postgres;
      return Annotate(CheckKind(*about, state), file);
    }
    for (const char* name : kNeeded) needed += entry.path == name ? 1 : 0;
    const bool is_link = entry.kind == ArchiveEntryKind::kLink;
    if (entry.kind == ArchiveEntryKind::kFile || is_link) ++report.backup.files;
    report.backup.bytes += is_link ? 0 : entry.bytes;
    return absl::OkStatus();
  }));
  if (!is_postgres && needed != std::size(kNeeded))
    return absl::DataLossError(absl::StrCat(file, ": is not a backup of a server"));
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

absl::Status AddFile(const FrozenFile& frozen, ArchiveWriter& archive) {
  if (!frozen.same_as.empty()) return archive.AddLink(frozen.path, frozen.same_as);
  ASSIGN_OR_RETURN(const InputFile source, OpenInputFile(frozen.source));
  return archive.AddFile(frozen.path, frozen.mode, source, frozen.bytes);
}

absl::StatusOr<BackupReport> BackUpFolder(const std::string& folder, const std::string& file,
                                          std::string_view passphrase, const std::string& version) {
  ASSIGN_OR_RETURN(const FrozenState frozen, FrozenState::Of(folder));
  ASSIGN_OR_RETURN(const std::unique_ptr<ArchiveWriter> archive,
                   ArchiveWriter::Create(file, passphrase,
                                         FormatAbout({.time_ms = frozen.time_ms(), .version = version})));
  for (const FrozenFile& frozen_file : frozen.files()) RETURN_IF_ERROR(AddFile(frozen_file, *archive));
  RETURN_IF_ERROR(archive->Finish());
  return BackupReport{.files = archive->files(), .bytes = archive->bytes(), .time_ms = frozen.time_ms()};
}

// The database comes first, since the folder's keys may be needed by what it has, and not the other way
// round.
absl::StatusOr<BackupReport> BackUpWithDatabase(const ServerState& state, const std::string& file,
                                                std::string_view passphrase, const std::string& version) {
  // Before the moment that the rows are of: what is issued between the two counts as forgotten.
  const int64_t time_ms = SystemClock().WallMillis();
  ASSIGN_OR_RETURN(
      const std::unique_ptr<ArchiveWriter> archive,
      ArchiveWriter::Create(file, passphrase,
                            FormatAbout({.time_ms = time_ms, .version = version, .is_postgres = true})));
  ASSIGN_OR_RETURN(const int64_t rows, BackUpDatabase(*state.database, *archive));
  ASSIGN_OR_RETURN(const FrozenState frozen, FrozenState::Of(state.folder));
  for (const FrozenFile& frozen_file : frozen.files())
    if (!IsCached(frozen_file.path)) RETURN_IF_ERROR(AddFile(frozen_file, *archive));
  RETURN_IF_ERROR(archive->Finish());
  return BackupReport{.files = archive->files(), .bytes = archive->bytes(), .rows = rows, .time_ms = time_ms};
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

absl::StatusOr<BackupReport> BackUp(const ServerState& state, const std::string& file,
                                    std::string_view passphrase, const std::string& version) {
  RETURN_IF_ERROR(CheckPassphrase(passphrase));
  RETURN_IF_ERROR(CheckIsState(state));
  return state.database ? BackUpWithDatabase(state, file, passphrase, version)
                        : BackUpFolder(state.folder, file, passphrase, version);
}

absl::StatusOr<RestoreReport> Restore(const std::string& file, const ServerState& state,
                                      std::string_view passphrase) {
  RETURN_IF_ERROR(CheckIsFree(state.folder));
  if (state.database) RETURN_IF_ERROR(CheckDatabaseIsFree(*state.database));
  bool is_postgres = false;
  ASSIGN_OR_RETURN(RestoreReport report, Check(file, state, passphrase, is_postgres));
  Workplace workplace(state.folder);
  RETURN_IF_ERROR(workplace.Make());
  RETURN_IF_ERROR(Unpack(file, passphrase, workplace.path()));
  const int64_t backup_ms = report.backup.time_ms, now_ms = SystemClock().WallMillis();
  if (is_postgres) {
    ASSIGN_OR_RETURN(const RestoredRows restored,
                     RestoreDatabase(file, passphrase, *state.database, backup_ms, now_ms));
    report.epoch = restored.epoch;
    report.backup.rows = restored.rows;
  } else {
    ASSIGN_OR_RETURN(report.epoch, EndWhatMustNotCount(workplace.path(), backup_ms, now_ms));
    if (state.database) {
      ASSIGN_OR_RETURN(report.backup.rows, MoveToPostgres(workplace.path(), *state.database));
    }
  }
  RETURN_IF_ERROR(workplace.MoveTo(state.folder));
  return report;
}

}  // namespace attune
