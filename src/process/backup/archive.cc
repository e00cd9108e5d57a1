#include "process/backup/archive.h"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/process/message.h"
#include "base/sha256.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 20, kDigestBytes = 64, kMostPathBytes = 4096;
constexpr int64_t kMostEntryBytes = 1 << 16, kMostContentBytes = int64_t{1} << 50;
constexpr int64_t kPermissions = 0777;

bool HasContent(const ArchiveEntry& entry) {
  return entry.kind == ArchiveEntryKind::kFile || entry.kind == ArchiveEntryKind::kRows;
}

class EntryReader {
 public:
  explicit EntryReader(SealedReader& sealed) : sealed_(sealed) {}

  absl::StatusOr<std::string> Exactly(size_t bytes) {
    std::string text;
    while (text.size() < bytes) {
      ASSIGN_OR_RETURN(const std::string_view part, sealed_.Read(bytes - text.size()));
      if (part.empty()) return absl::DataLossError("ends in the middle");
      text.append(part);
    }
    return text;
  }

  absl::StatusOr<ArchiveEntry> Next() {
    ASSIGN_OR_RETURN(const std::string size_text, Exactly(sizeof(int64_t)));
    MessageReader size(size_text);
    const int64_t bytes = size.Int(0, kMostEntryBytes);
    RETURN_IF_ERROR(size.Finish());
    ASSIGN_OR_RETURN(const std::string text, Exactly(static_cast<size_t>(bytes)));
    MessageReader reader(text);
    ArchiveEntry entry;
    entry.kind = static_cast<ArchiveEntryKind>(reader.Int(0, static_cast<int64_t>(ArchiveEntryKind::kRows)));
    entry.path = reader.Bytes(kMostPathBytes);
    entry.mode = reader.Int(0, kPermissions);
    entry.bytes = reader.Int(0, kMostContentBytes);
    entry.text = reader.Bytes(static_cast<size_t>(kMostEntryBytes));
    RETURN_IF_ERROR(reader.Finish());
    const bool has_path = entry.kind == ArchiveEntryKind::kFile || entry.kind == ArchiveEntryKind::kLink;
    if (has_path && !IsArchivePath(entry.path)) return absl::DataLossError("has a path that leads elsewhere");
    if (entry.kind == ArchiveEntryKind::kLink && !IsArchivePath(entry.text))
      return absl::DataLossError("has a link that leads elsewhere");
    return entry;
  }

 private:
  SealedReader& sealed_;
};

absl::Status VisitEntry(SealedReader& sealed, const ArchiveEntry& entry, const ArchiveVisitor& visit) {
  Sha256 digest;
  int64_t left = HasContent(entry) ? entry.bytes : 0;
  const auto read = [&]() -> absl::StatusOr<std::string_view> {
    if (left == 0) return std::string_view();
    ASSIGN_OR_RETURN(const std::string_view part,
                     sealed.Read(static_cast<size_t>(std::min<int64_t>(left, kPieceBytes))));
    if (part.empty()) return absl::DataLossError("ends in the middle");
    left -= static_cast<int64_t>(part.size());
    digest.Add(part);
    return part;
  };
  RETURN_IF_ERROR(visit(entry, read));
  while (left > 0) RETURN_IF_ERROR(read().status());
  if (!HasContent(entry)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::string kept, EntryReader(sealed).Exactly(kDigestBytes));
  if (kept != digest.Finish()) return absl::DataLossError(absl::StrCat(entry.path, " has another digest"));
  return absl::OkStatus();
}

}  // namespace

bool IsArchivePath(std::string_view path) {
  if (path.empty() || path.size() > kMostPathBytes || path.find('\0') != std::string_view::npos) return false;
  const std::filesystem::path parsed(path);
  return parsed.is_relative() && std::ranges::none_of(parsed, [](const auto& part) {
           return part.empty() || part == ".." || part == ".";
         });
}

