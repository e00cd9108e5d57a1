#include "import/tensorflow/bundle.h"

#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/checked.h"
#include "base/status.h"
#include "import/tensorflow/sorted_table.h"
#include "import/tensorflow/tensor_proto.h"

namespace attune::tensorflow {
namespace {

constexpr int64_t kMaxIndex = int64_t{256} << 20;
constexpr int64_t kMaxObjectGraph = int64_t{64} << 20;
constexpr int kMaxShards = 100'000;  // file names have five digits
constexpr char kObjectGraphKey[] = "_CHECKPOINTABLE_OBJECT_GRAPH";

// Opens one of the files with the prefix FOLDER/variables/NAME. A SavedModel's folder may come from
// anywhere, and its files must not lead out of it.
absl::StatusOr<InputFile> OpenPart(const std::string& path) {
  const std::filesystem::path inside = path;
  const std::filesystem::path variables = inside.parent_path();
  const std::filesystem::path folder = variables.parent_path();
  absl::StatusOr<InputFile> file = OpenInputFileBelow(folder.empty() ? "." : folder.string(),
                                                      (variables.filename() / inside.filename()).string());
  if (absl::IsNotFound(file.status())) return absl::NotFoundError(absl::StrCat(path, " is missing"));
  if (!file.ok()) return Annotate(file.status(), path);
  return file;
}

}  // namespace

absl::StatusOr<Bundle> Bundle::Open(const std::string& prefix) {
  Bundle bundle;
  bundle.prefix_ = prefix;
  const std::string index = prefix + ".index";
  ASSIGN_OR_RETURN(const InputFile file, OpenPart(index));
  if (file.bytes > kMaxIndex) {
    return InvalidInput(index, ": has ", file.bytes, " bytes, at most ", kMaxIndex, " are read");
  }
  std::string bytes(static_cast<size_t>(file.bytes), '\0');
  RETURN_IF_ERROR(Annotate(ReadRange(file, 0, file.bytes, bytes.data()), index));
  const auto table = ReadSortedTable(bytes);
  if (!table.ok()) return Annotate(table.status(), index);
  RETURN_IF_ERROR(Annotate(bundle.ReadHeader(*table), index));
  for (const auto& [key, value] : *table) {
    if (key.empty()) continue;
    BundleEntryProto entry;
    if (!entry.ParseFromString(value)) return InvalidInput(index, ": the entry '", key, "' does not parse");
    bundle.entries_[key] = std::move(entry);
  }
  RETURN_IF_ERROR(bundle.ReadObjectGraph());
  return bundle;
}

absl::Status Bundle::ReadHeader(const std::map<std::string, std::string>& table) {
  BundleHeaderProto header;
  const auto entry = table.find("");
  if (entry == table.end() || !header.ParseFromString(entry->second)) {
    return InvalidInput("it has no header: it is not a checkpoint's index");
  }
  if (header.endianness() != 0) return NotSupported("a checkpoint of a big-endian machine");
  if (header.num_shards() < 1 || header.num_shards() > kMaxShards) {
    return InvalidInput("it has ", header.num_shards(), " data files");
  }
  num_shards_ = header.num_shards();
  return absl::OkStatus();
}

// A single string: its length, a checksum of four bytes, the bytes.
absl::Status Bundle::ReadObjectGraph() {
  const auto found = entries_.find(kObjectGraphKey);
  if (found == entries_.end() || found->second.size() < 5 || found->second.size() > kMaxObjectGraph) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const InputFile file, OpenData(found->second));
  std::string bytes(static_cast<size_t>(found->second.size()), '\0');
  RETURN_IF_ERROR(Annotate(ReadRange(file, found->second.offset(), found->second.size(), bytes.data()),
                           DataFile(found->second.shard_id())));
  size_t begin = 0;
  while (begin < bytes.size() && (static_cast<uint8_t>(bytes[begin]) & 0x80) != 0) ++begin;
  begin += 1 + 4;
  TrackableObjectGraph objects;
  if (begin > bytes.size() ||
      !objects.ParseFromArray(bytes.data() + begin, static_cast<int>(bytes.size() - begin))) {
    return InvalidInput(prefix_, ": the graph of objects does not parse");
  }
  std::set<std::string> ambiguous;
  for (const auto& object : objects.nodes()) {
    for (const auto& tensor : object.attributes()) {
      if (tensor.full_name().empty()) continue;
      const auto [it, inserted] = keys_by_name_.emplace(tensor.full_name(), tensor.checkpoint_key());
      if (!inserted && it->second != tensor.checkpoint_key()) ambiguous.insert(tensor.full_name());
    }
  }
  for (const std::string& name : ambiguous) keys_by_name_.erase(name);
  return absl::OkStatus();
}

std::string Bundle::DataFile(int shard) const {
  return absl::StrFormat("%s.data-%05d-of-%05d", prefix_, shard, num_shards_);
}

absl::StatusOr<InputFile> Bundle::OpenData(const BundleEntryProto& entry) const {
  if (entry.shard_id() < 0 || entry.shard_id() >= num_shards_) {
    return InvalidInput("it lies in data file ", entry.shard_id(), " of ", num_shards_);
  }
  const std::string path = DataFile(entry.shard_id());
  ASSIGN_OR_RETURN(InputFile file, OpenPart(path));
  const std::optional<int64_t> end = CheckedAdd(entry.offset(), entry.size());
  if (entry.offset() < 0 || entry.size() < 0 || !end || *end > file.bytes) {
    return InvalidInput(path, " has ", file.bytes, " bytes, the data at ", entry.offset(), " needs ",
                        entry.size());
  }
  return file;
}

absl::StatusOr<Tensor> Bundle::Read(const std::string& key) const {
  const auto found = entries_.find(key);
  if (found == entries_.end()) return absl::NotFoundError(absl::StrCat("'", key, "' is not in ", prefix_));
  const BundleEntryProto& entry = found->second;
  if (entry.slices_size() > 0) {
    return NotSupported("'", key, "' is stored in ", entry.slices_size(),
                        " slices (a partitioned variable); save the model with whole variables");
  }
  ASSIGN_OR_RETURN(const DType dtype, RequireDType(entry.dtype()));
  const std::optional<Shape> shape = WholeShape(entry.shape());
  const std::optional<int64_t> elements = shape ? CheckedProduct(*shape) : std::nullopt;
  const std::optional<int64_t> bytes = elements ? CheckedMul(*elements, DTypeSize(dtype)) : std::nullopt;
  if (!bytes || *bytes != entry.size()) {
    return InvalidInput("'", key, "' has ", entry.size(), " bytes, its shape needs ", bytes.value_or(-1));
  }
  // Check the file before allocating memory for its data.
  const absl::StatusOr<InputFile> file = OpenData(entry);
  if (!file.ok()) return Annotate(file.status(), absl::StrCat("'", key, "'"));
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(dtype, *shape));
  RETURN_IF_ERROR(Annotate(ReadRange(*file, entry.offset(), entry.size(), tensor.mutable_data()),
                           DataFile(entry.shard_id())));
  NormalizeBools(tensor);
  return tensor;
}

}  // namespace attune::tensorflow
