#include "io/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/temporary_folder.h"
#include "io/read_npy_for_test.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string File(const std::string& header, const std::string& data, char version = 1) {
  std::string out = "\x93NUMPY";
  out += {version, '\0', static_cast<char>(header.size()), '\0'};
  if (version > 1) out += {'\0', '\0'};
  return out + header + data;
}

TEST(Npy, RoundTripsEveryTypeAndRank) {
  for (int i = 0; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    for (const Shape& shape : {Shape{}, Shape{3}, Shape{2, 3}, Shape{2, 0, 3}, Shape{1, 2, 1, 4}}) {
      Tensor tensor(dtype, shape);
      for (int64_t j = 0; j < tensor.num_elements(); ++j) tensor.SetDouble(j, static_cast<double>(j % 5));
      const absl::StatusOr<Tensor> back = ParseNpy(SerializeNpy(tensor), "a.npy");
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(back->shape(), shape);
      EXPECT_EQ(back->dtype(), dtype == DType::kBF16 ? DType::kF32 : dtype);
      for (int64_t j = 0; j < tensor.num_elements(); ++j) EXPECT_EQ(back->ToDouble(j), tensor.ToDouble(j));
    }
  }
}

TEST(Npy, WritesAnAlignedHeaderThatNumPyReads) {
  const std::string bytes = SerializeNpy(Tensor(DType::kF32, {3}));
  EXPECT_EQ((bytes.size() - 12) % 64, 0u);
  EXPECT_THAT(bytes, HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"));
  EXPECT_THAT(SerializeNpy(Tensor(DType::kU8, {3, 1})), HasSubstr("'descr': '|u1'"));
}

TEST(Npy, ReadsAllVersionsAndBothByteOrders) {
  const std::string little = "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }\n";
  for (char version : {1, 2, 3}) {
    const auto tensor = ParseNpy(File(little, {1, 0, 2, 0}, version), "a.npy");
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    EXPECT_THAT(tensor->ToInts(), ElementsAre(1, 2));
  }
  const std::string big = "{\"shape\": (2L,), \"fortran_order\": False, \"descr\": \">i2\"}";
  const auto tensor = ParseNpy(File(big, {1, 0, 2, 0}), "a.npy");
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_THAT(tensor->ToInts(), ElementsAre(256, 512));
}

TEST(Npy, ConvertsFortranOrder) {
  const std::string header = "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n";
  const auto tensor = ParseNpy(File(header, {0, 3, 1, 4, 2, 5}), "a.npy");
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_THAT(tensor->ToInts(), ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(Npy, RefusesWhatIsDamagedAndSaysWhy) {
  const auto message = [](const std::string& bytes) {
    return std::string(ParseNpy(bytes, "bad.npy").status().message());
  };
  const auto header = [](const std::string& descr, const std::string& shape) {
    return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }";
  };
  EXPECT_EQ(message(""), "bad.npy: not a .npy file");
  EXPECT_EQ(message("\x93NUMPY\x01"), "bad.npy: not a .npy file");
  EXPECT_EQ(message(File("{}", "", 4)), "bad.npy: version 4 of the .npy format");
  EXPECT_EQ(message(File("{}", "")), "bad.npy: a damaged header");
  EXPECT_EQ(message(File("{}", "").substr(0, 11)), "bad.npy: cut short in its header");
  EXPECT_EQ(message(File(header("'|O'", "()"), "")), "bad.npy: element type \"|O\"");
  EXPECT_EQ(message(File(header("[('a', '<f4')]", "()"), "")), "bad.npy: structured or missing element type");
  EXPECT_EQ(message(File(header("'<f4'", "(-1,)"), "")), "bad.npy: a damaged shape");
  EXPECT_EQ(message(File(header("'<f4'", "(2,)"), "1234567")),
            "bad.npy: its shape (2) of f32 needs more than the 7 bytes behind the header");
  EXPECT_THAT(message(File(header("'<f4'", "(4611686018427387904, 4611686018427387904)"), "")),
              HasSubstr("needs more than the 0 bytes"));
}

TEST(Npy, SurvivesEveryTruncationAndByteFlip) {
  const std::string good = SerializeNpy(Tensor(DType::kF32, {2, 3}));
  for (size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(ParseNpy(good.substr(0, size), "a").ok());
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x41);
    const auto tensor = ParseNpy(bad, "a");
    if (tensor.ok()) EXPECT_LE(tensor->num_bytes(), 24);
  }
}

TEST(Npy, WritesToAFile) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "npy_test.npy";
  const Tensor tensor = Tensor::FromInts(std::vector<int64_t>{4, 5, 6});
  ASSERT_TRUE(WriteNpy(path, tensor).ok());
  const auto back = ReadNpy(path);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_TRUE(back->Identical(tensor));
  EXPECT_THAT(ReadNpy(path + ".not").status().message(), HasSubstr("npy_test.npy.not: cannot open"));
  EXPECT_FALSE(WriteNpy("/nonexistent/a.npy", tensor).ok());
}

}  // namespace
}  // namespace attune
