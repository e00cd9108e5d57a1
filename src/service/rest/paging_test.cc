#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "service/rest/operation.h"

namespace attune {
namespace {

using ::testing::ElementsAre;

constexpr PageSize kPage = {.by_default = 50, .max = 200};

std::string CursorAfter(int item) { return absl::StrCat("after ", item); }

TEST(PagingTest, AParameterTellsItsBounds) {
  EXPECT_EQ(MostParameter(kPage).schema.dump(),
            R"({"type":"integer","minimum":1,"maximum":200,"default":50})");
}

TEST(PagingTest, ACallAsksForAPage) {
  const HttpRequest request;
  EXPECT_EQ(MostOf({.request = request}, kPage), 50);
  EXPECT_EQ(*NumericCursor({.request = request}, 7), 7);
  const RestCall call = {.request = request, .parameters = {{"most", 3}, {"cursor", "12"}}};
  EXPECT_EQ(MostOf(call, kPage), 3);
  EXPECT_EQ(*NumericCursor(call, 7), 12);
  for (const char* cursor : {"x", "12x", "1.5", "99999999999999999999"})
    EXPECT_EQ(NumericCursor({.request = request, .parameters = {{"cursor", cursor}}}, 7).status(),
              UnknownCursor());
}

TEST(PagingTest, AListIsCutToThePage) {
  std::vector<int> items = {1, 2, 3};
  EXPECT_EQ(CutToPage(items, 3, CursorAfter), nullptr);
  EXPECT_THAT(items, ElementsAre(1, 2, 3));
  EXPECT_EQ(CutToPage(items, 2, CursorAfter), "after 2");
  EXPECT_THAT(items, ElementsAre(1, 2));
}

TEST(PagingTest, AnAnswerFollowsItsSchema) {
  const JsonSchema schema = PageSchema("words", "Word"), definitions = {{"Word", {{"type", "string"}}}};
  for (const JsonSchema& next : {JsonSchema("after b"), JsonSchema(nullptr)}) {
    const HttpResponse answer = PageOf("words", {"a", "b", "c"}, next);
    EXPECT_EQ(answer.body, absl::StrCat(R"({"words":["a","b","c"],"next_cursor":)", next.dump(), "}\n"));
    EXPECT_EQ(CheckJson(nlohmann::json::parse(answer.body), schema, definitions), absl::OkStatus());
  }
}

}  // namespace
}  // namespace attune
