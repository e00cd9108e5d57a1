#include "fleet/blobs/sql_blob_store.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/output_file.h"
#include "base/sha256.h"
#include "base/state_file.h"
#include "base/status.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// A blob that has an owner and is not complete is an upload.
constexpr const char* kUp1[] = {
    "CREATE TABLE blobs (id INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT NOT NULL, bytes INTEGER NOT NULL, "
    "is_complete INTEGER NOT NULL, touched_ms INTEGER NOT NULL) STRICT",
    "CREATE INDEX blobs_by_digest ON blobs (digest, is_complete)",
    "CREATE TABLE blob_owners (owner TEXT NOT NULL, digest TEXT NOT NULL, blob INTEGER NOT NULL, PRIMARY KEY "
    "(owner, digest)) STRICT",
    "CREATE INDEX blob_owners_by_blob ON blob_owners (blob)",
    "CREATE TABLE blob_pieces (blob INTEGER NOT NULL, start INTEGER NOT NULL, content BLOB NOT NULL, PRIMARY "
    "KEY "
    "(blob, start)) STRICT",
};
constexpr const char* kDown1[] = {"DROP TABLE blobs", "DROP TABLE blob_owners", "DROP TABLE blob_pieces"};
constexpr SqlMigration kMigrations[] = {{.up = kUp1, .down = kDown1}};

constexpr size_t kMostPieceBytes = size_t{1} << 20;

struct Piece {
  int64_t start = 0;
  std::string content;
};

absl::StatusOr<Piece> ReadPieceRow(const SqlRow& row) {
  return Piece{.start = row.Integer(0), .content = row.Bytes(1)};
}

absl::StatusOr<std::string> ReadDigest(const SqlRow& row) { return row.Text(0); }

absl::Status WasNotSent(const std::string& digest) {
  return absl::NotFoundError(absl::StrCat("blob ", digest, ": was not sent, or was forgotten"));
}

absl::Status ForgetUnowned(SqlSession& session, int64_t blob) {
  ASSIGN_OR_RETURN(const int64_t owners,
                   ReadInteger(session, "SELECT count(*) FROM blob_owners WHERE blob = ?", blob));
  if (owners > 0) return absl::OkStatus();
  RETURN_IF_ERROR(Execute(session, "DELETE FROM blob_pieces WHERE blob = ?", blob));
  return Execute(session, "DELETE FROM blobs WHERE id = ?", blob);
}

absl::Status WritePieces(SqlSession& session, int64_t blob, int64_t offset, std::string_view bytes) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMostPieceBytes))) {
    const std::string_view piece = bytes.substr(0, kMostPieceBytes);
    RETURN_IF_ERROR(Execute(session, "INSERT INTO blob_pieces VALUES (?, ?, ?)", blob, offset,
                            SqlBytes{.bytes = std::string(piece)}));
    offset += std::ssize(piece);
  }
  return absl::OkStatus();
}

}  // namespace

const SqlSchema& BlobSchema() {
  static constexpr SqlSchema kSchema = {.store = "blobs",
                                        .file = "blobs.db",
                                        .application_id = 0x4174426C,  // "AtBl"
                                        .migrations = kMigrations,
                                        .words = {.what = "database of blobs", .flag = "--state"}};
  return kSchema;
}

absl::StatusOr<std::unique_ptr<BlobStore>> SqlBlobStore::Open(const SqlLocation& location, std::string space,
                                                              const std::string& cache,
                                                              const BlobStoreOptions& options) {
  RETURN_IF_ERROR(MakeStateFolder(cache));
  ASSIGN_OR_RETURN(auto database, location.Open(BlobSchema()));
  std::unique_ptr<SqlBlobStore> store(
      new SqlBlobStore(std::move(database), std::move(space), cache, options));
  RETURN_IF_ERROR(store->ForgetOldPartials());
  return store;
}

absl::StatusOr<std::unique_ptr<BlobStore>> OpenLastingBlobs(const SqlLocation& location,
                                                            const std::string& space,
                                                            const std::string& folder,
                                                            BlobStoreOptions options) {
  if (location.is_postgres()) return SqlBlobStore::Open(location, space, folder, options);
  options.most_bytes = INT64_MAX;
  options.is_lasting = true;
  return BlobStore::Open(folder, options);
}

absl::StatusOr<SqlBlobStore::Row> SqlBlobStore::ReadRowOf(const SqlRow& row) {
  return Row{.blob = row.Integer(0), .bytes = row.Integer(1), .is_complete = row.Integer(2) != 0};
}

