#include "import/tensorflow/sorted_table.h"

#include <snappy.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/status.h"

namespace attune::tensorflow {
namespace {

constexpr size_t kFooterSize = 48;
constexpr uint64_t kMagic = 0xdb4775248b80fb57;
constexpr size_t kTrailerSize = 5;  // the kind of compression, and a checksum
constexpr size_t kMaxKey = size_t{64} << 10;
// Limits for the content of the table and its decompressed blocks, per byte of the file, and in addition to
// that: keys with long common prefixes, and repeated references to a block, take little space in the file.
constexpr size_t kContentPerByte = 64;
constexpr size_t kSmallContent = size_t{4} << 20;

absl::Status Damaged(std::string_view what) { return InvalidInput("the table is damaged: ", what); }

absl::Status Spend(size_t bytes, size_t& left) {
  if (bytes > left) return Damaged("it holds too much for its length");
  left -= bytes;
  return absl::OkStatus();
}

// Removes an integer of 1 to 10 bytes, with 7 bits each, from the front.
absl::StatusOr<uint64_t> TakeVarint(std::string_view& bytes) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (bytes.empty()) return Damaged("a number is cut short");
    const auto byte = static_cast<uint8_t>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  return Damaged("a number is too long");
}

absl::StatusOr<std::string_view> Take(std::string_view& bytes, uint64_t size) {
  if (size > bytes.size()) return Damaged("an entry leaves its block");
  const std::string_view taken = bytes.substr(0, static_cast<size_t>(size));
  bytes.remove_prefix(static_cast<size_t>(size));
  return taken;
}

uint64_t LittleEndian(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

// The location of a block in the file.
struct Handle {
  uint64_t offset = 0;
  uint64_t size = 0;
};

absl::StatusOr<Handle> TakeHandle(std::string_view& bytes) {
  Handle handle;
  ASSIGN_OR_RETURN(handle.offset, TakeVarint(bytes));
  ASSIGN_OR_RETURN(handle.size, TakeVarint(bytes));
  return handle;
}

// `left` is the remaining budget in bytes for blocks, keys and values.
absl::StatusOr<std::string> ReadBlock(std::string_view file, const Handle& handle, size_t& left) {
  if (file.size() < kTrailerSize || handle.size > file.size() - kTrailerSize ||
      handle.offset > file.size() - kTrailerSize - handle.size) {
    return Damaged("a block leaves the file");
  }
  const std::string_view stored =
      file.substr(static_cast<size_t>(handle.offset), static_cast<size_t>(handle.size));
  const char compression = file[static_cast<size_t>(handle.offset + handle.size)];
  if (compression != 0 && compression != 1) return Damaged("a block is compressed in an unknown way");
  size_t size = stored.size();
  if (compression == 1 && !snappy::GetUncompressedLength(stored.data(), stored.size(), &size)) {
    return Damaged("a compressed block has no size");
  }
  RETURN_IF_ERROR(Spend(size, left));
  if (compression == 0) return std::string(stored);
  std::string block(size, '\0');
  if (!snappy::RawUncompress(stored.data(), stored.size(), block.data())) {
    return Damaged("a block does not decompress");
  }
  return block;
}

using Entries = std::vector<std::pair<std::string, std::string>>;

absl::StatusOr<Entries> ParseBlock(std::string_view block, size_t& left) {
  if (block.size() < 4) return Damaged("a block is cut short");
  // A block ends with the positions of keys that are stored whole, which are only for searches, and their
  // count.
  const uint64_t restarts = LittleEndian(block.substr(block.size() - 4));
  if (restarts > (block.size() - 4) / 4) return Damaged("a block's restarts leave it");
  block.remove_suffix(4 + 4 * static_cast<size_t>(restarts));
  Entries entries;
  std::string key;
  while (!block.empty()) {
    ASSIGN_OR_RETURN(const uint64_t shared, TakeVarint(block));
    ASSIGN_OR_RETURN(const uint64_t unshared, TakeVarint(block));
    ASSIGN_OR_RETURN(const uint64_t value_size, TakeVarint(block));
    if (shared > key.size() || unshared > kMaxKey || shared + unshared > kMaxKey) {
      return Damaged("a key shares more than there is, or is too long");
    }
    ASSIGN_OR_RETURN(const std::string_view rest, Take(block, unshared));
    ASSIGN_OR_RETURN(const std::string_view value, Take(block, value_size));
    key.resize(static_cast<size_t>(shared));
    key += rest;
    RETURN_IF_ERROR(Spend(key.size() + value.size() + sizeof(Entries::value_type), left));
    entries.emplace_back(key, std::string(value));
  }
  return entries;
}

}  // namespace

absl::StatusOr<std::map<std::string, std::string>> ReadSortedTable(std::string_view bytes) {
  if (bytes.size() < kFooterSize || LittleEndian(bytes.substr(bytes.size() - 8)) != kMagic) {
    return InvalidInput("it is not a table of sorted strings");
  }
  std::string_view footer = bytes.substr(bytes.size() - kFooterSize);
  RETURN_IF_ERROR(TakeHandle(footer).status());  // the index of filters, which no writer uses
  ASSIGN_OR_RETURN(const Handle index_handle, TakeHandle(footer));
  size_t left = kSmallContent + kContentPerByte * bytes.size();
  ASSIGN_OR_RETURN(const std::string index_block, ReadBlock(bytes, index_handle, left));
  ASSIGN_OR_RETURN(const Entries index, ParseBlock(index_block, left));
  std::map<std::string, std::string> table;
  for (const auto& [last_key, location] : index) {
    std::string_view rest = location;
    ASSIGN_OR_RETURN(const Handle handle, TakeHandle(rest));
    ASSIGN_OR_RETURN(const std::string block, ReadBlock(bytes, handle, left));
    ASSIGN_OR_RETURN(Entries entries, ParseBlock(block, left));
    for (auto& [key, value] : entries) table.insert_or_assign(std::move(key), std::move(value));
  }
  return table;
}

}  // namespace attune::tensorflow