absl::StatusOr<std::unique_ptr<ArchiveWriter>> ArchiveWriter::Create(const std::string& path,
                                                                     std::string_view passphrase,
                                                                     const std::string& about) {
  ASSIGN_OR_RETURN(std::unique_ptr<SealedWriter> sealed, SealedWriter::Create(path, passphrase));
  std::unique_ptr<ArchiveWriter> writer(new ArchiveWriter(std::move(sealed)));
  RETURN_IF_ERROR(writer->WriteEntry({.kind = ArchiveEntryKind::kAbout, .text = about}));
  return writer;
}

absl::Status ArchiveWriter::WriteEntry(const ArchiveEntry& entry) {
  MessageWriter text, size;
  text.Int(static_cast<int64_t>(entry.kind));
  text.Bytes(entry.path);
  text.Int(entry.mode & kPermissions);
  text.Int(entry.bytes);
  text.Bytes(entry.text);
  size.Int(static_cast<int64_t>(text.text().size()));
  RETURN_IF_ERROR(sealed_->Write(size.text()));
  return sealed_->Write(text.text());
}

absl::Status ArchiveWriter::AddFile(const std::string& path, int64_t mode, const InputFile& file,
                                    int64_t bytes) {
  RETURN_IF_ERROR(WriteEntry({.kind = ArchiveEntryKind::kFile, .path = path, .mode = mode, .bytes = bytes}));
  Sha256 digest;
  std::string piece;
  for (int64_t offset = 0; offset < bytes; offset += static_cast<int64_t>(piece.size())) {
    piece.resize(static_cast<size_t>(std::min<int64_t>(bytes - offset, kPieceBytes)));
    RETURN_IF_ERROR(
        Annotate(ReadRange(file, offset, static_cast<int64_t>(piece.size()), piece.data()), path));
    digest.Add(piece);
    RETURN_IF_ERROR(sealed_->Write(piece));
  }
  ++entries_;
  ++files_;
  bytes_ += bytes;
  return sealed_->Write(digest.Finish());
}

absl::Status ArchiveWriter::AddLink(const std::string& path, const std::string& target) {
  ++entries_;
  ++files_;
  return WriteEntry({.kind = ArchiveEntryKind::kLink, .path = path, .text = target});
}

absl::Status ArchiveWriter::AddRows(std::string_view part) {
  const int64_t bytes = std::ssize(part);
  RETURN_IF_ERROR(WriteEntry({.kind = ArchiveEntryKind::kRows, .path = "the database", .bytes = bytes}));
  RETURN_IF_ERROR(sealed_->Write(part));
  ++entries_;
  bytes_ += bytes;
  return sealed_->Write(Sha256Hex(part));
}

absl::Status ArchiveWriter::Finish() {
  RETURN_IF_ERROR(WriteEntry({.kind = ArchiveEntryKind::kEnd, .bytes = entries_}));
  return sealed_->Finish();
}

absl::Status VisitArchive(const std::string& path, std::string_view passphrase, const ArchiveVisitor& visit) {
  ASSIGN_OR_RETURN(const std::unique_ptr<SealedReader> sealed, SealedReader::Open(path, passphrase));
  EntryReader reader(*sealed);
  for (int64_t entries = -1;; ++entries) {  // the first one is about all
    absl::StatusOr<ArchiveEntry> entry = reader.Next();
    if (!entry.ok()) return Annotate(entry.status(), path);
    if ((entry->kind == ArchiveEntryKind::kAbout) != (entries < 0))
      return absl::DataLossError(absl::StrCat(path, ": is not a whole backup"));
    if (entry->kind == ArchiveEntryKind::kEnd) {
      ASSIGN_OR_RETURN(const std::string_view more, sealed->Read(1));
      if (entry->bytes == entries && more.empty()) return absl::OkStatus();
      return absl::DataLossError(absl::StrCat(path, ": is not a whole backup"));
    }
    RETURN_IF_ERROR(VisitEntry(*sealed, *entry, visit));
  }
}

}  // namespace attune