absl::StatusOr<std::optional<SqlBlobStore::Row>> SqlBlobStore::Find(SqlSession& session,
                                                                    const std::string& owner,
                                                                    const std::string& digest) {
  return ReadRow(session, &SqlBlobStore::ReadRowOf,
                 "SELECT blobs.id, blobs.bytes, blobs.is_complete FROM blob_owners JOIN blobs ON blobs.id = "
                 "blob_owners.blob WHERE blob_owners.owner = ? AND blob_owners.digest = ?",
                 owner, digest);
}

absl::StatusOr<int64_t> SqlBlobStore::Sent(const std::string& owner, const std::string& digest) {
  RETURN_IF_ERROR(CheckBlobDigest(digest));
  ASSIGN_OR_RETURN(const std::optional<Row> row,
                   database_->Read([&](SqlSession& session) { return Find(session, KeyOf(owner), digest); }));
  return row ? row->bytes : 0;
}

absl::Status SqlBlobStore::Append(const std::string& owner, const std::string& digest, int64_t offset,
                                  std::string_view bytes) {
  RETURN_IF_ERROR(CheckBlobDigest(digest));
  const std::string key = KeyOf(owner);
  const int64_t now_ms = SystemClock().WallMillis();
  return database_->Write([&](SqlSession& session) -> absl::Status {
    ASSIGN_OR_RETURN(std::optional<Row> row, Find(session, key, digest));
    const int64_t sent = row ? row->bytes : 0;
    if (offset != sent || (row && row->is_complete))
      return absl::OutOfRangeError(absl::StrCat(
          "blob ", digest, ": ", sent, " bytes were sent, so that byte ", offset, " is not the next one"));
    if (std::ssize(bytes) > options_.most_blob_bytes - sent) {
      return absl::ResourceExhaustedError(
          absl::StrCat("blob ", digest, ": has more than ", options_.most_blob_bytes, " bytes"));
    }
    ASSIGN_OR_RETURN(const int64_t partial,
                     ReadInteger(session,
                                 "SELECT sum(blobs.bytes) FROM blob_owners JOIN blobs ON blobs.id = "
                                 "blob_owners.blob WHERE blob_owners.owner = ? AND blobs.is_complete = 0",
                                 key));
    if (std::ssize(bytes) > options_.most_partial_bytes - partial)
      return absl::ResourceExhaustedError(
          absl::StrCat("blob ", digest, ": uploads that are not complete have more than ",
                       options_.most_partial_bytes, " bytes; finish or forget some"));
    if (!row) {
      ASSIGN_OR_RETURN(const int64_t count,
                       ReadInteger(session,
                                   "SELECT count(*) FROM blob_owners JOIN blobs ON blobs.id = "
                                   "blob_owners.blob WHERE blob_owners.owner = ? AND blobs.is_complete = 0",
                                   key));
      if (count >= options_.most_partials)
        return absl::ResourceExhaustedError(absl::StrCat("blob ", digest, ": ", options_.most_partials,
                                                         " uploads are not complete; finish or forget some"));
      ASSIGN_OR_RETURN(const int64_t made,
                       ReadInteger(session,
                                   "INSERT INTO blobs (digest, bytes, is_complete, touched_ms) VALUES (?, "
                                   "0, 0, ?) RETURNING id",
                                   digest, now_ms));
      row = Row{.blob = made};
      RETURN_IF_ERROR(Execute(session, "INSERT INTO blob_owners VALUES (?, ?, ?)", key, digest, row->blob));
    }
    RETURN_IF_ERROR(WritePieces(session, row->blob, offset, bytes));
    return Execute(session, "UPDATE blobs SET bytes = ?, touched_ms = ? WHERE id = ?",
                   sent + std::ssize(bytes), now_ms, row->blob);
  });
}

