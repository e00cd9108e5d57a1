#include "service/wire/job_files.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace attune {
namespace {

const std::string kDigest(64, 'a');

TEST(JobFiles, NamesStayBelowTheJobsFolder) {
  for (const char* name : {"a", "in/model/x.onnx", "out/..x", "a b", "ä"})
    EXPECT_TRUE(CheckJobFileName(name).ok());
  for (const char* name : {"", "/", "/a", "a/", "a//b", "..", "in/../x", "./a", "a\nb", "a\x1b[2J", "\xFF"})
    EXPECT_FALSE(CheckJobFileName(name).ok()) << name;
  const std::string longest(kMostJobFilePart, 'a');
  EXPECT_TRUE(CheckJobFileName(longest + "/" + longest).ok());
  EXPECT_FALSE(CheckJobFileName(longest + "a").ok());
  EXPECT_FALSE(CheckJobFileName("in/" + longest + "a/x").ok());
  EXPECT_FALSE(CheckJobFileName(longest + "/" + longest + "/" + longest).ok());
}

TEST(JobFiles, EachIsThereOnceAndNoneIsAFolder) {
  EXPECT_TRUE(CheckJobFiles({{"a", kDigest, 1}, {"b/c", kDigest, 1}, {"b/d", kDigest, 0}}).ok());
  for (const std::vector<JobFile>& files : {std::vector<JobFile>{{"a", kDigest, 1}, {"a", kDigest, 1}},
                                            {{"a", kDigest, 1}, {"a.b", kDigest, 1}, {"a/b", kDigest, 1}},
                                            {{"a", "b", 1}},
                                            {{"a", kDigest, -1}}})
    EXPECT_FALSE(CheckJobFiles(files).ok());
}

TEST(JobFiles, AllNamesTogetherHaveABound) {
  const std::string folder(kMostJobFilePart, 'f');
  std::vector<JobFile> files;
  for (int i = 0; i < kMostJobFiles && i * kMostJobFilePart <= kMostJobFileNames; ++i)
    files.push_back({absl::StrCat(folder, "/", i), kDigest, 1});
  EXPECT_FALSE(CheckJobFiles(files).ok());
  files.resize(files.size() / 2);
  EXPECT_TRUE(CheckJobFiles(files).ok());
}

TEST(JobFiles, TheWireHasThemAll) {
  const std::vector<JobFile> files = {{"a", kDigest, 1}, {"b/c", kDigest, 1 << 20}};
  EXPECT_EQ(FromWire(ToWire(files)), files);
}

}  // namespace
}  // namespace attune
