// Blobs in a database, so that several servers have the same ones.
//
// Problem: servers that share a database share no disk, and what one has taken must outlive it. Idea: a blob
// is rows of pieces, and its owners are rows that point to it, so that it is there once, however many owners
// it has. It is read by way of a file among those of this server, which is named by the digest and so is
// never out of date. Price: the database is as large as all blobs, and each server reads a blob once from it.
#ifndef ATTUNE_FLEET_BLOBS_SQL_BLOB_STORE_H_
#define ATTUNE_FLEET_BLOBS_SQL_BLOB_STORE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/sql/sql_database.h"
#include "fleet/blobs/blob_store.h"

namespace attune {

const SqlSchema& BlobSchema();

// Blobs that go when they are unused, and never because others need the room: in the database if it is
// PostgreSQL, and else in the folder.
absl::StatusOr<std::unique_ptr<BlobStore>> OpenLastingBlobs(const SqlLocation& location,
                                                            const std::string& space,
                                                            const std::string& folder,
                                                            BlobStoreOptions options);

class SqlBlobStore final : public BlobStore {
 public:
  // `space`: owners of another space are others, but their blobs are kept once with those of this one.
  // `cache`: the folder of files that this process reads blobs by. There is no eviction from the database
  // (most_bytes is that of the folder).
  static absl::StatusOr<std::unique_ptr<BlobStore>> Open(const SqlLocation& location, std::string space,
                                                         const std::string& cache,
                                                         const BlobStoreOptions& options);

  absl::StatusOr<int64_t> Sent(const std::string& owner, const std::string& digest) override;
  absl::Status Append(const std::string& owner, const std::string& digest, int64_t offset,
                      std::string_view bytes) override;
  absl::Status Finish(const std::string& owner, const std::string& digest) override;
  bool Has(const std::string& owner, const std::string& digest) override;
  absl::StatusOr<std::pair<FileDescriptor, int64_t>> Read(const std::string& owner,
                                                          const std::string& digest) override;
  absl::Status Share(const std::string& from, const std::string& to, const std::string& digest) override;
  absl::Status Take(BlobStore& from, const std::string& from_owner, const std::string& owner,
                    const std::string& digest) override;
  absl::Status Forget(const std::string& owner, const std::string& digest) override;
  absl::Status ForgetAllBut(const std::string& owner, const std::set<std::string>& digests) override;
  int64_t bytes() const override;

 private:
  SqlBlobStore(std::unique_ptr<SqlDatabase> database, std::string space, std::string cache,
               const BlobStoreOptions& options)
      : database_(std::move(database)),
        space_(std::move(space)),
        cache_(std::move(cache)),
        options_(options) {}

  std::string KeyOf(const std::string& owner) const { return space_ + "/" + owner; }
  // The owner's blob as its row tells, if there is one.
  struct Row {
    int64_t blob = 0, bytes = 0;
    bool is_complete = false;
  };
  static absl::StatusOr<Row> ReadRowOf(const SqlRow& row);
  static absl::StatusOr<std::optional<Row>> Find(SqlSession& session, const std::string& owner,
                                                 const std::string& digest);
  static absl::Status ForgetOwner(SqlSession& session, const std::string& owner, const std::string& digest);
  absl::Status ForgetOldPartials();
  absl::Status ShareKeys(const std::string& from, const std::string& to, const std::string& digest);
  // Calls `take` with each piece of the blob in their order.
  template <typename Take>
  absl::Status ReadPieces(int64_t blob, const Take& take);
  // Writes the blob's content into the cache.
  absl::Status Fetch(const Row& row, const std::string& digest);
  void TrimCache(const std::string& kept);

  const std::unique_ptr<SqlDatabase> database_;
  const std::string space_, cache_;
  const BlobStoreOptions options_;
  std::mutex cache_mutex_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_BLOBS_SQL_BLOB_STORE_H_
