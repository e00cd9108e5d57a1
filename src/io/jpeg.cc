#include <csetjmp>
#include <cstdio>

// After cstdio: jpeglib.h uses FILE without including it.
#include <jerror.h>
#include <jpeglib.h>

#include "base/status.h"
#include "io/decoders.h"

namespace attune {
namespace {

// Every 8x8 block costs at least one bit, and the component with the most samples per row has samples in at
// least every fourth row.
constexpr int64_t kMaxPixelsPerByte = 8 * 64 * 4;
// Each scan may process the whole image for a few bytes of the file. Encoders write about ten.
constexpr int kMaxScans = 64;

// Counts the scans by going from marker to marker. Within the data of a scan, a byte FF is followed by 00
// or by a restart marker.
int CountScans(std::string_view bytes) {
  constexpr uint8_t kRestart0 = 0xD0, kStartOfImage = 0xD8, kEndOfImage = 0xD9, kStartOfScan = 0xDA;
  int scans = 0;
  for (size_t at = bytes.find('\xFF'); at != std::string_view::npos && at + 4 <= bytes.size();
       at = bytes.find('\xFF', at)) {
    const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[at + i]); };
    const uint8_t marker = byte(1);
    if (marker == kEndOfImage) break;
    if (marker == 0xFF) {
      ++at;
    } else if (marker <= 1 || (marker >= kRestart0 && marker <= kStartOfImage)) {
      at += 2;
    } else {
      if (marker == kStartOfScan) ++scans;
      at += 2 + (static_cast<size_t>(byte(2)) << 8 | byte(3));
    }
  }
  return scans;
}

// libjpeg reports errors by calling a function that must not return. It jumps back into the reader's
// method; neither this method's frame nor those of libjpeg, which is C, contain objects with destructors.
class JpegReader {
 public:
  JpegReader() {
    info_.err = jpeg_std_error(&errors_);
    errors_.error_exit = [](j_common_ptr info) {
      auto* self = static_cast<JpegReader*>(info->client_data);
      info->err->format_message(info, self->message_);
      std::longjmp(self->jump_, 1);
    };
    errors_.emit_message = [](j_common_ptr info, int level) {
      const int code = info->err->msg_code;
      // Other warnings (an unknown Adobe marker, stray bytes) do not damage pixels.
      const bool damaged = code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE;
      if (level < 0 && damaged) info->err->error_exit(info);
    };
    info_.client_data = this;
  }
  ~JpegReader() {
    if (created_) jpeg_destroy_decompress(&info_);
  }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  bool ReadHeader(std::string_view bytes) {
    if (setjmp(jump_) != 0) return false;
    jpeg_create_decompress(&info_);
    created_ = true;
    jpeg_mem_src(&info_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&info_, TRUE);
    info_.out_color_space = JCS_RGB;
    return true;
  }

  // `rgb` must have room for height() rows of width() pixels.
  bool ReadPixels(uint8_t* rgb) {
    if (setjmp(jump_) != 0) return false;
    jpeg_start_decompress(&info_);
    while (info_.output_scanline < info_.output_height) {
      JSAMPROW row = rgb + static_cast<size_t>(info_.output_scanline) * info_.output_width * 3;
      jpeg_read_scanlines(&info_, &row, 1);
    }
    return true;
  }

  int64_t width() const { return info_.image_width; }
  int64_t height() const { return info_.image_height; }
  bool four_components() const { return info_.num_components == 4; }
  const char* message() const { return message_; }

 private:
  jpeg_decompress_struct info_ = {};
  jpeg_error_mgr errors_ = {};
  std::jmp_buf jump_ = {};
  bool created_ = false;
  char message_[JMSG_LENGTH_MAX] = {};
};

}  // namespace

absl::StatusOr<Image> DecodeJpeg(std::string_view bytes) {
  JpegReader reader;
  if (!reader.ReadHeader(bytes)) return InvalidInput("a damaged JPEG: ", reader.message());
  if (reader.four_components()) return NotSupported("a CMYK JPEG; convert it to RGB");
  RETURN_IF_ERROR(CheckImageSize(reader.width(), reader.height(),
                                 static_cast<int64_t>(bytes.size()) * kMaxPixelsPerByte));
  if (const int scans = CountScans(bytes); scans > kMaxScans) {
    return InvalidInput("a JPEG of ", scans, " scans, at most ", kMaxScans, " are read");
  }
  Image image = {reader.width(), reader.height(), {}};
  image.rgb.resize(static_cast<size_t>(image.width * image.height * 3));
  if (!reader.ReadPixels(image.rgb.data())) return InvalidInput("a damaged JPEG: ", reader.message());
  return image;
}

}  // namespace attune
