// The zip archive of a model.
#ifndef ATTUNE_IMPORT_PYTORCH_ARCHIVE_H_
#define ATTUNE_IMPORT_PYTORCH_ARCHIVE_H_

#include <zip.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace attune::pytorch {

// Entries are read into memory, one at a time, and never become files. An archive is refused if it has too
// many entries, they unpack to much more than its own size, their names lead out of it, or two have the
// same name.
class Archive {
 public:
  // `bytes` must outlive the archive.
  static absl::StatusOr<Archive> Open(std::string_view bytes);

  // Names are relative to the folder that contains all entries, if there is one, as in PyTorch's archives.
  bool Has(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  // Sorted.
  std::vector<std::string> NamesUnder(std::string_view prefix) const;
  // The unpacked size of an entry; it must exist.
  int64_t SizeOf(std::string_view name) const;
  // The stored size of the archive.
  int64_t num_bytes() const { return num_bytes_; }

  // A whole entry. Errors: no such name, larger than `max_bytes`, damaged, unknown compression.
  absl::StatusOr<std::string> Read(std::string_view name, int64_t max_bytes) const;
  // Reads it into memory of exactly its size.
  absl::Status ReadInto(std::string_view name, std::span<std::byte> out) const;

 private:
  struct Entry {
    uint64_t index;
    int64_t size;
  };
  struct Discard {
    void operator()(zip_t* zip) const { zip_discard(zip); }
  };
  Archive(zip_t* zip, int64_t num_bytes) : zip_(zip), num_bytes_(num_bytes) {}
  absl::Status List();
  void RemoveRoot();

  std::unique_ptr<zip_t, Discard> zip_;
  int64_t num_bytes_;
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace attune::pytorch

#endif  // ATTUNE_IMPORT_PYTORCH_ARCHIVE_H_
