#include "base/json_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

const JsonSchema& Definitions() {
  static const JsonSchema definitions = {
      {"File", ObjectSchema({{"name", {{"type", "string"}, {"minLength", 1}, {"maxLength", 3}}},
                             {"digest", {{"type", "string"}, {"pattern", "^[0-9a-f]{2}$"}}}},
                            {"digest"})}};
  return definitions;
}

const JsonSchema& Schema() {
  static const JsonSchema schema =
      ObjectSchema({{"files", {{"type", "array"}, {"items", SchemaNamed("File")}, {"maxItems", 2}}},
                    {"kind", {{"type", "string"}, {"enum", {"tuning", "mock"}}}},
                    {"priority", {{"type", {"integer", "null"}}, {"minimum", -5}, {"maximum", 5}}},
                    {"settings", {{"type", "object"}}}},
                   {"files", "priority", "settings"});
  return schema;
}

std::string Fault(const std::string& text) {
  return std::string(CheckJson(Json::parse(text), Schema(), Definitions()).message());
}

TEST(JsonSchema, TakesWhatFollowsIt) {
  EXPECT_EQ(Fault(R"({"kind": "mock"})"), "");
  EXPECT_EQ(Fault(R"({"kind": "mock", "priority": 5.0})"), "");
  EXPECT_EQ(Fault(R"({"kind": "mock", "priority": null, "settings": {"any": [1]},
                      "files": [{"name": "äöü"}, {"name": "a", "digest": "0f"}]})"),
            "");
}

TEST(JsonSchema, NamesWhatIsWrongByItsPointer) {
  EXPECT_EQ(Fault("[]"), "the body: should be of type object, and is array");
  EXPECT_EQ(Fault("{}"), "/kind: is missing");
  EXPECT_EQ(Fault(R"({"kind": "x"})"), R"(/kind: should be one of "tuning", "mock")");
  EXPECT_EQ(Fault(R"({"kind": "mock", "a/b": 1})"), "/a~1b: is not a field of this object");
  EXPECT_EQ(Fault(R"({"kind": "mock", "priority": 1.5})"),
            "/priority: should be of type integer or null, and is number");
  EXPECT_EQ(Fault(R"({"kind": "mock", "priority": -6})"), "/priority: should be at least -5");
  EXPECT_EQ(Fault(R"({"kind": "mock", "files": [{"name": "a"}, {"name": ""}]})"),
            "/files/1/name: should have at least 1 characters");
  EXPECT_EQ(Fault(R"({"kind": "mock", "files": [{"name": "abcd"}]})"),
            "/files/0/name: should have at most 3 characters");
  EXPECT_THAT(Fault(R"({"kind": "mock", "files": [{"name": "a", "digest": "0F"}]})"),
              HasSubstr("/files/0/digest: \"0F\" should match"));
  EXPECT_THAT(Fault(R"({"kind": "mock", "files": [1, 2, 3]})"), HasSubstr("at most 2 entries"));
}

}  // namespace
}  // namespace attune
