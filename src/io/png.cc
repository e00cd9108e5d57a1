#include <png.h>

#include <csetjmp>
#include <cstring>

#include "base/status.h"
#include "io/decoders.h"

namespace attune {
namespace {

// Deflate compresses at best by a factor of 1032, and a pixel takes at least one bit.
constexpr int64_t kMaxBitsPerByte = 1032 * 8;

// libpng reports errors by jumping back into the reader's method; neither this method's frame nor those of
// libpng, which is C, contain objects with destructors.
class PngReader {
 public:
  explicit PngReader(std::string_view bytes) : bytes_(bytes) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, OnError, [](png_structp, png_const_charp) {});
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  bool ReadHeader() {
    if (png_ == nullptr || info_ == nullptr) return false;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, this, OnRead);
    png_read_info(png_, info_);
    return true;
  }

  // `rgb` must have room for height() rows of width() pixels.
  bool ReadPixels(uint8_t* rgb) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_palette_to_rgb(png_);
    png_set_expand_gray_1_2_4_to_8(png_);
    png_set_strip_16(png_);
    png_set_gray_to_rgb(png_);
    png_set_strip_alpha(png_);
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    const size_t row_bytes = static_cast<size_t>(width()) * 3;
    if (png_get_rowbytes(png_, info_) != row_bytes) png_error(png_, "unknown pixel format");
    for (int pass = 0; pass < passes; ++pass) {
      for (int64_t y = 0; y < height(); ++y)
        png_read_row(png_, rgb + static_cast<size_t>(y) * row_bytes, nullptr);
    }
    return true;
  }

  int64_t width() const { return png_get_image_width(png_, info_); }
  int64_t height() const { return png_get_image_height(png_, info_); }
  int64_t bits_per_pixel() const { return png_get_bit_depth(png_, info_) * png_get_channels(png_, info_); }
  const char* message() const { return message_; }

 private:
  static void OnError(png_structp png, png_const_charp message) {
    auto* self = static_cast<PngReader*>(png_get_error_ptr(png));
    std::strncpy(self->message_, message, sizeof(self->message_) - 1);
    png_longjmp(png, 1);
  }
  static void OnRead(png_structp png, png_bytep out, size_t count) {
    auto* self = static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > self->bytes_.size()) png_error(png, "cut short");
    std::memcpy(out, self->bytes_.data(), count);
    self->bytes_.remove_prefix(count);
  }

  std::string_view bytes_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  char message_[160] = "out of memory";
};

}  // namespace

absl::StatusOr<Image> DecodePng(std::string_view bytes) {
  PngReader reader(bytes);
  if (!reader.ReadHeader()) return InvalidInput("a damaged PNG: ", reader.message());
  const int64_t most = static_cast<int64_t>(bytes.size()) * kMaxBitsPerByte / reader.bits_per_pixel();
  RETURN_IF_ERROR(CheckImageSize(reader.width(), reader.height(), most));
  Image image = {reader.width(), reader.height(), {}};
  image.rgb.resize(static_cast<size_t>(image.width * image.height * 3));
  if (!reader.ReadPixels(image.rgb.data())) return InvalidInput("a damaged PNG: ", reader.message());
  return image;
}

}  // namespace attune
