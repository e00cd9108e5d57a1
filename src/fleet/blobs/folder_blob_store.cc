#include "fleet/blobs/folder_blob_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "base/status.h"
#include "base/sync.h"
#include "measure/blob.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

constexpr size_t kOwnerDigits = 32;
constexpr mode_t kPrivate = 0600;
// The ending of an upload that is being checked. It is not written to any more.
constexpr char kChecked[] = ".checked";
// Eviction makes more room than is needed, so that it is rare.
constexpr double kKeptShare = 0.9;

absl::Status SystemError(const std::string& path, int error) {
  const std::string message = absl::StrCat(path, ": ", std::strerror(error));
  if (error == ENOSPC || error == EDQUOT)
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": cannot grow: the disk is full; free some space and try again"));
  return error == ENOENT ? absl::NotFoundError(message) : absl::UnavailableError(message);
}

// The size of a regular file; nothing if there is none.
std::optional<int64_t> SizeOf(const std::string& path) {
  struct stat facts = {};
  if (lstat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  return facts.st_size;
}

absl::StatusOr<std::string> DigestOf(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  if (file.get() < 0) return SystemError(path, errno);
  if (SizeOf(path).value_or(0) == 0) return Sha256Hex("");  // cannot be mapped
  ASSIGN_OR_RETURN(const MappedFile mapped, MappedFile::Map(file.get()));
  return Sha256Hex(mapped.text());
}

// Owners' names may be any text.
std::string OwnerPath(const std::string& folder, const std::string& owner) {
  return absl::StrCat(folder, "/owners/", Sha256Hex(owner).substr(0, kOwnerDigits));
}

// With what the names of an owner's uploads begin.
std::string PartialBegin(const std::string& owner) {
  return absl::StrCat(Sha256Hex(owner).substr(0, kOwnerDigits), "-");
}

// An orphan: no owner's link points to it.
bool IsUnowned(const fs::path& content) {
  std::error_code error;
  return fs::hard_link_count(content, error) == 1 && !error;
}

}  // namespace

absl::StatusOr<std::unique_ptr<BlobStore>> FolderBlobStore::Open(const std::string& folder,
                                                                 const BlobStoreOptions& options) {
  for (const char* part : {"", "/content", "/owners", "/partial"}) {
    const std::string path = folder + part;
    std::error_code error;
    fs::create_directories(path, error);
    if (!error) fs::permissions(path, fs::perms::owner_all, error);
    if (error) return SystemError(path, error.value());
  }
  std::unique_ptr<FolderBlobStore> store(new FolderBlobStore(folder, options));
  store->GoOnWithChecked();
  store->RemoveOldPartials();
  store->RemoveUnowned();
  return store;
}

absl::StatusOr<std::vector<std::string>> FolderBlobStore::DigestsOf(const std::string& folder,
                                                                    const std::string& owner) {
  std::vector<std::string> digests;
  std::error_code error;
  const std::string path = OwnerPath(folder, owner);
  if (!fs::exists(path, error)) return digests;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error))
    digests.push_back(entry.path().filename().string());
  if (error) return SystemError(path, error.value());
  std::ranges::sort(digests);
  return digests;
}

std::string FolderBlobStore::ContentPath(const std::string& digest) const {
  return absl::StrCat(folder_, "/content/", digest);
}

std::string FolderBlobStore::OwnPath(const std::string& owner, const std::string& digest) const {
  return absl::StrCat(OwnerPath(folder_, owner), "/", digest);
}

std::string FolderBlobStore::PartialPath(const std::string& owner, const std::string& digest) const {
  return absl::StrCat(folder_, "/partial/", PartialBegin(owner), digest);
}

FolderBlobStore::Partials FolderBlobStore::PartialsOf(const std::string& owner) const {
  const std::string begin = PartialBegin(owner);
  Partials partials;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ + "/partial", error)) {
    const std::string path = entry.path();
    if (!entry.path().filename().string().starts_with(begin)) continue;
    partials.bytes += SizeOf(path).value_or(0);
    ++partials.count;
  }
  return partials;
}

// A kill has ended their check.
void FolderBlobStore::GoOnWithChecked() {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ + "/partial", error)) {
    fs::path partial = entry.path();
    if (partial.extension() == kChecked) fs::rename(entry.path(), partial.replace_extension(), error);
  }
}

void FolderBlobStore::RemoveOldPartials() {
  std::error_code error;
  const auto now = fs::file_time_type::clock::now();
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ + "/partial", error)) {
    const auto rested = std::chrono::duration<double>(now - entry.last_write_time(error)).count();
    if (!error && rested > options_.partial_seconds) fs::remove(entry.path(), error);
  }
}

