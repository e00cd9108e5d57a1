#include "kinds/program_protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace attune {
namespace {

using ::testing::HasSubstr;

TEST(ProgramProtocolTest, SaysWhatIsWrongWithAnAnswer) {
  const JobPlace place = {.id = "one", .folder = "/tmp", .processors = 2, .devices = {"device/a"}};
  const std::pair<std::string, const char*> cases[] = {
      {"[]", "not a JSON object"},
      {R"({"done": {}} x)", "not a JSON object"},
      {R"({"done": )" + std::string(1000, '[') + std::string(1000, ']') + "}", "nested"},
      {R"({})", "not exactly one"},
      {R"({"done": {}, "failed": "x"})", "not exactly one"},
      {R"({"done": 1})", "done: is not an object"},
      {R"({"failed": {}})", "failed: is not a text"},
      {R"({"progress": 1})", "progress: is not a text"},
      {R"({"done": {}, "remaining": 1})", "remaining: is not a setting"},
      {R"({"stage": {"name": "a"}, "remaining": -1})", "remaining: is not a number"},
      {R"({"stage": "a"})", "stage: is not an object"},
      {R"({"stage": {}})", "stage: name: is missing"},
      {R"({"stage": {"name": "a\nb"}})", "stage: name: is too long or not printable"},
      {R"({"stage": {"name": "a", "memory_bytes": -1}})", "memory_bytes: is not a whole number"},
      {R"({"stage": {"name": "a", "seconds": [1, 2]}})", "seconds: is neither"},
      {R"({"stage": {"name": "a", "seconds": [3, 2, 4]}})", "seconds: is neither"},
      {R"({"stage": {"name": "a", "needs": {}}})", "needs: is not a list"},
      {R"({"stage": {"name": "a", "needs": [{}]}})", "needs: key: is missing"},
      {R"({"stage": {"name": "a", "needs": [{"key": "device", "exlusive": true}]}})",
       "exlusive: is not a setting"},
      {R"({"stage": {"name": "a", "needs": [{"key": "device", "amount": 0}]}})",
       "amount: is not a whole number"},
      {R"({"stage": {"name": "a", "needs": [{"key": "processors", "amount": 3}]}})",
       "asks for 3 processors and can get 2"},
      {R"({"stage": {"name": "a", "needs": [{"key": "device/b"}]}})", "which is not there"},
      {R"({"stage": {"name": "a", "needs": [{"key": "device"}, {"key": "device/a"}]}})",
       "has \"device/a\" twice"},
  };
  for (const auto& [line, error] : cases) {
    EXPECT_THAT(ParseProgramAnswer(line, place).status().ToString(), HasSubstr(error)) << line;
  }
  EXPECT_THAT(
      ParseProgramAnswer(R"({"stage": {"name": "a", "needs": [{"key": "device"}]}})", {}).status().ToString(),
      HasSubstr("asks for a device, and there is none"));
}

}  // namespace
}  // namespace attune
