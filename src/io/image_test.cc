#include "io/image.h"

#include <cstdio>

// After cstdio: jpeglib.h uses FILE without including it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <jpeglib.h>
#include <png.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/file.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

Image Gradient(int64_t width, int64_t height) {
  Image image = {width, height, {}};
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t value : {10 * x + y, 255 - 20 * x, x * y * 7 % 256}) {
        image.rgb.push_back(static_cast<uint8_t>(value));
      }
    }
  }
  return image;
}

std::string EncodeJpeg(const Image& image, bool progressive = false) {
  jpeg_compress_struct info;
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* data = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &data, &size);
  info.image_width = static_cast<JDIMENSION>(image.width);
  info.image_height = static_cast<JDIMENSION>(image.height);
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 100, TRUE);
  if (progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  while (info.next_scanline < info.image_height) {
    auto* row = const_cast<JSAMPROW>(image.rgb.data() + info.next_scanline * info.image_width * 3);
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::string bytes(reinterpret_cast<char*>(data), size);
  std::free(data);
  return bytes;
}

// `samples` is one row of `width` pixels with the given colour type and depth, as stored in the file.
std::string EncodePng(int width, int color_type, int bit_depth, const std::vector<uint8_t>& samples) {
  std::string out;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &out,
      [](png_structp p, png_bytep data, size_t size) {
        static_cast<std::string*>(png_get_io_ptr(p))->append(reinterpret_cast<char*>(data), size);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(width), 1, bit_depth, color_type, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  const png_color palette[2] = {{1, 2, 3}, {200, 201, 202}};
  if (color_type == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 2);
  png_write_info(png, info);
  png_write_row(png, samples.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return out;
}

// A BMP of 2 by 2 pixels.
std::string EncodeBmp(uint16_t bits, int32_t height, const std::string& palette, const std::string& pixels) {
  std::string out(54, '\0');
  const auto put = [&](size_t at, auto value) { std::memcpy(out.data() + at, &value, sizeof(value)); };
  out[0] = 'B';
  out[1] = 'M';
  put(10, static_cast<uint32_t>(54 + palette.size()));
  put(14, uint32_t{40});
  put(18, int32_t{2});
  put(22, height);
  put(26, uint16_t{1});
  put(28, bits);
  return out + palette + pixels;
}

std::vector<uint8_t> Pixels(const std::string& bytes) {
  const auto image = DecodeImage(bytes, "a");
  EXPECT_TRUE(image.ok()) << image.status();
  return image.ok() ? image->rgb : std::vector<uint8_t>();
}

std::string Message(const std::string& bytes) {
  return std::string(DecodeImage(bytes, "bad").status().message());
}

using Bytes = std::vector<uint8_t>;

TEST(Image, DecodesJpeg) {
  const Image original = Gradient(12, 9);
  const auto image = DecodeImage(EncodeJpeg(original), "a.jpg");
  ASSERT_TRUE(image.ok()) << image.status();
  EXPECT_EQ(image->width, 12);
  EXPECT_EQ(image->height, 9);
  ASSERT_EQ(image->rgb.size(), original.rgb.size());
  // Chroma is stored at half the resolution, so only the luminance is close.
  double difference = 0;
  for (size_t i = 0; i < original.rgb.size(); i += 3) {
    const auto luminance = [i](const Image& x) {
      return 0.299 * x.rgb[i] + 0.587 * x.rgb[i + 1] + 0.114 * x.rgb[i + 2];
    };
    difference = std::max(difference, std::abs(luminance(*image) - luminance(original)));
  }
  EXPECT_LT(difference, 4.0);
}

TEST(Image, DecodesProgressiveJpegs) {
  const Image original = Gradient(12, 9);
  EXPECT_EQ(Pixels(EncodeJpeg(original, true)), Pixels(EncodeJpeg(original)));
}

TEST(Image, RefusesAJpegOfThousandsOfScans) {
  std::string jpeg = EncodeJpeg(Gradient(12, 9), true);
  const std::string end = jpeg.substr(jpeg.size() - 2);
  const std::string last = jpeg.substr(jpeg.rfind("\xFF\xDA"), jpeg.size() - 2 - jpeg.rfind("\xFF\xDA"));
  jpeg.resize(jpeg.size() - 2);
  for (int i = 0; i < 5000; ++i) jpeg += last;
  EXPECT_EQ(Message(jpeg + end), "bad: a JPEG of 5010 scans, at most 64 are read");
}

TEST(Image, DecodesEveryKindOfPng) {
  EXPECT_EQ(Pixels(EncodePng(2, PNG_COLOR_TYPE_RGB, 8, {1, 2, 3, 4, 5, 6})), (Bytes{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(Pixels(EncodePng(2, PNG_COLOR_TYPE_RGBA, 8, {1, 2, 3, 0, 4, 5, 6, 9})),
            (Bytes{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(Pixels(EncodePng(2, PNG_COLOR_TYPE_GRAY, 8, {7, 9})), (Bytes{7, 7, 7, 9, 9, 9}));
  EXPECT_EQ(Pixels(EncodePng(2, PNG_COLOR_TYPE_GRAY_ALPHA, 8, {7, 0, 9, 1})), (Bytes{7, 7, 7, 9, 9, 9}));
  EXPECT_EQ(Pixels(EncodePng(2, PNG_COLOR_TYPE_GRAY, 1, {0x40})), (Bytes{0, 0, 0, 255, 255, 255}));
  EXPECT_EQ(Pixels(EncodePng(2, PNG_COLOR_TYPE_PALETTE, 1, {0x40})), (Bytes{1, 2, 3, 200, 201, 202}));
  EXPECT_EQ(Pixels(EncodePng(1, PNG_COLOR_TYPE_RGB, 16, {1, 255, 2, 255, 3, 0})), (Bytes{1, 2, 3}));
}

TEST(Image, DecodesBmp) {
  const std::string rows24("\x03\x02\x01\x06\x05\x04\0\0\x09\x08\x07\x0C\x0B\x0A\0\0", 16);
  const Bytes top_down = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const Bytes bottom_up = {7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6};
  EXPECT_EQ(Pixels(EncodeBmp(24, -2, "", rows24)), top_down);
  EXPECT_EQ(Pixels(EncodeBmp(24, 2, "", rows24)), bottom_up);
  EXPECT_EQ(Pixels(EncodeBmp(32, 1, "", std::string("\x03\x02\x01\0\x06\x05\x04\0", 8))),
            (Bytes{1, 2, 3, 4, 5, 6}));
  const std::string palette("\x03\x02\x01\0\x06\x05\x04\0", 8);
  EXPECT_EQ(Pixels(EncodeBmp(8, 1, palette, std::string("\1\0\0\0", 4))), (Bytes{4, 5, 6, 1, 2, 3}));
  EXPECT_EQ(Message(EncodeBmp(8, 1, palette, std::string("\2\0\0\0", 4))),
            "bad: a BMP with a colour outside its palette");
  EXPECT_EQ(Message(EncodeBmp(24, 3, "", rows24)), "bad: a BMP of 2 x 3 pixels, cut short");
  EXPECT_EQ(Message(EncodeBmp(24, INT32_MIN, "", rows24)).find("bad: an image of"), 0u);
  EXPECT_THAT(Message(EncodeBmp(4, 1, palette, rows24)), HasSubstr("only 8, 24 and 32 bits"));
}

TEST(Image, RefusesOtherFilesAndNamesThem) {
  EXPECT_EQ(Message("GIF89a"), "bad: not a JPEG, PNG or BMP image");
  EXPECT_EQ(Message(""), "bad: not a JPEG, PNG or BMP image");
}

TEST(Image, RefusesEveryTruncation) {
  // The last bytes of a JPEG are the end marker and the padding of the last block.
  const std::string jpeg = EncodeJpeg(Gradient(12, 9));
  for (size_t size = 0; size + 2 < jpeg.size(); ++size)
    EXPECT_FALSE(DecodeImage(jpeg.substr(0, size), "a").ok());
  // The last 16 bytes of a PNG are the end chunk and the checksum of the pixels.
  const std::string png = EncodePng(2, PNG_COLOR_TYPE_RGB, 8, {1, 2, 3, 4, 5, 6});
  for (size_t size = 0; size + 20 < png.size(); ++size)
    EXPECT_FALSE(DecodeImage(png.substr(0, size), "a").ok());
}

TEST(Image, SurvivesEveryByteFlip) {
  for (const std::string& good :
       {EncodeJpeg(Gradient(12, 9)), EncodePng(2, PNG_COLOR_TYPE_PALETTE, 1, {0x40}),
        EncodeBmp(24, 2, "", std::string(16, '\5'))}) {
    for (size_t i = 0; i < good.size(); ++i) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ 0xFF);
      const auto image = DecodeImage(bad, "a");
      if (image.ok()) EXPECT_EQ(image->rgb.size(), static_cast<size_t>(image->width * image->height * 3));
    }
  }
}

TEST(Image, RefusesSizesThatTheFileCannotHold) {
  std::string jpeg = EncodeJpeg(Gradient(12, 9));
  const size_t frame = jpeg.find("\xFF\xC0");
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, "\x7F\xFF\x7F\xFF");
  EXPECT_THAT(Message(jpeg), HasSubstr("32767 x 32767 pixels"));
  jpeg.replace(frame + 5, 4, "\x1F\xFF\x1F\xFF");
  EXPECT_THAT(Message(jpeg), HasSubstr("too many for the file's length"));
}

TEST(ResizeBilinear, GivesThePixelsOfPil) {
  // From PIL 13.0: Image.fromarray(gradient).resize(size, Image.BILINEAR).
  const Image image = Gradient(7, 5);
  EXPECT_EQ(ResizeBilinear(image, 3, 2).rgb,
            (Bytes{10, 238, 6, 31, 195, 21, 52, 152, 36, 12, 238, 18, 33, 195, 63, 54, 152, 108}));
  EXPECT_EQ(ResizeBilinear(image, 3, 5).rgb,
            (Bytes{9,  238, 0,  30, 195, 0,   51, 152, 0,  10, 238, 6,  31, 195, 21,
                   52, 152, 36, 11, 238, 12,  32, 195, 42, 53, 152, 72, 12, 238, 18,
                   33, 195, 63, 54, 152, 108, 13, 238, 24, 34, 195, 84, 55, 152, 144}));
  const Bytes first_row = {0, 255, 0,   5, 246, 0,   11, 233, 0,   17, 220, 0,   24, 208, 0,   30, 195,
                           0, 36,  182, 0, 43,  170, 0,  49,  157, 0,  55,  144, 0,  60,  135, 0};
  const Image larger = ResizeBilinear(image, 11, 8);
  EXPECT_EQ(Bytes(larger.rgb.begin(), larger.rgb.begin() + 33), first_row);
  const Bytes last_row = {4,  255, 0,   9,   246, 13,  15,  233, 31,  21,  220, 48,  28,  208, 66,  34, 195,
                          84, 40,  182, 102, 47,  170, 120, 53,  157, 137, 59,  144, 155, 64,  135, 168};
  EXPECT_EQ(Bytes(larger.rgb.end() - 33, larger.rgb.end()), last_row);
  EXPECT_EQ(ResizeBilinear(image, 7, 5).rgb, image.rgb);
}

// The folder of test photographs, which is not part of the repository.
std::filesystem::path PhotoFolder() {
  return std::filesystem::path(__FILE__).parent_path() / "../../../shared/models/images";
}

absl::StatusOr<Image> ReadPhoto(const std::string& name) {
  const std::string path = (PhotoFolder() / name).string();
  const absl::StatusOr<std::string> bytes = ReadFile(path, int64_t{1} << 26);
  return bytes.ok() ? DecodeImage(*bytes, path) : bytes.status();
}

class Photographs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::filesystem::exists(PhotoFolder())) return;
    const char* ci = std::getenv("CI");
    ASSERT_TRUE(ci == nullptr || std::string_view(ci) != "true") << "no photographs at " << PhotoFolder();
    GTEST_SKIP() << "no photographs at " << PhotoFolder();
  }
};

TEST_F(Photographs, AreDecodedAsByPil) {
  // Size and sum of all samples, from PIL 13.0.
  struct Photo {
    const char* name;
    int64_t width, height, sum;
  };
  constexpr Photo kPhotos[] = {{"grace_hopper.bmp", 512, 600, 74151718}, {"person.bmp", 96, 96, 4118724},
                               {"camera.png", 512, 512, 101497485},      {"sparrow.png", 1280, 851, 28469500},
                               {"astronaut.png", 512, 512, 90124324},    {"parrot.jpg", 512, 929, 188229173},
                               {"hot_dog.jpg", 512, 384, 30632285}};
  for (const Photo& photo : kPhotos) {
    const auto image = ReadPhoto(photo.name);
    ASSERT_TRUE(image.ok()) << image.status();
    EXPECT_EQ(image->width, photo.width) << photo.name;
    EXPECT_EQ(image->height, photo.height) << photo.name;
    int64_t sum = 0;
    for (uint8_t sample : image->rgb) sum += sample;
    EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(photo.sum),
                1e-4 * static_cast<double>(photo.sum))
        << photo.name;
  }
}

TEST_F(Photographs, AreResizedAsByPil) {
  // SHA-256 of the 227 x 224 pixels, from PIL 13.0.
  constexpr std::pair<const char*, const char*> kDigests[] = {
      {"grace_hopper.bmp", "daf3628f72daa6b9953f00dca230eeea27eaee0146e23458b5dd68394d5c8843"},
      {"sparrow.png", "33dd3dfc585a9ac8b26b37a7eb933f171d30e04ab6b33f3e727357ce36db0f6f"},
      {"camera.png", "39d451d4dc5d53dbdc57768811eef8f541045c5e55f4c5d59c534f54c74c0379"}};
  for (const auto& [name, digest] : kDigests) {
    const auto image = ReadPhoto(name);
    ASSERT_TRUE(image.ok()) << image.status();
    const Image resized = ResizeBilinear(*image, 227, 224);
    const std::string_view bytes(reinterpret_cast<const char*>(resized.rgb.data()), resized.rgb.size());
    EXPECT_EQ(Sha256Hex(bytes), digest) << name;
  }
}

}  // namespace
}  // namespace attune