void FolderBlobStore::RemoveUnowned() {
  std::error_code error;
  bytes_ = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ + "/content", error)) {
    if (IsUnowned(entry.path())) {
      fs::remove(entry.path(), error);
    } else {
      bytes_ += SizeOf(entry.path()).value_or(0);
    }
  }
}

absl::StatusOr<int64_t> FolderBlobStore::Sent(const std::string& owner, const std::string& digest) {
  RETURN_IF_ERROR(CheckBlobDigest(digest));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto complete = SizeOf(OwnPath(owner, digest))) return *complete;
  const std::string partial = PartialPath(owner, digest);
  if (const auto checked = SizeOf(partial + kChecked)) return *checked;
  return SizeOf(partial).value_or(0);
}

absl::Status FolderBlobStore::Append(const std::string& owner, const std::string& digest, int64_t offset,
                                     std::string_view bytes) {
  RETURN_IF_ERROR(CheckBlobDigest(digest));
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string path = PartialPath(owner, digest);
  if (SizeOf(path + kChecked)) return BeingChecked(digest);
  const int64_t sent = SizeOf(path).value_or(0);
  if (offset != sent) {
    return absl::OutOfRangeError(absl::StrCat("blob ", digest, ": ", sent, " bytes were sent, so that byte ",
                                              offset, " is not the next one"));
  }
  if (std::ssize(bytes) > options_.most_blob_bytes - sent) {
    fs::remove(path);
    return absl::ResourceExhaustedError(
        absl::StrCat("blob ", digest, ": has more than ", options_.most_blob_bytes, " bytes"));
  }
  const Partials partials = PartialsOf(owner);
  if (std::ssize(bytes) > options_.most_partial_bytes - partials.bytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("blob ", digest, ": uploads that are not complete have more than ",
                     options_.most_partial_bytes, " bytes; finish or forget some"));
  }
  if (partials.count >= options_.most_partials && !SizeOf(path)) {
    return absl::ResourceExhaustedError(absl::StrCat("blob ", digest, ": ", options_.most_partials,
                                                     " uploads are not complete; finish or forget some"));
  }
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, kPrivate));
  if (file.get() < 0) return SystemError(path, errno);
  if (WriteAll(file, bytes)) return absl::OkStatus();
  const int error = errno;
  // Sent() must not count bytes that Append() has not acknowledged.
  if (ftruncate(file.get(), sent) != 0) fs::remove(path);
  return SystemError(path, error);
}

absl::Status FolderBlobStore::Finish(const std::string& owner, const std::string& digest) {
  RETURN_IF_ERROR(CheckBlobDigest(digest));
  const std::string partial = PartialPath(owner, digest), checked = partial + kChecked;
  std::error_code error;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::string own = OwnPath(owner, digest);
    if (SizeOf(own)) return Sync(fs::path(own).parent_path());  // this call comes twice
    if (SizeOf(checked)) return BeingChecked(digest);
    fs::rename(partial, checked, error);
    if (error) return absl::NotFoundError(absl::StrCat("blob ", digest, ": nothing was sent of it"));
  }
  // Reading and syncing take seconds for the largest blobs, and other calls proceed meanwhile.
  absl::StatusOr<std::string> found = DigestOf(checked);
  if (options_.is_lasting && found.ok() && *found == digest) {
    if (const absl::Status synced = SyncFile(checked); !synced.ok()) found = synced;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  const absl::Status kept = found.ok() && *found == digest ? Keep(owner, digest, checked) : found.status();
  if (!kept.ok()) fs::rename(checked, partial, error);  // another call may proceed
  RETURN_IF_ERROR(kept);
  if (*found == digest) return absl::OkStatus();
  fs::remove(checked, error);
  return absl::DataLossError(
      absl::StrCat("blob ", digest, ": the uploaded bytes have another digest, ", *found));
}

absl::Status FolderBlobStore::Keep(const std::string& owner, const std::string& digest,
                                   const std::string& checked) {
  const std::string content = ContentPath(digest), own = OwnPath(owner, digest);
  std::error_code error;
  RETURN_IF_ERROR(MakeFolderOf(own));
  if (!SizeOf(content)) {
    fs::rename(checked, content, error);
    if (error) return SystemError(content, error.value());
    bytes_ += SizeOf(content).value_or(0);
    RETURN_IF_ERROR(Sync(folder_ + "/content"));
  }
  RETURN_IF_ERROR(Link(content, own));
  fs::remove(checked, error);
  RemoveOldPartials();
  utimensat(AT_FDCWD, content.c_str(), nullptr, 0);
  if (bytes_ > options_.most_bytes) Evict(digest);
  return absl::OkStatus();
}

