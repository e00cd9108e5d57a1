#include "io/image.h"

#include "base/checked.h"
#include "base/status.h"
#include "io/decoders.h"

namespace attune {
namespace {

struct Format {
  std::string_view magic;
  absl::StatusOr<Image> (*decode)(std::string_view);
};

constexpr Format kFormats[] = {
    {"\xFF\xD8\xFF", DecodeJpeg}, {"\x89PNG\r\n\x1A\n", DecodePng}, {"BM", DecodeBmp}};

}  // namespace

absl::Status CheckImageSize(int64_t width, int64_t height, int64_t most) {
  const std::optional<int64_t> pixels = CheckedMul(width, height);
  if (width < 1 || height < 1) return InvalidInput("an image of ", width, " x ", height, " pixels");
  if (!pixels || *pixels > kMaxImagePixels) {
    return InvalidInput("an image of ", width, " x ", height, " pixels, at most ", kMaxImagePixels,
                        " are read");
  }
  if (*pixels > most) {
    return InvalidInput("claims ", width, " x ", height, " pixels, too many for the file's length");
  }
  return absl::OkStatus();
}

absl::StatusOr<Image> DecodeImage(std::string_view bytes, std::string_view name) {
  for (const Format& format : kFormats) {
    if (!bytes.starts_with(format.magic)) continue;
    absl::StatusOr<Image> image = format.decode(bytes);
    if (!image.ok()) return Annotate(image.status(), name);
    return image;
  }
  return InvalidInput(name, ": not a JPEG, PNG or BMP image");
}

}  // namespace attune
