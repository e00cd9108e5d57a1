#include "base/sqlite/sqlite_files.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr std::string_view kJournal = "-journal", kLog = "-wal", kIndex = "-shm";
constexpr int kRefused = SQLITE_CANTOPEN;

SqliteFiles* FilesOf(sqlite3_vfs* vfs) { return static_cast<SqliteFiles*>(vfs->pAppData); }

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteFiles>> SqliteFiles::Create(const std::string& base) {
  sqlite3_vfs* found = sqlite3_vfs_find(base.empty() ? nullptr : base.c_str());
  if (found == nullptr) return InternalError("SQLite has no VFS \"", base, "\"");
  return std::unique_ptr<SqliteFiles>(new SqliteFiles(found));
}

// The system's VFS finds its own data through the VFS pointer that is passed to it, so each call is passed
// on with `base_`.
SqliteFiles::SqliteFiles(sqlite3_vfs* base)
    : base_(base),
      vfs_(std::make_unique<sqlite3_vfs>()),
      name_(absl::StrCat("attune-", absl::Hex(reinterpret_cast<uintptr_t>(this)))) {
  vfs_->iVersion = 2;  // version 3 adds functions to replace system calls
  vfs_->szOsFile = base->szOsFile;
  vfs_->mxPathname = base->mxPathname;
  vfs_->zName = name_.c_str();
  vfs_->pAppData = this;
  vfs_->xOpen = &SqliteFiles::Open;
  vfs_->xDelete = &SqliteFiles::Delete;
  vfs_->xAccess = &SqliteFiles::Access;
  vfs_->xFullPathname = [](sqlite3_vfs* self, const char* name, int size, char* out) {
    return FilesOf(self)->base_->xFullPathname(FilesOf(self)->base_, name, size, out);
  };
  vfs_->xRandomness = [](sqlite3_vfs* self, int size, char* out) {
    return FilesOf(self)->base_->xRandomness(FilesOf(self)->base_, size, out);
  };
  vfs_->xSleep = [](sqlite3_vfs* self, int microseconds) {
    return FilesOf(self)->base_->xSleep(FilesOf(self)->base_, microseconds);
  };
  vfs_->xCurrentTime = [](sqlite3_vfs* self, double* time) {
    return FilesOf(self)->base_->xCurrentTime(FilesOf(self)->base_, time);
  };
  vfs_->xGetLastError = [](sqlite3_vfs* self, int size, char* out) {
    return FilesOf(self)->base_->xGetLastError(FilesOf(self)->base_, size, out);
  };
  vfs_->xCurrentTimeInt64 = [](sqlite3_vfs* self, sqlite3_int64* time) {
    return FilesOf(self)->base_->xCurrentTimeInt64(FilesOf(self)->base_, time);
  };
  sqlite3_vfs_register(vfs_.get(), /*makeDflt=*/0);
}

SqliteFiles::~SqliteFiles() { sqlite3_vfs_unregister(vfs_.get()); }

std::string SqliteFiles::TakeRefusal() { return std::exchange(refusal_, ""); }

int SqliteFiles::Open(sqlite3_vfs* self, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  SqliteFiles& files = *FilesOf(self);
  file->pMethods = nullptr;  // no file to close if this fails
  if ((flags & SQLITE_OPEN_MAIN_DB) != 0 && files.database_.empty()) files.database_ = name;
  // Temporary files have no name and are not opened again.
  if (name != nullptr && files.Refuses(name)) return kRefused;
  // Refused even if it is one of our own files: SQLite would delete it.
  if ((flags & SQLITE_OPEN_SUPER_JOURNAL) != 0) return kRefused;
  return files.base_->xOpen(files.base_, name, file, flags, out_flags);
}

int SqliteFiles::Delete(sqlite3_vfs* self, const char* name, int sync) {
  SqliteFiles& files = *FilesOf(self);
  if (name == files.database_ || files.Refuses(name)) return kRefused;
  return files.base_->xDelete(files.base_, name, sync);
}

int SqliteFiles::Access(sqlite3_vfs* self, const char* name, int flags, int* result) {
  SqliteFiles& files = *FilesOf(self);
  if (files.Refuses(name)) return kRefused;
  return files.base_->xAccess(files.base_, name, flags, result);
}

bool SqliteFiles::Refuses(std::string_view name) {
  // The system's VFS opens the index itself, together with the database or later.
  if (name == database_) return RefusesBeside(kJournal) || RefusesBeside(kLog) || RefusesBeside(kIndex);
  for (const std::string_view suffix : {kJournal, kLog}) {
    if (name == absl::StrCat(database_, suffix)) return RefusesBeside(suffix);
  }
  refusal_ =
      absl::StrCat("the journal ", database_, kJournal,
                   " names another file to delete, as none of Attune's does, and is not to be trusted");
  return true;
}

bool SqliteFiles::RefusesBeside(std::string_view suffix) {
  const std::string path = absl::StrCat(database_, suffix);
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return false;  // no such file, or opening it says what is wrong
  if (S_ISREG(info.st_mode) && info.st_nlink == 1) return false;
  refusal_ = absl::StrCat(path, " beside it is ",
                          S_ISREG(info.st_mode) ? "a hard link to another file" : "not a regular file");
  return true;
}

}  // namespace attune
