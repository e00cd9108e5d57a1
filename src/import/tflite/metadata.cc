#include "import/tflite/metadata.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "flatbuffers/flatbuffers.h"
#include "import/tflite/metadata_generated.h"

namespace attune::tflite {
namespace {

constexpr std::string_view kBufferName = "TFLITE_METADATA";

// The buffer's bytes, aligned for their tables; empty if there is no such buffer.
std::vector<uint64_t> AlignedBytes(const Model& model, size_t& size) {
  for (int64_t i = 0; i < SizeOf(model.root().metadata()); ++i) {
    const schema::Metadata& entry = *model.root().metadata()->Get(static_cast<uint32_t>(i));
    if (NameOf(entry.name()) != kBufferName || entry.buffer() >= SizeOf(model.root().buffers())) continue;
    const absl::StatusOr<std::string_view> bytes = model.BufferData(entry.buffer());
    if (!bytes.ok() || bytes->empty()) continue;
    size = bytes->size();
    std::vector<uint64_t> aligned((size + 7) / 8);
    std::memcpy(aligned.data(), bytes->data(), size);
    return aligned;
  }
  return {};
}

// The verified tables in the buffer; null if they are damaged.
const metadata::ModelMetadata* Tables(const std::vector<uint64_t>& aligned, size_t size) {
  const auto* data = reinterpret_cast<const uint8_t*>(aligned.data());
  if (size >= FLATBUFFERS_MAX_BUFFER_SIZE || size < 8 || !metadata::ModelMetadataBufferHasIdentifier(data))
    return nullptr;
  flatbuffers::Verifier verifier(data, size);
  return metadata::VerifyModelMetadataBuffer(verifier) ? metadata::GetModelMetadata(data) : nullptr;
}

std::optional<std::array<double, 3>> Channels(const flatbuffers::Vector<float>* values) {
  const int64_t size = SizeOf(values);
  if (size != 1 && size != 3) return std::nullopt;
  std::array<double, 3> channels;
  for (uint32_t c = 0; c < 3; ++c) channels[c] = values->Get(size == 1 ? 0 : c);
  const bool finite = std::ranges::all_of(channels, [](double value) { return std::isfinite(value); });
  return finite ? std::optional(channels) : std::nullopt;
}

std::optional<PictureFormat> FormatOf(const metadata::NormalizationOptions& options) {
  const std::optional<std::array<double, 3>> mean = Channels(options.mean());
  const std::optional<std::array<double, 3>> deviation = Channels(options.std());
  if (!mean.has_value() || !deviation.has_value()) return std::nullopt;
  if (std::ranges::find(*deviation, 0.0) != deviation->end()) return std::nullopt;
  return PictureFormat{.mean = *mean, .deviation = *deviation};
}

}  // namespace

std::optional<PictureFormat> PictureFormatOf(const Model& model, int subgraph, size_t input) {
  size_t size = 0;
  const std::vector<uint64_t> aligned = AlignedBytes(model, size);
  const metadata::ModelMetadata* tables = Tables(aligned, size);
  if (tables == nullptr || subgraph >= SizeOf(tables->subgraph_metadata())) return std::nullopt;
  const auto* inputs =
      tables->subgraph_metadata()->Get(static_cast<uint32_t>(subgraph))->input_tensor_metadata();
  if (input >= static_cast<size_t>(SizeOf(inputs))) return std::nullopt;
  const auto* units = inputs->Get(static_cast<uint32_t>(input))->process_units();
  for (int64_t i = 0; i < SizeOf(units); ++i) {
    const auto* options = units->Get(static_cast<uint32_t>(i))->options_as_NormalizationOptions();
    if (options == nullptr) continue;
    if (std::optional<PictureFormat> format = FormatOf(*options)) return format;
  }
  return std::nullopt;
}

}  // namespace attune::tflite
