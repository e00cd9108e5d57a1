// Uncompressed Windows bitmaps with 8 (palette), 24 and 32 bits per pixel.
#include <cstring>

#include "base/status.h"
#include "io/decoders.h"
#include "io/little_endian.h"

namespace attune {
namespace {

constexpr size_t kFileHeaderBytes = 14;
constexpr size_t kInfoHeaderBytes = 40;
constexpr uint32_t kUncompressed = 0;
constexpr uint32_t kBitFields = 3;

struct BmpHeader {
  int64_t width = 0;
  int64_t height = 0;
  bool top_down = false;
  int64_t bits = 0;
  std::string_view palette = {};  // entries of blue, green, red and an unused byte
  std::string_view pixels = {};   // rows padded to four bytes
  int64_t row_bytes = 0;
};

// Pixels of 32 bits may have masks; only the masks of the usual order are accepted.
bool UsualMasks(std::string_view bytes) {
  constexpr size_t kMasks = kFileHeaderBytes + kInfoHeaderBytes;
  return bytes.size() >= kMasks + 12 && LoadLittleEndian<uint32_t>(bytes, kMasks) == 0xFF0000 &&
         LoadLittleEndian<uint32_t>(bytes, kMasks + 4) == 0xFF00 &&
         LoadLittleEndian<uint32_t>(bytes, kMasks + 8) == 0xFF;
}

absl::StatusOr<BmpHeader> ParseBmpHeader(std::string_view bytes) {
  if (bytes.size() < kFileHeaderBytes + kInfoHeaderBytes)
    return InvalidInput("a BMP cut short in its header");
  const auto pixels_at = LoadLittleEndian<uint32_t>(bytes, 10);
  const auto info_bytes = LoadLittleEndian<uint32_t>(bytes, 14);
  const int64_t height = LoadLittleEndian<int32_t>(bytes, 22);
  const auto compression = LoadLittleEndian<uint32_t>(bytes, 30);
  BmpHeader header = {.width = LoadLittleEndian<int32_t>(bytes, 18),
                      .height = height < 0 ? -height : height,
                      .top_down = height < 0,
                      .bits = LoadLittleEndian<uint16_t>(bytes, 28)};
  if (info_bytes < kInfoHeaderBytes || info_bytes > bytes.size() || pixels_at > bytes.size()) {
    return InvalidInput("a BMP with a damaged header");
  }
  const bool masked = compression == kBitFields && header.bits == 32 && UsualMasks(bytes);
  if ((compression != kUncompressed && !masked) ||
      (header.bits != 8 && header.bits != 24 && header.bits != 32)) {
    return NotSupported("a BMP of ", header.bits, " bits with compression ", compression,
                        "; only 8, 24 and 32 bits without compression are read");
  }
  header.pixels = bytes.substr(pixels_at);
  RETURN_IF_ERROR(CheckImageSize(header.width, header.height, kMaxImagePixels));
  header.row_bytes = (header.width * header.bits + 31) / 32 * 4;
  if (header.row_bytes * header.height > static_cast<int64_t>(header.pixels.size())) {
    return InvalidInput("a BMP of ", header.width, " x ", header.height, " pixels, cut short");
  }
  if (header.bits == 8) {
    const size_t palette_at = kFileHeaderBytes + info_bytes;
    if (palette_at > pixels_at) return InvalidInput("a BMP with a damaged header");
    header.palette = bytes.substr(palette_at, pixels_at - palette_at);
  }
  return header;
}

}  // namespace

absl::StatusOr<Image> DecodeBmp(std::string_view bytes) {
  ASSIGN_OR_RETURN(const BmpHeader header, ParseBmpHeader(bytes));
  Image image = {header.width, header.height, {}};
  image.rgb.resize(static_cast<size_t>(header.width * header.height * 3));
  uint8_t* out = image.rgb.data();
  for (int64_t y = 0; y < header.height; ++y) {
    const int64_t row = header.top_down ? y : header.height - 1 - y;
    const char* in = header.pixels.data() + row * header.row_bytes;
    for (int64_t x = 0; x < header.width; ++x, out += 3) {
      const char* bgr = in + x * (header.bits / 8);
      if (header.bits == 8) {
        const size_t entry = static_cast<size_t>(static_cast<uint8_t>(*bgr)) * 4;
        if (entry + 3 > header.palette.size()) return InvalidInput("a BMP with a colour outside its palette");
        bgr = header.palette.data() + entry;
      }
      for (int c = 0; c < 3; ++c) out[c] = static_cast<uint8_t>(bgr[2 - c]);
    }
  }
  return image;
}

}  // namespace attune
