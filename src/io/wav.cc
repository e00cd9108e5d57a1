#include "io/wav.h"

#include "base/status.h"
#include "io/little_endian.h"

namespace attune {
namespace {

constexpr uint16_t kPcm = 1;
constexpr uint16_t kFloat = 3;
constexpr uint16_t kExtensible = 0xFFFE;  // the real format is in the first two bytes of the extension
constexpr size_t kFormatBytes = 16;
constexpr size_t kExtensionFormatAt = 24;

struct Chunks {
  std::string_view format, data;
};

absl::StatusOr<Chunks> FindChunks(std::string_view bytes) {
  if (bytes.size() < 12 || bytes.substr(0, 4) != "RIFF" || bytes.substr(8, 4) != "WAVE") {
    return InvalidInput("not a WAVE file");
  }
  bytes.remove_prefix(12);
  Chunks chunks;
  while (bytes.size() >= 8 && chunks.data.data() == nullptr) {
    const std::string_view id = bytes.substr(0, 4);
    const size_t size = LoadLittleEndian<uint32_t>(bytes, 4);
    bytes.remove_prefix(8);
    if (size > bytes.size()) return InvalidInput("cut short: a chunk of ", size, " bytes has ", bytes.size());
    if (id == "fmt ") chunks.format = bytes.substr(0, size);
    if (id == "data") chunks.data = bytes.substr(0, size);
    bytes.remove_prefix(std::min(size + size % 2, bytes.size()));
  }
  if (chunks.format.size() < kFormatBytes) return InvalidInput("no format before the samples");
  if (chunks.data.data() == nullptr) return InvalidInput("no samples");
  return chunks;
}

absl::StatusOr<Sound> ParseSound(std::string_view bytes) {
  ASSIGN_OR_RETURN(const Chunks chunks, FindChunks(bytes));
  auto format = LoadLittleEndian<uint16_t>(chunks.format, 0);
  if (format == kExtensible && chunks.format.size() >= kExtensionFormatAt + 2) {
    format = LoadLittleEndian<uint16_t>(chunks.format, kExtensionFormatAt);
  }
  const int64_t channels = LoadLittleEndian<uint16_t>(chunks.format, 2);
  const int bits = LoadLittleEndian<uint16_t>(chunks.format, 14);
  const bool is_float = format == kFloat && bits == 32;
  if (!is_float && (format != kPcm || bits != 16)) {
    return NotSupported("format ", format, " of ", bits, " bits; 16-bit PCM and 32-bit float are read");
  }
  if (channels == 0) return InvalidInput("it has no channels");
  const size_t sample_bytes = static_cast<size_t>(bits) / 8;
  const int64_t count = static_cast<int64_t>(chunks.data.size() / sample_bytes) / channels;
  Sound sound;
  sound.sample_rate = LoadLittleEndian<uint32_t>(chunks.format, 4);
  ASSIGN_OR_RETURN(sound.samples, Tensor::Allocate(DType::kF32, {1, count}));
  size_t offset = 0;
  for (float& sample : sound.samples.as_mutable<float>()) {
    double sum = 0;
    for (int64_t c = 0; c < channels; ++c, offset += sample_bytes) {
      sum += is_float ? LoadLittleEndian<float>(chunks.data, offset)
                      : LoadLittleEndian<int16_t>(chunks.data, offset) / 32768.0;
    }
    sample = static_cast<float>(sum / static_cast<double>(channels));
  }
  return sound;
}

}  // namespace

absl::StatusOr<Sound> ParseWav(std::string_view bytes, std::string_view name) {
  absl::StatusOr<Sound> sound = ParseSound(bytes);
  if (!sound.ok()) return Annotate(sound.status(), name);
  return sound;
}

}  // namespace attune
