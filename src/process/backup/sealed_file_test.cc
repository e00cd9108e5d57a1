#include "process/backup/sealed_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/status.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using testing::TemporaryFolder;

constexpr char kPassphrase[] = "a passphrase for tests";

absl::Status WriteSealed(const std::string& path, const std::string& content, size_t part) {
  ASSIGN_OR_RETURN(const auto writer, SealedWriter::Create(path, kPassphrase));
  for (size_t i = 0; i < content.size(); i += part) RETURN_IF_ERROR(writer->Write(content.substr(i, part)));
  return writer->Finish();
}

absl::StatusOr<std::string> ReadSealed(const std::string& path, const std::string& passphrase = kPassphrase) {
  ASSIGN_OR_RETURN(const auto reader, SealedReader::Open(path, passphrase));
  std::string content;
  while (true) {
    ASSIGN_OR_RETURN(const std::string_view part, reader->Read(70'000));
    if (part.empty()) return content;
    content.append(part);
  }
}

std::string Content(size_t bytes) {
  std::string content(bytes, '\0');
  for (size_t i = 0; i < bytes; ++i) content[i] = static_cast<char>(i * i >> 3);
  return content;
}

TEST(SealedFile, GivesBackWhatWasWritten) {
  const TemporaryFolder folder;
  for (const size_t bytes :
       {size_t{0}, size_t{1}, size_t{1} << 20, (size_t{1} << 20) + 1, size_t{3'000'000}}) {
    ASSERT_TRUE(WriteSealed(folder / "file", Content(bytes), 123'457).ok());
    EXPECT_EQ(*ReadSealed(folder / "file"), Content(bytes)) << bytes;
  }
}

TEST(SealedFile, ShowsNothingOfItsContent) {
  const TemporaryFolder folder;
  const std::string secret = "-----BEGIN PRIVATE KEY-----";
  ASSERT_TRUE(WriteSealed(folder / "one", secret, 5).ok());
  ASSERT_TRUE(WriteSealed(folder / "two", secret, 5).ok());
  const std::string one = *ReadFile(folder / "one", 1 << 20), two = *ReadFile(folder / "two", 1 << 20);
  EXPECT_EQ(one.find("PRIVATE"), std::string::npos);
  EXPECT_NE(one.substr(kSealBytes), two.substr(kSealBytes));
}

TEST(SealedFile, RefusesWhatWasChanged) {
  const TemporaryFolder folder;
  const std::string path = folder / "file", damaged = folder / "damaged";
  ASSERT_TRUE(WriteSealed(path, Content(2'500'000), 1 << 20).ok());
  const std::string file = *ReadFile(path, 1 << 24);
  EXPECT_TRUE(absl::IsDataLoss(ReadSealed(path, "another passphrase").status()));
  constexpr size_t kPiece = 4 + (size_t{1} << 20) + 16;
  const auto flipped = [&](size_t at) {
    std::string changed = file;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    return changed;
  };
  const std::string first = file.substr(kSealBytes, kPiece),
                    second = file.substr(kSealBytes + kPiece, kPiece);
  for (const std::string& changed :
       {file.substr(0, file.size() - 1), file + "x", file.substr(0, kSealBytes + kPiece),
        file.substr(0, kSealBytes), flipped(10), flipped(kSealBytes), flipped(kSealBytes + 5),
        flipped(file.size() - 1), file.substr(0, kSealBytes) + second + file.substr(kSealBytes + kPiece),
        file.substr(0, kSealBytes) + second + first + file.substr(kSealBytes + 2 * kPiece)}) {
    ASSERT_TRUE(WriteFileAtomically(damaged, changed).ok());
    EXPECT_TRUE(absl::IsDataLoss(ReadSealed(damaged).status())) << ReadSealed(damaged).status();
  }
  ASSERT_TRUE(WriteFileAtomically(damaged, flipped(0)).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(ReadSealed(damaged).status()));
}

}  // namespace
}  // namespace attune
