#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/random.h"
#include "process/server/rest_for_test.h"

namespace attune {
namespace {

// Requests that are right, and wrong in every place.
class RequestMaker {
 public:
  using Json = nlohmann::json;

  RequestMaker(const JsonSchema& definitions, std::vector<std::string> known)
      : definitions_(definitions), known_(std::move(known)) {}

  // A value that mostly follows the schema.
  Json Value(const JsonSchema& schema) {
    if (schema.contains("$ref")) {
      const auto reference = schema["$ref"].get<std::string>();
      return Value(definitions_.at(reference.substr(kSchemaReference.size())));
    }
    if (Happens(10)) return Anything();
    if (schema.contains("enum")) return Json(schema["enum"][Below(schema["enum"].size())]);
    const std::string type = schema["type"].is_string() ? schema["type"].get<std::string>() : "null";
    if (type == "integer" || type == "number") return random_.Integer(0, 20);
    if (type == "string") return known_[Below(known_.size())];
    if (type == "array") return Json::array({Value(schema["items"])});
    Json object = Json::object();
    const JsonSchema properties = schema.value("properties", JsonSchema::object());
    for (const auto& [name, property] : properties.items())
      if (!Happens(10)) object[name] = Value(property);
    if (Happens(20)) object["other"] = Anything();
    return object;
  }
  std::string Text(const JsonSchema& schema) {
    const Json value = Value(schema);
    return value.is_string() ? value.get<std::string>() : value.dump();
  }
  bool Happens(size_t one_in) { return Below(one_in) == 0; }

 private:
  size_t Below(size_t count) {
    return static_cast<size_t>(random_.Integer(0, std::ssize(known_) * 1000)) % count;
  }
  Json Anything() {
    const Json things = {nullptr,
                         true,
                         -1,
                         1e300,
                         INT64_MAX,
                         "",
                         "../x",
                         "<script>",
                         "\xC3\xA4\n",
                         std::string(5000, 'x'),
                         Json::array(),
                         Json::object(),
                         {{"a", {{"b", 1}}}}};
    return things[Below(things.size())];
  }

  const JsonSchema& definitions_;
  const std::vector<std::string> known_;
  Random random_{7};
};

TEST_F(RestTest, RequestsOfAllKindsAreAnsweredAsDocumented) {
  const std::string token = Token("boss", AccessRole::kAdmin);
  const std::string job = Submit(token, MockJob()), digest = Upload(token, "model");
  RequestMaker maker(api_.schemas, {job, digest, Sha256Hex("other"), "in/model", "ann", "none", ""});
  std::map<int, int> statuses;
  for (int round = 0; round < 60; ++round) {
    for (const RestOperation& operation : api_.operations) {
      std::string path = absl::StrReplaceAll(operation.route.path, {{"...}", "}"}}), query;
      Headers headers;
      for (const RestParameter& parameter : operation.parameters) {
        const std::string text =
            absl::StrReplaceAll(maker.Text(parameter.schema),
                                {{"%", "%25"}, {"/", "%2F"}, {"?", "%3F"}, {"\n", "%0A"}, {"&", "%26"}});
        if (parameter.place == "path") path = absl::StrReplaceAll(path, {{"{" + parameter.name + "}", text}});
        if (parameter.place == "query" && !maker.Happens(2))
          absl::StrAppend(&query, "&", parameter.name, "=", text);
        if (parameter.place == "header" && !maker.Happens(4))
          headers[absl::AsciiStrToLower(parameter.name)] = text;
      }
      std::string body;
      if (!operation.body.is_null()) body = maker.Value(operation.body).dump();
      if (!operation.body_type.empty()) body = "bytes", headers["content-type"] = operation.body_type;
      const HttpResponse response = Ask(token, operation.route.method,
                                        absl::StrCat(path, query.empty() ? "" : "?", query), body, headers);
      EXPECT_LT(response.status, 500)
          << operation.route.method << " " << path << " " << body << response.body;
      ++statuses[response.status];
    }
  }
  for (const int status : {200, 201, 204, 400, 404, 409}) EXPECT_GT(statuses[status], 0) << status;
}

}  // namespace
}  // namespace attune
