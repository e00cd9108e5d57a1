#include "import/pytorch/archive.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "base/status.h"

namespace attune::pytorch {
namespace {

constexpr int64_t kMaxEntries = 200'000;
constexpr size_t kMaxNameLength = 1024;
// PyTorch stores entries uncompressed. Text that was compressed later shrinks to about a tenth.
constexpr int64_t kMaxExpansion = 16;
constexpr int64_t kFreeBytes = int64_t{1} << 20;

std::string TextOf(zip_error_t* error) { return zip_error_strerror(error); }

// Whether it is a relative path that never leaves the folder where it starts.
bool IsSafeName(std::string_view name) {
  if (name.empty() || name.size() > kMaxNameLength || name.front() == '/') return false;
  if (absl::StrContains(name, '\\')) return false;
  const std::vector<std::string> parts = absl::StrSplit(name, '/');
  return std::none_of(parts.begin(), parts.end(),
                      [](const std::string& part) { return part.empty() || part == "." || part == ".."; });
}

struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

}  // namespace

absl::StatusOr<Archive> Archive::Open(std::string_view bytes) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), /*freep=*/0, &error);
  if (source == nullptr) {
    absl::Status status = InvalidInput(TextOf(&error));
    zip_error_fini(&error);
    return status;
  }
  zip_t* zip = zip_open_from_source(source, ZIP_RDONLY, &error);
  if (zip == nullptr) {
    absl::Status status = InvalidInput("the zip archive is damaged or cut short: ", TextOf(&error));
    zip_error_fini(&error);
    zip_source_free(source);
    return status;
  }
  zip_error_fini(&error);
  Archive archive(zip, static_cast<int64_t>(bytes.size()));
  RETURN_IF_ERROR(archive.List());
  archive.RemoveRoot();
  return archive;
}

absl::Status Archive::List() {
  const int64_t count = zip_get_num_entries(zip_.get(), 0);
  if (count > kMaxEntries) return InvalidInput("the archive has ", count, " entries");
  int64_t left = num_bytes_ * kMaxExpansion + kFreeBytes;
  for (int64_t i = 0; i < count; ++i) {
    zip_stat_t stat;
    zip_stat_init(&stat);
    const auto index = static_cast<zip_uint64_t>(i);
    if (zip_stat_index(zip_.get(), index, 0, &stat) != 0 || (stat.valid & ZIP_STAT_NAME) == 0 ||
        (stat.valid & ZIP_STAT_SIZE) == 0) {
      return InvalidInput("entry ", i, " of the archive is damaged");
    }
    const std::string name = stat.name;
    if (!name.empty() && name.back() == '/') continue;  // a folder
    if (!IsSafeName(name)) return InvalidInput("the archive has an entry of the name '", name, "'");
    if (stat.size > static_cast<zip_uint64_t>(left)) {
      return InvalidInput("the archive unpacks to more than ", kMaxExpansion, " times its size");
    }
    left -= static_cast<int64_t>(stat.size);
    if (!entries_.emplace(name, Entry{index, static_cast<int64_t>(stat.size)}).second) {
      return InvalidInput("the archive has two entries of the name '", name, "'");
    }
  }
  return absl::OkStatus();
}

void Archive::RemoveRoot() {
  if (entries_.empty()) return;
  const std::string& first = entries_.begin()->first;
  const std::string root = first.substr(0, first.find('/') + 1);  // empty without a '/'
  const bool shared = std::all_of(entries_.begin(), entries_.end(),
                                  [&](const auto& entry) { return absl::StartsWith(entry.first, root); });
  if (root.empty() || !shared) return;
  std::map<std::string, Entry, std::less<>> below;
  for (const auto& [name, entry] : entries_) below.emplace(name.substr(root.size()), entry);
  entries_ = std::move(below);
}

std::vector<std::string> Archive::NamesUnder(std::string_view prefix) const {
  std::vector<std::string> names;
  for (auto it = entries_.lower_bound(prefix); it != entries_.end(); ++it) {
    if (!absl::StartsWith(it->first, prefix)) break;
    names.push_back(it->first);
  }
  return names;
}

int64_t Archive::SizeOf(std::string_view name) const { return entries_.find(name)->second.size; }

absl::StatusOr<std::string> Archive::Read(std::string_view name, int64_t max_bytes) const {
  if (!Has(name)) return InvalidInput("the archive has no '", name, "'");
  const int64_t size = SizeOf(name);
  if (size > max_bytes) return InvalidInput("'", name, "' in the archive has ", size, " bytes");
  std::string content(static_cast<size_t>(size), '\0');
  RETURN_IF_ERROR(ReadInto(name, std::as_writable_bytes(std::span<char>(content))));
  return content;
}

absl::Status Archive::ReadInto(std::string_view name, std::span<std::byte> out) const {
  const auto it = entries_.find(name);
  if (it == entries_.end()) return InvalidInput("the archive has no '", name, "'");
  const auto damaged = [&](std::string_view why) {
    return InvalidInput("'", name, "' in the archive is damaged: ", why);
  };
  const std::unique_ptr<zip_file_t, CloseFile> file(zip_fopen_index(zip_.get(), it->second.index, 0));
  if (file == nullptr) return damaged(zip_error_strerror(zip_get_error(zip_.get())));
  size_t done = 0;
  while (done < out.size()) {
    const int64_t count = zip_fread(file.get(), out.data() + done, out.size() - done);
    if (count < 0) return damaged(zip_error_strerror(zip_file_get_error(file.get())));
    if (count == 0) return damaged("it is cut short");
    done += static_cast<size_t>(count);
  }
  // Reading past the end makes libzip compare the checksum.
  char beyond = 0;
  const int64_t count = zip_fread(file.get(), &beyond, 1);
  if (count < 0) return damaged(zip_error_strerror(zip_file_get_error(file.get())));
  return count == 0 ? absl::OkStatus() : damaged("it is longer than it says");
}

}  // namespace attune::pytorch
