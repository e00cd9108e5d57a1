// Files, folders and rows of a database as one stream of bytes in a sealed file.
#ifndef ATTUNE_PROCESS_BACKUP_ARCHIVE_H_
#define ATTUNE_PROCESS_BACKUP_ARCHIVE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/input_file.h"
#include "process/backup/sealed_file.h"

namespace attune {

// Archives have these numbers.
enum class ArchiveEntryKind : uint8_t { kAbout, kFile, kLink, kEnd, kRows };

struct ArchiveEntry {
  ArchiveEntryKind kind = ArchiveEntryKind::kEnd;
  std::string path = {};  // kFile, kLink: relative; below the folder (IsArchivePath)
  int64_t mode = 0600;    // permissions
  int64_t bytes = 0;      // of the content, which follows
  std::string text = {};  // kAbout: JSON about all; kLink: the path of the file that it is another name of
};

// Whether the path is relative, leads to nowhere but below its folder, and is not longer than 4 KiB.
bool IsArchivePath(std::string_view path);

// For one thread. Errors name the archive, or the file that cannot be read.
class ArchiveWriter {
 public:
  // `about`: a text for the user who restores it.
  static absl::StatusOr<std::unique_ptr<ArchiveWriter>> Create(const std::string& path,
                                                               std::string_view passphrase,
                                                               const std::string& about);
  // The first `bytes` bytes of the open file.
  absl::Status AddFile(const std::string& path, int64_t mode, const InputFile& file, int64_t bytes);
  absl::Status AddLink(const std::string& path, const std::string& target);
  // One part of a database's rows (base/sql/sql_copy.h).
  absl::Status AddRows(std::string_view part);
  absl::Status Finish();

  int64_t files() const { return files_; }  // with links
  int64_t bytes() const { return bytes_; }

 private:
  explicit ArchiveWriter(std::unique_ptr<SealedWriter> sealed) : sealed_(std::move(sealed)) {}
  absl::Status WriteEntry(const ArchiveEntry& entry);

  std::unique_ptr<SealedWriter> sealed_;
  int64_t entries_ = 0, files_ = 0, bytes_ = 0;
};

// Is told about each entry in order, and gets its content in pieces through `read`, which returns an empty
// one at the end; what it leaves is skipped.
using ArchiveVisitor = std::function<absl::Status(
    const ArchiveEntry& entry, const std::function<absl::StatusOr<std::string_view>()>& read)>;

// Reads the whole archive, and checks the digest of each file behind its content. Fails with the visitor's
// errors, and with DataLoss if the archive is not whole.
absl::Status VisitArchive(const std::string& path, std::string_view passphrase, const ArchiveVisitor& visit);

}  // namespace attune

#endif  // ATTUNE_PROCESS_BACKUP_ARCHIVE_H_
