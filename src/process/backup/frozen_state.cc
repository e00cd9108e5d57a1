#include "process/backup/frozen_state.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/input_file.h"
#include "base/sqlite/sqlite.h"
#include "base/state_file.h"
#include "base/status.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// The name of folders that hold files during a backup; the next backup removes one that a killed backup has
// left.
constexpr std::string_view kStaging = ".backup-";
constexpr std::string_view kDatabaseMagic("SQLite format 3\0", 16), kDatabaseEnding = ".db";
constexpr std::chrono::milliseconds kPatience(20000);
constexpr int64_t kPermissions = 0777;
// The kernels and the data of measurements on the fleet's server: a client that needs a missing blob sends or
// builds it again, as after an eviction. It may be most of a state.
constexpr std::string_view kSentAgain = "blobs";

// The files that SQLite and locks keep beside a database, and make again.
bool IsBesideDatabase(const std::string& name) {
  return std::ranges::any_of(std::array{"-wal", "-shm", "-journal", "-runs"},
                             [&](const char* suffix) { return absl::EndsWith(name, suffix); });
}

// A blob, whose name has no such ending, may be a database that is not open.
bool IsDatabase(const std::string& path) {
  if (!absl::EndsWith(path, kDatabaseEnding)) return false;
  const absl::StatusOr<std::string> head = ReadFileHead(path, static_cast<int64_t>(kDatabaseMagic.size()));
  return head.ok() && *head == kDatabaseMagic;
}

absl::Status SystemError(const std::string& path, const std::error_code& error) {
  return absl::FailedPreconditionError(absl::StrCat(path, ": ", error.message()));
}

// The regular files below the folder, and those that are databases, relative to it.
struct Listing {
  std::vector<std::string> files, databases;
};

absl::StatusOr<Listing> List(const std::string& folder) {
  Listing listing;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    const std::string name = it->path().filename().string();
    std::error_code gone;  // it was removed meanwhile
    const fs::file_status status = it->symlink_status(gone);
    const bool is_left_out = absl::StartsWith(name, kStaging) || (it.depth() == 0 && name == kSentAgain);
    if (fs::is_directory(status) && is_left_out) it.disable_recursion_pending();
    if (!fs::is_regular_file(status) || IsBesideDatabase(name)) continue;
    std::string path = it->path().lexically_relative(folder).string();
    (IsDatabase(it->path().string()) ? listing.databases : listing.files).push_back(std::move(path));
  }
  if (error) return SystemError(folder, error);
  std::ranges::sort(listing.files);
  std::ranges::sort(listing.databases);
  return listing;
}

// Gives files names in the staging folder.
class Linker {
 public:
  Linker(const std::string& folder, const std::string& staging, std::vector<FrozenFile>& files)
      : folder_(folder), staging_(staging), files_(files) {}

  // Databases that have none yet. One that is gone already is left out.
  absl::Status Add(const std::vector<std::string>& paths) {
    for (const std::string& path : paths)
      if (known_.insert(path).second) RETURN_IF_ERROR(AddOne(path));
    return absl::OkStatus();
  }

 private:
  absl::Status AddOne(const std::string& path) {
    const std::string from = absl::StrCat(folder_, "/", path);
    const std::string to = absl::StrCat(staging_, "/", files_.size());
    std::error_code error;
    fs::create_hard_link(from, to, error);
    if (error == std::errc::no_such_file_or_directory) return absl::OkStatus();
    if (error) return SystemError(from, error);
    struct stat facts = {};
    if (lstat(to.c_str(), &facts) != 0) return SystemError(to, {errno, std::system_category()});
    const auto [first, is_first] = first_.emplace(std::pair(facts.st_dev, facts.st_ino), path);
    files_.push_back({.path = path,
                      .source = to,
                      .mode = static_cast<int64_t>(facts.st_mode) & kPermissions,
                      .bytes = facts.st_size,
                      .same_as = is_first ? "" : first->second});
    return absl::OkStatus();
  }

  const std::string folder_, staging_;
  std::vector<FrozenFile>& files_;
  std::set<std::string> known_;
  std::map<std::pair<dev_t, ino_t>, std::string> first_;  // the path of each content
};