absl::Status SqlBlobStore::Finish(const std::string& owner, const std::string& digest) {
  RETURN_IF_ERROR(CheckBlobDigest(digest));
  const std::string key = KeyOf(owner);
  ASSIGN_OR_RETURN(const std::optional<Row> row,
                   database_->Read([&](SqlSession& session) { return Find(session, key, digest); }));
  if (!row) return absl::NotFoundError(absl::StrCat("blob ", digest, ": nothing was sent of it"));
  if (row->is_complete) return absl::OkStatus();  // this call comes twice
  // Other calls proceed meanwhile.
  Sha256 hash;
  RETURN_IF_ERROR(ReadPieces(row->blob, [&](const std::string& piece) {
    hash.Add(piece);
    return absl::OkStatus();
  }));
  if (const std::string found = hash.Finish(); found != digest) {
    RETURN_IF_ERROR(Forget(owner, digest));
    return absl::DataLossError(
        absl::StrCat("blob ", digest, ": the uploaded bytes have another digest, ", found));
  }
  const absl::Status kept = database_->Write([&](SqlSession& session) -> absl::Status {
    ASSIGN_OR_RETURN(const std::optional<Row> now, Find(session, key, digest));
    if (!now || now->blob != row->blob || now->bytes != row->bytes)
      return absl::UnavailableError(absl::StrCat("blob ", digest, ": was changed meanwhile; try again"));
    ASSIGN_OR_RETURN(
        const int64_t same,
        ReadInteger(session, "SELECT id FROM blobs WHERE digest = ? AND is_complete = 1", digest));
    if (same == 0 || same == row->blob)
      return Execute(session, "UPDATE blobs SET is_complete = 1 WHERE id = ?", row->blob);
    RETURN_IF_ERROR(Execute(session, "UPDATE blob_owners SET blob = ? WHERE owner = ? AND digest = ?", same,
                            key, digest));
    return ForgetUnowned(session, row->blob);
  });
  RETURN_IF_ERROR(kept);
  return ForgetOldPartials();
}

bool SqlBlobStore::Has(const std::string& owner, const std::string& digest) {
  const auto row = database_->Read([&](SqlSession& session) { return Find(session, KeyOf(owner), digest); });
  return row.ok() && *row && (*row)->is_complete;
}

absl::StatusOr<std::pair<FileDescriptor, int64_t>> SqlBlobStore::Read(const std::string& owner,
                                                                      const std::string& digest) {
  RETURN_IF_ERROR(CheckBlobDigest(digest));
  ASSIGN_OR_RETURN(const std::optional<Row> row,
                   database_->Read([&](SqlSession& session) { return Find(session, KeyOf(owner), digest); }));
  if (!row || !row->is_complete) return WasNotSent(digest);
  const std::string path = absl::StrCat(cache_, "/", digest);
  const std::lock_guard<std::mutex> lock(cache_mutex_);
  for (bool is_fetched = false;; is_fetched = true) {
    FileDescriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    struct stat facts = {};
    if (file.get() >= 0 && fstat(file.get(), &facts) == 0 && facts.st_size == row->bytes) {
      futimens(file.get(), nullptr);
      return std::pair(std::move(file), row->bytes);
    }
    if (is_fetched) return absl::UnavailableError(absl::StrCat(path, ": ", std::strerror(errno)));
    RETURN_IF_ERROR(Fetch(*row, digest));
  }
}

absl::Status SqlBlobStore::Fetch(const Row& row, const std::string& digest) {
  const std::string path = absl::StrCat(cache_, "/", digest), part = path + ".part";
  std::error_code error;
  constexpr mode_t kPrivate = 0600;
  Sha256 hash;
  {
    const FileDescriptor file(
        open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, kPrivate));
    if (file.get() < 0) return absl::UnavailableError(absl::StrCat(part, ": ", std::strerror(errno)));
    const absl::Status written = ReadPieces(row.blob, [&](const std::string& piece) -> absl::Status {
      hash.Add(piece);
      if (WriteAll(file, piece)) return absl::OkStatus();
      return absl::ResourceExhaustedError(absl::StrCat(part, ": ", std::strerror(errno)));
    });
    if (!written.ok()) {
      fs::remove(part, error);
      return written;
    }
  }
  if (hash.Finish() != digest) {
    fs::remove(part, error);
    return absl::DataLossError(absl::StrCat(database_->name(), ": blob ", digest, " is damaged"));
  }
  fs::rename(part, path, error);
  if (error) return absl::UnavailableError(absl::StrCat(path, ": ", error.message()));
  TrimCache(path);
  return absl::OkStatus();
}

void SqlBlobStore::TrimCache(const std::string& kept) {
  std::vector<std::pair<fs::file_time_type, fs::path>> by_use;
  std::error_code error;
  int64_t bytes = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(cache_, error)) {
    bytes += static_cast<int64_t>(entry.file_size(error));
    if (entry.path() != kept) by_use.emplace_back(entry.last_write_time(error), entry.path());
  }
  std::ranges::sort(by_use);
  for (const auto& [used, path] : by_use) {
    if (bytes <= options_.most_bytes) return;
    bytes -= static_cast<int64_t>(fs::file_size(path, error));
    fs::remove(path, error);
  }
}

