#include "base/json_at.h"

#include <gtest/gtest.h>

#include <limits>

namespace attune {
namespace {

using Json = nlohmann::json;

TEST(JsonAtTest, ValuesAreFoundByTheirPlaces) {
  const Json json = {{"a", {{"n", 1.5}, {"t", "x"}, {"f", true}}}, {"list", {7}}};
  EXPECT_EQ(NumberAt(json, "/a/n"), 1.5);
  EXPECT_EQ(NumberAt(json, "/list/0"), 7);
  EXPECT_EQ(TextAt(json, "/a/t"), "x");
  EXPECT_TRUE(FlagAt(json, "/a/f"));
}

// A value of another type is not there, whether the whole is an object, an array or no container.
TEST(JsonAtTest, OthersAreNotThere) {
  const Json values[] = {nullptr,
                         Json(),
                         0,
                         -1,
                         1e300,
                         true,
                         "",
                         "text",
                         Json::array(),
                         Json::object(),
                         {{"x", nullptr}},
                         std::numeric_limits<uint64_t>::max()};
  for (const Json& value : values) {
    for (const Json& json : {value, Json{{"x", value}}, Json::array({value})}) {
      for (const char* place : {"/x", "/x/x", "/0", "/-", "/01", "/x/~0"}) {
        EXPECT_EQ(TextAt(json, place, "none"), value == "text" && TextAt(json, place) == "text"     ? "text"
                                               : value == "" && TextAt(json, place, "none").empty() ? ""
                                                                                                    : "none")
            << json << place;
        NumberAt(json, place);
        FlagAt(json, place);
      }
    }
  }
  EXPECT_EQ(TextAt({{"x", nullptr}}, "/x", "usual"), "usual");
  EXPECT_EQ(NumberAt({{"x", "7"}}, "/x", 3), 3);
  EXPECT_TRUE(FlagAt({{"x", 0}}, "/x", true));
}

}  // namespace
}  // namespace attune