// One database, to which no other process may write until Release(), and which is read as it was at that
// moment.
class FrozenDatabase {
 public:
  static absl::StatusOr<FrozenDatabase> Of(const std::string& path) {
    FrozenDatabase frozen;
    const SqliteOptions options = {.access = DatabaseAccess::kWrite, .patience = kPatience};
    ASSIGN_OR_RETURN(frozen.writer_, SqliteConnection::Open(path, options));
    ASSIGN_OR_RETURN(frozen.reader_, SqliteConnection::Open(path, options));
    RETURN_IF_ERROR(frozen.writer_->Execute("BEGIN IMMEDIATE"));
    RETURN_IF_ERROR(frozen.reader_->Execute("BEGIN"));
    // The first read decides what the transaction sees.
    RETURN_IF_ERROR(frozen.reader_->Integer("SELECT count(*) FROM sqlite_schema").status());
    return frozen;
  }
  absl::Status Release() { return writer_->Execute("ROLLBACK"); }
  absl::Status CopyTo(const std::string& path) { return reader_->CopyTo(path); }

 private:
  std::unique_ptr<SqliteConnection> writer_, reader_;
};

absl::StatusOr<FrozenFile> Copy(const std::string& folder, const std::string& path, const std::string& to,
                                FrozenDatabase& database) {
  struct stat facts = {};
  if (stat(absl::StrCat(folder, "/", path).c_str(), &facts) != 0)
    return SystemError(path, {errno, std::system_category()});
  RETURN_IF_ERROR(database.CopyTo(to));
  ASSIGN_OR_RETURN(const InputFile copy, OpenInputFile(to));
  return FrozenFile{.path = path,
                    .source = to,
                    .mode = static_cast<int64_t>(facts.st_mode) & kPermissions,
                    .bytes = copy.bytes};
}

absl::Status RemoveStagings(const std::string& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (!absl::StartsWith(entry.path().filename().string(), kStaging)) continue;
    fs::remove_all(entry.path(), error);
    if (error) break;
  }
  return error ? SystemError(folder, error) : absl::OkStatus();
}

}  // namespace

absl::StatusOr<FrozenState> FrozenState::Of(const std::string& folder) {
  FrozenState state;
  RETURN_IF_ERROR(RemoveStagings(folder));
  state.staging_ = absl::StrCat(folder, "/", kStaging, "files");
  RETURN_IF_ERROR(MakeStateFolder(state.staging_));
  ASSIGN_OR_RETURN(const Listing listing, List(folder));
  std::vector<FrozenDatabase> databases;
  for (const std::string& path : listing.databases) {
    ASSIGN_OR_RETURN(FrozenDatabase database, FrozenDatabase::Of(absl::StrCat(folder, "/", path)));
    databases.push_back(std::move(database));
  }
  state.time_ms_ = SystemClock().WallMillis();
  // Again, since it took time to stop the writers, who may have added files before; and once more, since an
  // upload that becomes complete gets another name.
  Linker linker(folder, state.staging_, state.files_);
  for (int pass = 0; pass < 2; ++pass) {
    ASSIGN_OR_RETURN(const Listing now, List(folder));
    if (now.databases != listing.databases)
      return absl::UnavailableError(absl::StrCat(folder, ": a database was added meanwhile; try again"));
    RETURN_IF_ERROR(linker.Add(now.files));
  }
  for (FrozenDatabase& database : databases) RETURN_IF_ERROR(database.Release());
  for (size_t i = 0; i < databases.size(); ++i) {
    const std::string to = absl::StrCat(state.staging_, "/database-", i);
    ASSIGN_OR_RETURN(FrozenFile copied, Copy(folder, listing.databases[i], to, databases[i]));
    state.files_.push_back(std::move(copied));
  }
  return state;
}

FrozenState::FrozenState(FrozenState&& other) noexcept
    : staging_(std::exchange(other.staging_, "")),
      files_(std::move(other.files_)),
      time_ms_(other.time_ms_) {}

FrozenState::~FrozenState() {
  std::error_code ignored;  // the next backup removes it
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
}

}  // namespace attune
