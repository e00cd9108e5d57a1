#include "service/rest/paging.h"

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "service/access/texts.h"

namespace attune {
namespace {

constexpr int kMaxCursorLength = 400;

}  // namespace

RestParameter CursorParameter() {
  return {.name = "cursor", .place = "query", .help = "next_cursor of the previous page"};
}

RestParameter MostParameter(const PageSize& size) {
  JsonSchema schema = IntegerSchema(1, size.max);
  schema["default"] = size.by_default;
  return {.name = "most", .place = "query", .help = "Maximum number of items", .schema = std::move(schema)};
}

JsonSchema NextCursorSchema() { return OrNull(TextSchema(kMaxCursorLength)); }

JsonSchema PageSchema(const std::string& items, const std::string& schema) {
  return ObjectSchema({{items, ListSchema(SchemaNamed(schema))}, {"next_cursor", NextCursorSchema()}});
}

int64_t MostOf(const RestCall& call, const PageSize& size) {
  return call.parameters.value("most", size.by_default);
}

absl::StatusOr<int64_t> NumericCursor(const RestCall& call, int64_t first) {
  const std::string cursor = call.Text("cursor");
  int64_t number = first;
  if (!cursor.empty() && !absl::SimpleAtoi(cursor, &number)) return UnknownCursor();
  return number;
}

absl::Status UnknownCursor() { return InvalidInput("cursor: not one that this server has given"); }

HttpResponse PageOf(const std::string& items, JsonSchema list, JsonSchema next_cursor) {
  return JsonResponse({{items, std::move(list)}, {"next_cursor", std::move(next_cursor)}});
}

}  // namespace attune
