#include "base/sha256.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

TEST(Sha256Test, PiecesGiveWhatAllBytesGive) {
  std::string bytes;
  Sha256 sum;
  for (int i = 0; i < 300; ++i) {
    const std::string piece(static_cast<size_t>(i), static_cast<char>(i));
    sum.Add(piece);
    bytes += piece;
  }
  EXPECT_EQ(sum.Finish(), Sha256Hex(bytes));
  EXPECT_EQ(Sha256().Finish(), Sha256Hex(""));
}

TEST(Sha256Test, AFileIsReadAsAWhole) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "file", bytes(1'000'000, 'x');
  ASSERT_TRUE(WriteFileAtomically(path, bytes).ok());
  const absl::StatusOr<InputFile> file = OpenInputFile(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(*Sha256OfFile(*file), Sha256Hex(bytes));
  std::filesystem::resize_file(path, 10);
  EXPECT_THAT(Sha256OfFile(*file).status().ToString(), ::testing::HasSubstr("ends too early"));
}

}  // namespace
}  // namespace attune
