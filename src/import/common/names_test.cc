#include "import/common/names.h"

#include <gtest/gtest.h>

#include <string>

namespace attune::importing {
namespace {

TEST(ScopedName, JoinsPathAndName) {
  EXPECT_EQ(ScopedName("", "conv"), "conv");
  EXPECT_EQ(ScopedName("block/", "conv"), "block/conv");
  EXPECT_EQ(ScopedName("", std::string(kMaxNameLength, 'n')), std::string(kMaxNameLength, 'n'));
}

TEST(ScopedName, KeepsTheEndOfWhatIsTooLong) {
  const std::string path(300, 'p');
  const std::string name(300, 'n');
  EXPECT_EQ(ScopedName(path, name), "..." + std::string(kMaxNameLength - 303, 'p') + name);
  EXPECT_EQ(ScopedName(path, std::string(1 << 20, 'n')), "..." + std::string(kMaxNameLength - 3, 'n'));
}

TEST(ScopedName, CutsBetweenCharacters) {
  std::string name;
  while (name.size() < 2 * kMaxNameLength) name += "\xC3\xA9";
  EXPECT_EQ(ScopedName("", name), "..." + name.substr(0, kMaxNameLength - 4));
}

}  // namespace
}  // namespace attune::importing
