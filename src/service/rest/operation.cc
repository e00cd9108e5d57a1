#include "service/rest/operation.h"

#include <set>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "http/problem.h"
#include "service/access/texts.h"

namespace attune {
namespace {

constexpr int kMaxCursorLength = 400;

constexpr char kVersion[] = "1.0.0";  // of the interface
constexpr char kTokenScheme[] = "token", kSessionScheme[] = "session";

JsonSchema Content(const JsonSchema& schema, const std::string& type) {
  if (!schema.is_null()) return {{kJsonType, {{"schema", schema}}}};
  return {{type, JsonSchema::object()}};
}

JsonSchema ToJson(const RestParameter& parameter) {
  return {{"name", parameter.name},
          {"in", parameter.place},
          {"description", parameter.help},
          {"required", parameter.is_required || parameter.place == "path"},
          {"schema", parameter.schema}};
}

JsonSchema ToJson(const RestAnswer& answer) {
  JsonSchema json = {{"description", answer.help}};
  for (const RestHeader& header : answer.headers)
    json["headers"][header.name] = {{"description", header.help}, {"schema", TextSchema()}};
  if (!answer.schema.is_null() || !answer.type.empty()) json["content"] = Content(answer.schema, answer.type);
  return json;
}

JsonSchema ToJson(const RestOperation& operation) {
  JsonSchema json = {{"operationId", operation.id}, {"summary", operation.summary}};
  json["security"] = JsonSchema::array();
  if (operation.role) {
    for (const char* scheme : {kTokenScheme, kSessionScheme})
      json["security"].push_back({{scheme, {Name(*operation.role)}}});
  }
  json["parameters"] = JsonSchema::array();
  for (const RestParameter& parameter : operation.parameters) json["parameters"].push_back(ToJson(parameter));
  if (operation.HasTag())
    json["parameters"].push_back(
        ToJson({.name = "If-None-Match", .place = "header", .help = "ETag of the client's copy"}));
  if (!operation.body.is_null() || !operation.body_type.empty())
    json["requestBody"] = {{"required", true}, {"content", Content(operation.body, operation.body_type)}};
  for (const RestAnswer& answer : operation.answers)
    json["responses"][absl::StrCat(answer.status)] = ToJson(answer);
  if (operation.HasTag()) {
    json["responses"]["200"]["headers"]["ETag"] = {{"description", "Changes with the answer"},
                                                   {"schema", TextSchema()}};
    json["responses"]["304"] = {{"description", "Nothing has changed"}};
  }
  for (const int status : operation.Problems())
    json["responses"][absl::StrCat(status)] = {{"$ref", absl::StrCat("#/components/responses/", status)}};
  return json;
}

}  // namespace

std::vector<int> RestOperation::Problems() const {
  // A path or a parameter may be none, and the server may be ending or overloaded.
  std::set<int> statuses = {400, 429, 500, 503};
  if (role) statuses.insert({401, 403});
  if (!body.is_null() || !body_type.empty()) statuses.insert({413, 415});
  statuses.insert(problems.begin(), problems.end());
  return {statuses.begin(), statuses.end()};
}

bool RestOperation::HasTag() const {
  return route.method == "GET" && !answers.empty() && answers.front().status == 200 &&
         !answers.front().schema.is_null();
}

JsonSchema ItemsSchema(const std::string& items, const std::string& schema) {
  return ObjectSchema({{items, ListSchema(SchemaNamed(schema))}});
}

HttpResponse JsonResponse(const JsonSchema& json, int status) {
  // Names that people have given may be no UTF-8.
  return {.status = status,
          .body = json.dump(-1, ' ', false, JsonSchema::error_handler_t::replace) + "\n",
          .content_type = kJsonType};
}

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

JsonSchema ProblemSchema() {
  constexpr int kLeastStatus = 400, kMostStatus = 599;
  return ObjectSchema({{"type", TextSchema()},
                       {"title", TextSchema()},
                       {"status", IntegerSchema(kLeastStatus, kMostStatus)},
                       {"detail", TextSchema()}});
}

JsonSchema OpenApiDocument(const RestApi& api) {
  JsonSchema document = {
      {"openapi", "3.1.0"},
      {"info",
       {{"title", "Attune"},
        {"version", kVersion},
        {"description", "Tunes neural networks for devices. Errors are problems (RFC 9457)."}}}};
  document["paths"] = JsonSchema::object();
  JsonSchema responses = JsonSchema::object();
  for (const RestOperation& operation : api.operations) {
    const std::string path = absl::StrReplaceAll(operation.route.path, {{"...}", "}"}});
    document["paths"][path][absl::AsciiStrToLower(operation.route.method)] = ToJson(operation);
    for (const int status : operation.Problems()) {
      responses[absl::StrCat(status)] = {
          {"description", HttpReason(status)},
          {"content", {{kProblemContentType, {{"schema", SchemaNamed("Problem")}}}}}};
    }
  }
  document["components"] = {
      {"schemas", api.schemas},
      {"responses", responses},
      {"securitySchemes",
       {{kTokenScheme,
         {{"type", "http"},
          {"scheme", "bearer"},
          {"description",
           "A token with one of the roles viewer, member, operator and admin; each may do all that the roles "
           "before it may. The role of an operation is the lowest that may call it."}}},
        {kSessionScheme,
         {{"type", "apiKey"},
          {"in", "cookie"},
          {"name", "attune_session"},
          {"description",
           "A browser's session (POST /v1/session), by TLS with __Host- before its name, and with _ and the "
           "port after it where the address has one. Requests that change something must also send the "
           "header X-CSRF-Token."}}}}}};
  return document;
}

}  // namespace attune