absl::Status FolderBlobStore::MakeFolderOf(const std::string& own) {
  const fs::path folder = fs::path(own).parent_path();
  std::error_code error;
  const bool is_new = fs::create_directories(folder, error);
  if (error) return SystemError(own, error.value());
  return is_new ? Sync(folder.parent_path()) : absl::OkStatus();
}

absl::Status FolderBlobStore::Link(const std::string& file, const std::string& own) {
  std::error_code error;
  fs::create_hard_link(file, own, error);
  return error ? SystemError(own, error.value()) : Sync(fs::path(own).parent_path());
}

absl::Status FolderBlobStore::Sync(const fs::path& folder) const {
  return options_.is_lasting ? SyncFolder(folder.string()) : absl::OkStatus();
}

void FolderBlobStore::Evict(const std::string& kept) {
  std::vector<std::pair<fs::file_time_type, fs::path>> by_use;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ + "/content", error)) {
    const fs::file_time_type used = entry.last_write_time(error);
    if (entry.path().filename() != kept) by_use.emplace_back(used, entry.path());
  }
  std::ranges::sort(by_use);
  const auto wanted = static_cast<int64_t>(kKeptShare * static_cast<double>(options_.most_bytes));
  for (const auto& [used, content] : by_use) {
    if (bytes_ <= wanted) return;
    const int64_t size = SizeOf(content).value_or(0);
    for (const fs::directory_entry& owner : fs::directory_iterator(folder_ + "/owners", error))
      fs::remove(owner.path() / content.filename(), error);
    if (fs::remove(content, error)) bytes_ -= size;
  }
}

bool FolderBlobStore::Has(const std::string& owner, const std::string& digest) {
  return Read(owner, digest).ok();
}

absl::StatusOr<std::pair<FileDescriptor, int64_t>> FolderBlobStore::Read(const std::string& owner,
                                                                         const std::string& digest) {
  RETURN_IF_ERROR(CheckBlobDigest(digest));
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string path = OwnPath(owner, digest);
  FileDescriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts = {};
  if (file.get() < 0 && errno != ENOENT && errno != ELOOP) return SystemError(path, errno);
  if (file.get() < 0 || fstat(file.get(), &facts) != 0)
    return absl::NotFoundError(absl::StrCat("blob ", digest, ": was not sent, or was evicted"));
  futimens(file.get(), nullptr);
  return std::pair(std::move(file), int64_t{facts.st_size});
}

absl::Status FolderBlobStore::Share(const std::string& from, const std::string& to,
                                    const std::string& digest) {
  RETURN_IF_ERROR(CheckBlobDigest(digest));
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string own = OwnPath(from, digest), other = OwnPath(to, digest);
  if (!SizeOf(own))
    return absl::NotFoundError(absl::StrCat("blob ", digest, ": was not sent, or was evicted"));
  if (SizeOf(other)) return Sync(fs::path(other).parent_path());
  RETURN_IF_ERROR(MakeFolderOf(other));
  return Link(own, other);
}

absl::Status FolderBlobStore::Forget(const std::string& owner, const std::string& digest) {
  RETURN_IF_ERROR(CheckBlobDigest(digest));
  const std::lock_guard<std::mutex> lock(mutex_);
  std::error_code error;
  fs::remove(PartialPath(owner, digest), error);
  Unlink(owner, digest);
  return absl::OkStatus();
}

absl::Status FolderBlobStore::ForgetAllBut(const std::string& owner, const std::set<std::string>& digests) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(const std::vector<std::string> complete, DigestsOf(folder_, owner));
  for (const std::string& digest : complete)
    if (!digests.contains(digest)) Unlink(owner, digest);
  std::error_code error;
  if (digests.empty()) fs::remove(OwnerPath(folder_, owner), error);
  const std::string begin = PartialBegin(owner);
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_ + "/partial", error)) {
    // One that is being checked goes as well: the check then finds nothing to keep.
    const std::string name = entry.path().stem().string();
    if (name.starts_with(begin) && !digests.contains(name.substr(begin.size())))
      fs::remove(entry.path(), error);
  }
  return absl::OkStatus();
}

void FolderBlobStore::Unlink(const std::string& owner, const std::string& digest) {
  std::error_code error;
  fs::remove(OwnPath(owner, digest), error);
  const std::string content = ContentPath(digest);
  const int64_t size = SizeOf(content).value_or(0);
  if (IsUnowned(content) && fs::remove(content, error)) bytes_ -= size;
}

int64_t FolderBlobStore::bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return bytes_;
}

}  // namespace attune
