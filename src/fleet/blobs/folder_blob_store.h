// Blobs in a folder, with a hard link for each owner.
#ifndef ATTUNE_FLEET_BLOBS_FOLDER_BLOB_STORE_H_
#define ATTUNE_FLEET_BLOBS_FOLDER_BLOB_STORE_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fleet/blobs/blob_store.h"

namespace attune {

class FolderBlobStore final : public BlobStore {
 public:
  static absl::StatusOr<std::unique_ptr<BlobStore>> Open(const std::string& folder,
                                                         const BlobStoreOptions& options);
  // The digests of the owner's complete blobs in a folder.
  static absl::StatusOr<std::vector<std::string>> DigestsOf(const std::string& folder,
                                                            const std::string& owner);

  absl::StatusOr<int64_t> Sent(const std::string& owner, const std::string& digest) override;
  absl::Status Append(const std::string& owner, const std::string& digest, int64_t offset,
                      std::string_view bytes) override;
  absl::Status Finish(const std::string& owner, const std::string& digest) override;
  bool Has(const std::string& owner, const std::string& digest) override;
  absl::StatusOr<std::pair<FileDescriptor, int64_t>> Read(const std::string& owner,
                                                          const std::string& digest) override;
  absl::Status Share(const std::string& from, const std::string& to, const std::string& digest) override;
  absl::Status Forget(const std::string& owner, const std::string& digest) override;
  absl::Status ForgetAllBut(const std::string& owner, const std::set<std::string>& digests) override;
  int64_t bytes() const override;

 private:
  FolderBlobStore(std::string folder, const BlobStoreOptions& options)
      : folder_(std::move(folder)), options_(options) {}

  std::string ContentPath(const std::string& digest) const;
  std::string OwnPath(const std::string& owner, const std::string& digest) const;
  std::string PartialPath(const std::string& owner, const std::string& digest) const;
  absl::Status Keep(const std::string& owner, const std::string& digest, const std::string& checked);
  // Makes the folder for the owner's link.
  absl::Status MakeFolderOf(const std::string& own);
  // Gives the owner this link to a blob's file.
  absl::Status Link(const std::string& file, const std::string& own);
  // Takes it away, and the file with it if no other owner has it.
  void Unlink(const std::string& owner, const std::string& digest);
  // Before anybody learns of what was changed there, if blobs are to last.
  absl::Status Sync(const std::filesystem::path& folder) const;
  // The owner's uploads that are not complete.
  struct Partials {
    int64_t count = 0, bytes = 0;
  };
  Partials PartialsOf(const std::string& owner) const;
  // Removes the least recently used blobs until there is room, but not `kept`.
  void Evict(const std::string& kept);
  void GoOnWithChecked();
  void RemoveOldPartials();
  void RemoveUnowned();

  const std::string folder_;
  const BlobStoreOptions options_;
  mutable std::mutex mutex_;
  int64_t bytes_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_BLOBS_FOLDER_BLOB_STORE_H_
