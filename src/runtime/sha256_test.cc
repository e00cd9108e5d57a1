#include "runtime/sha256.h"

#include <gtest/gtest.h>

#include "base/file.h"
#include "base/random.h"

namespace attune {
namespace {

TEST(RuntimeSha256Test, AgreesWithTheOtherImplementation) {
  Random random(1);
  for (size_t size : {0, 1, 3, 55, 56, 63, 64, 65, 119, 120, 128, 1000}) {
    std::string text(size, '\0');
    for (char& c : text) c = static_cast<char>(random.Next());
    EXPECT_EQ(RuntimeSha256Hex(std::as_bytes(std::span(text))), Sha256Hex(text)) << size;
  }
}

}  // namespace
}  // namespace attune
