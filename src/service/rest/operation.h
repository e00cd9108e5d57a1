// An operation of the REST interface, declared once: requests are routed and checked by it, and the OpenAPI
// document is written from it. Operations that list something share pages and cursors.
#ifndef ATTUNE_SERVICE_REST_OPERATION_H_
#define ATTUNE_SERVICE_REST_OPERATION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/json_schema.h"
#include "http/message.h"
#include "nlohmann/json.hpp"
#include "service/access/access.h"

namespace attune {

inline constexpr int kMaxParameterLength = 1000;  // unless a parameter has a schema of its own
inline constexpr char kJsonType[] = "application/json";

// A request that is authorized, and valid for its operation.
struct RestCall {
  const HttpRequest& request;
  AccessToken caller = {};                               // empty where no token is needed
  nlohmann::json parameters = nlohmann::json::object();  // of all places, by name; without those left out
  nlohmann::json body = nullptr;                         // null where the operation takes no JSON

  std::string Text(const char* parameter) const { return parameters.value(parameter, ""); }
};

// A handler's error is answered as a problem of the status that fits its code.
using RestHandler = std::function<absl::StatusOr<HttpResponse>(const RestCall&)>;

struct RestParameter {
  std::string name = {};
  std::string place = {};  // "path", "query" or "header"
  std::string help = {};
  JsonSchema schema = {{"type", "string"}, {"maxLength", kMaxParameterLength}};
  bool is_required = false;
};

struct RestHeader {
  std::string name = {}, help = {};
};

struct RestAnswer {
  int status = 200;
  std::string help = {};
  JsonSchema schema = nullptr;  // of the body; null: it is no JSON, or there is none
  std::string type = {};        // of a body that is no JSON; empty: there is none
  std::vector<RestHeader> headers = {};
};

// As in HttpRoute.
struct RestRoute {
  std::string method = {}, path = {};
};

struct RestOperation {
  std::string id = {};  // for clients that are generated: "submitJob"
  RestRoute route = {};
  std::string summary = {};                              // a sentence
  std::optional<AccessRole> role = AccessRole::kViewer;  // the lowest role that may call it; nothing: no
                                                         // token is needed
  std::vector<RestParameter> parameters = {};
  JsonSchema body = nullptr;   // the schema; null: it is no JSON, or there is none
  std::string body_type = {};  // of a body that is no JSON; empty: there is none
  size_t most_body_bytes = 64 << 10;
  std::vector<RestAnswer> answers = {};
  std::vector<int> problems = {};  // statuses of errors, beyond those that follow from the rest
  bool changes_nothing = false;    // though its method is not GET, so that it is not recorded
  RestHandler handler = {};

  bool IsRecorded() const { return role && route.method != "GET" && !changes_nothing; }
  // All statuses of errors.
  std::vector<int> Problems() const;
  // Whether answers are in JSON and have an ETag, so that a peer need not fetch them again.
  bool HasTag() const;
};

struct RestApi {
  std::vector<RestOperation> operations = {};
  JsonSchema schemas = JsonSchema::object();  // by name
};

// The fields of the JSON object that shows a T to clients, each with its schema and its value.
template <typename T>
struct JsonField {
  std::string name;
  JsonSchema schema;
  std::function<JsonSchema(const T&)> value;
};
template <typename T>
using JsonFields = std::vector<JsonField<T>>;

// `more`: the schemas of other fields, which come last.
template <typename T>
JsonSchema SchemaOf(const JsonFields<T>& fields, const JsonSchema& more = JsonSchema::object()) {
  JsonSchema properties = JsonSchema::object();
  for (const JsonField<T>& field : fields) properties[field.name] = field.schema;
  properties.update(more);
  return ObjectSchema(properties);
}
template <typename T>
JsonSchema JsonOf(const T& item, const JsonFields<T>& fields) {
  JsonSchema json = JsonSchema::object();
  for (const JsonField<T>& field : fields) json[field.name] = field.value(item);
  return json;
}
template <typename T>
JsonSchema JsonList(const std::vector<T>& items, JsonSchema (*to_json)(const T&)) {
  JsonSchema list = JsonSchema::array();
  for (const T& item : items) list.push_back(to_json(item));
  return list;
}
// The schema of an object with such a list alone.
JsonSchema ItemsSchema(const std::string& items, const std::string& schema);

HttpResponse JsonResponse(const JsonSchema& json, int status = 200);

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

// By the specification 3.1.0. The same interface gives the same document.
JsonSchema OpenApiDocument(const RestApi& api);

// The schema of what Problem() answers (http/problem.h).
JsonSchema ProblemSchema();

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_OPERATION_H_
