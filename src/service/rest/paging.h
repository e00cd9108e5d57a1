// Lists that are answered page by page: each page has a cursor that the client asks for the next one with.
#ifndef ATTUNE_SERVICE_REST_PAGING_H_
#define ATTUNE_SERVICE_REST_PAGING_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/json_schema.h"
#include "service/rest/operation.h"

namespace attune {

// How many items a page has at most: where the client does not say, and where it does.
struct PageSize {
  int64_t by_default = 0, max = 0;
};

// The query parameters of an operation that lists something.
RestParameter CursorParameter();
RestParameter MostParameter(const PageSize& size);
// The schema of a page's next_cursor, which is null on the last page.
JsonSchema NextCursorSchema();
// The schema of PageOf(): `items` have the schema with this name.
JsonSchema PageSchema(const std::string& items, const std::string& schema);

// Returns how many items the client asks for at most.
int64_t MostOf(const RestCall& call, const PageSize& size);
// Returns the cursor that is a number, or `first` if the client asks for the first page. InvalidArgument if
// it is not a number.
absl::StatusOr<int64_t> NumericCursor(const RestCall& call, int64_t first);
// The error of a cursor that cannot be read.
absl::Status UnknownCursor();

// Cuts a list to `most` items; one that is longer tells that there is a further page. Returns the
// next_cursor, which `cursor_after` makes of the last item that is left, or null.
template <typename Item, typename CursorAfter>
JsonSchema CutToPage(std::vector<Item>& found, int64_t most, const CursorAfter& cursor_after) {
  if (std::ssize(found) <= most) return nullptr;
  found.resize(static_cast<size_t>(most));
  return cursor_after(found.back());
}

// The answer with a list under the name `items`.
HttpResponse PageOf(const std::string& items, JsonSchema list, JsonSchema next_cursor);

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_PAGING_H_