template <typename Take>
absl::Status SqlBlobStore::ReadPieces(int64_t blob, const Take& take) {
  for (int64_t next = 0;;) {
    ASSIGN_OR_RETURN(
        const std::optional<Piece> piece,
        ReadRow(*database_, ReadPieceRow,
                "SELECT start, content FROM blob_pieces WHERE blob = ? AND start = ?", blob, next));
    if (!piece || piece->content.empty()) return absl::OkStatus();
    RETURN_IF_ERROR(take(piece->content));
    next = piece->start + std::ssize(piece->content);
  }
}

absl::Status SqlBlobStore::Share(const std::string& from, const std::string& to, const std::string& digest) {
  return ShareKeys(KeyOf(from), KeyOf(to), digest);
}

absl::Status SqlBlobStore::ShareKeys(const std::string& from, const std::string& to,
                                     const std::string& digest) {
  RETURN_IF_ERROR(CheckBlobDigest(digest));
  return database_->Write([&](SqlSession& session) -> absl::Status {
    ASSIGN_OR_RETURN(const std::optional<Row> row, Find(session, from, digest));
    if (!row || !row->is_complete) return WasNotSent(digest);
    return Execute(session, "INSERT INTO blob_owners VALUES (?, ?, ?) ON CONFLICT DO NOTHING", to, digest,
                   row->blob);
  });
}

absl::Status SqlBlobStore::Take(BlobStore& from, const std::string& from_owner, const std::string& owner,
                                const std::string& digest) {
  const auto* other = dynamic_cast<SqlBlobStore*>(&from);
  if (other == nullptr || other->database_->name() != database_->name())
    return BlobStore::Take(from, from_owner, owner, digest);
  if (Has(owner, digest)) return absl::OkStatus();
  return ShareKeys(other->KeyOf(from_owner), KeyOf(owner), digest);
}

absl::Status SqlBlobStore::ForgetOwner(SqlSession& session, const std::string& owner,
                                       const std::string& digest) {
  ASSIGN_OR_RETURN(const std::optional<Row> row, Find(session, owner, digest));
  if (!row) return absl::OkStatus();
  RETURN_IF_ERROR(Execute(session, "DELETE FROM blob_owners WHERE owner = ? AND digest = ?", owner, digest));
  return ForgetUnowned(session, row->blob);
}

absl::Status SqlBlobStore::Forget(const std::string& owner, const std::string& digest) {
  RETURN_IF_ERROR(CheckBlobDigest(digest));
  return database_->Write([&](SqlSession& session) { return ForgetOwner(session, KeyOf(owner), digest); });
}

absl::Status SqlBlobStore::ForgetAllBut(const std::string& owner, const std::set<std::string>& digests) {
  const std::string key = KeyOf(owner);
  ASSIGN_OR_RETURN(std::vector<std::string> others,
                   ReadRows(*database_, ReadDigest, "SELECT digest FROM blob_owners WHERE owner = ?", key));
  std::erase_if(others, [&](const std::string& digest) { return digests.contains(digest); });
  if (others.empty()) return absl::OkStatus();  // which spares a transaction at the end of most stages
  return database_->Write([&](SqlSession& session) -> absl::Status {
    for (const std::string& digest : others) RETURN_IF_ERROR(ForgetOwner(session, key, digest));
    return absl::OkStatus();
  });
}

absl::Status SqlBlobStore::ForgetOldPartials() {
  const auto oldest_ms = SystemClock().WallMillis() - static_cast<int64_t>(1000 * options_.partial_seconds);
  return database_->Write([&](SqlSession& session) -> absl::Status {
    constexpr std::string_view kOld = "(SELECT id FROM blobs WHERE is_complete = 0 AND touched_ms < ?)";
    for (const std::string_view rows :
         {"blob_pieces WHERE blob IN ", "blob_owners WHERE blob IN ", "blobs WHERE id IN "})
      RETURN_IF_ERROR(Execute(session, absl::StrCat("DELETE FROM ", rows, kOld), oldest_ms));
    return absl::OkStatus();
  });
}

int64_t SqlBlobStore::bytes() const {
  return database_
      ->Read([](SqlSession& session) {
        return ReadInteger(session, "SELECT sum(bytes) FROM blobs WHERE is_complete = 1");
      })
      .value_or(0);
}

}  // namespace attune
