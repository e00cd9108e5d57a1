#include "service/identity/issuers_file.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/file.h"
#include "base/json_object.h"
#include "base/printable.h"
#include "base/private_file.h"
#include "base/status.h"
#include "http/oidc/issuer_endpoints.h"
#include "http/oidc/jwt.h"
#include "service/access/texts.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostFileBytes = 1 << 20, kMostSecretBytes = 4096;
constexpr int64_t kMostSkewSeconds = 300;

JsonSchema RuleSchema() {
  return ObjectSchema(
      {{"claim", TextSchema()}, {"values", {{"type", "object"}}}, {"otherwise", TextSchema()}},
      {"claim", "values", "otherwise"});
}

JsonSchema FileSchema() {
  const JsonSchema algorithm = {{"type", "string"}, {"enum", JwtAlgorithms()}};
  return ObjectSchema(
      {{"url", TextSchema()},
       {"issuers",
        ListSchema(ObjectSchema(
            {{"name", NameSchema()},
             {"issuer", TextSchema()},
             {"client_id", TextSchema()},
             {"client_secret_file", TextSchema()},
             {"cli_client_id", TextSchema()},
             {"audiences", ListSchema(TextSchema())},
             {"scope", TextSchema()},
             {"algorithms", ListSchema(algorithm)},
             {"tenant", RuleSchema()},
             {"role", RuleSchema()},
             {"name_claim", TextSchema()},
             {"clock_skew_seconds", {{"type", "integer"}, {"minimum", 0}, {"maximum", kMostSkewSeconds}}},
             {"authorities_file", TextSchema()}},
            {"client_secret_file", "cli_client_id", "audiences", "scope", "algorithms", "name_claim",
             "clock_skew_seconds", "authorities_file"}))}});
}

absl::StatusOr<ClaimRule> ReadRule(const Json& json, const std::string& where) {
  ClaimRule rule = {.claim = json.value("claim", ""), .otherwise = json.value("otherwise", "")};
  if (json.contains("values")) {
    for (const auto& [value, name] : json["values"].items()) {
      if (!name.is_string()) return InvalidInput(where, "/values/", Printable(value), ": should be a text");
      rule.values[value] = name.get<std::string>();
    }
  }
  if (rule.claim.empty() && rule.otherwise.empty())
    return InvalidInput(where, ": needs a claim, or otherwise");
  return rule;
}

absl::Status CheckRoles(const ClaimRule& rule, const std::string& where) {
  if (!rule.otherwise.empty())
    RETURN_IF_ERROR(Annotate(AccessRoleNamed(rule.otherwise).status(), absl::StrCat(where, "/otherwise")));
  for (const auto& [value, name] : rule.values)
    RETURN_IF_ERROR(
        Annotate(AccessRoleNamed(name).status(), absl::StrCat(where, "/values/", Printable(value))));
  return absl::OkStatus();
}

absl::Status CheckTenants(const ClaimRule& rule, const std::string& where) {
  if (!rule.otherwise.empty())
    RETURN_IF_ERROR(CheckJson(rule.otherwise, NameSchema(), {}, absl::StrCat(where, "/otherwise")));
  for (const auto& [value, name] : rule.values)
    RETURN_IF_ERROR(CheckJson(name, NameSchema(), {}, absl::StrCat(where, "/values/", value)));
  return absl::OkStatus();
}

std::string TrimmedText(const std::string& text) { return std::string(absl::StripAsciiWhitespace(text)); }

absl::StatusOr<OidcIssuer> ReadIssuer(const Json& json, const std::string& where, const std::string& folder) {
  OidcIssuer issuer = {.name = json["name"].get<std::string>(),
                       .issuer = json["issuer"].get<std::string>(),
                       .client_id = json["client_id"].get<std::string>(),
                       .scope = json.value("scope", "openid profile email offline_access"),
                       .name_claim = json.value("name_claim", "name"),
                       .skew_ms = 1000 * json.value("clock_skew_seconds", int64_t{60})};
  if (!IsSafeUrl(issuer.issuer))
    return InvalidInput(where, "/issuer: should begin with https://, or be on this machine");
  issuer.cli_client_id = json.value("cli_client_id", issuer.client_id);
  issuer.audiences =
      json.value("audiences", std::vector<std::string>{issuer.client_id, issuer.cli_client_id});
  issuer.algorithms = json.value("algorithms", JwtAlgorithms());
  ASSIGN_OR_RETURN(issuer.tenant, ReadRule(json["tenant"], absl::StrCat(where, "/tenant")));
  RETURN_IF_ERROR(CheckTenants(issuer.tenant, absl::StrCat(where, "/tenant")));
  ASSIGN_OR_RETURN(issuer.role, ReadRule(json["role"], absl::StrCat(where, "/role")));
  RETURN_IF_ERROR(CheckRoles(issuer.role, absl::StrCat(where, "/role")));
  const auto file = [&](const char* name) {
    return (std::filesystem::path(folder) / json[name].get<std::string>()).string();
  };
  if (json.contains("client_secret_file")) {
    ASSIGN_OR_RETURN(const std::string secret, ReadPrivateFile(file("client_secret_file"), kMostSecretBytes));
    issuer.client_secret = TrimmedText(secret);
  }
  if (json.contains("authorities_file")) {
    ASSIGN_OR_RETURN(issuer.authorities_pem, ReadFile(file("authorities_file"), kMostFileBytes));
  }
  return issuer;
}

absl::StatusOr<OidcIssuers> ReadIssuers(const std::string& text, const std::string& folder) {
  ASSIGN_OR_RETURN(const Json json, ParseJsonObject<Json>(text));
  RETURN_IF_ERROR(CheckJson(json, FileSchema(), {}));
  OidcIssuers read = {.url = std::string(absl::StripSuffix(json["url"].get<std::string>(), "/"))};
  if (!IsSafeUrl(read.url))
    return InvalidInput("/url: should be https://…, by which browsers reach this server, or on this machine");
  std::set<std::string> names;
  for (size_t i = 0; i < json["issuers"].size(); ++i) {
    const std::string where = absl::StrCat("/issuers/", i);
    ASSIGN_OR_RETURN(OidcIssuer issuer, ReadIssuer(json["issuers"][i], where, folder));
    if (!names.insert(issuer.name).second || !names.insert(issuer.issuer).second)
      return InvalidInput(where, ": another one has the same name or issuer");
    read.issuers.push_back(std::move(issuer));
  }
  return read;
}

// The texts of a claim: one, or several in a list.
std::vector<std::string> TextsOf(const Json& claims, const std::string& name) {
  const Json* found = nullptr;
  if (!name.starts_with('/')) {
    const auto place = claims.find(name);
    if (place != claims.end()) found = &*place;
  } else if (const Json::json_pointer pointer(name); claims.contains(pointer)) {
    found = &claims[pointer];
  }
  std::vector<std::string> texts;
  if (found == nullptr) return texts;
  for (const Json& one : found->is_array() ? *found : Json::array({*found}))
    if (one.is_string()) texts.push_back(one.get<std::string>());
  return texts;
}

// The names that the rule makes of the claims.
std::vector<std::string> NamesBy(const ClaimRule& rule, const Json& claims) {
  std::vector<std::string> names;
  if (!rule.claim.empty()) {
    for (const std::string& text : TextsOf(claims, rule.claim)) {
      if (rule.values.empty()) {
        names.push_back(text);
      } else if (const auto found = rule.values.find(text); found != rule.values.end()) {
        names.push_back(found->second);
      }
    }
  }
  if (names.empty() && !rule.otherwise.empty()) names.push_back(rule.otherwise);
  std::ranges::sort(names);
  const auto rest = std::ranges::unique(names);
  names.erase(rest.begin(), rest.end());
  return names;
}

}  // namespace

absl::StatusOr<OidcIssuers> ReadIssuersFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, kMostFileBytes));
  absl::StatusOr<OidcIssuers> read =
      ReadIssuers(text, std::filesystem::absolute(path).parent_path().string());
  if (!read.ok()) return Annotate(read.status(), path);
  return read;
}

absl::StatusOr<KnownPerson> PersonOfClaims(const OidcIssuer& issuer, const Json& claims) {
  constexpr size_t kMostName = 100;
  KnownPerson person = {.issuer = issuer.name,
                        .subject = TextClaim(claims, "sub"),
                        .name = TextClaim(claims, issuer.name_claim.c_str())};
  if (person.name.empty()) person.name = person.subject;
  person.name.resize(std::min(person.name.size(), kMostName));
  const std::vector<std::string> tenants = NamesBy(issuer.tenant, claims);
  if (tenants.size() != 1)
    return absl::UnauthenticatedError(absl::StrCat("issuer ", issuer.name, " names ",
                                                   tenants.empty() ? "no tenant" : "several tenants",
                                                   " for this person; ask the administrator"));
  person.tenant = tenants.front();
  // A tenant may come from the issuer as it is.
  if (!CheckJson(person.tenant, NameSchema(), {}).ok())
    return absl::UnauthenticatedError(absl::StrCat("issuer ", issuer.name, " names the tenant \"",
                                                   Printable(person.tenant),
                                                   "\", which is not a name of a tenant"));
  std::optional<AccessRole> role;
  for (const std::string& name : NamesBy(issuer.role, claims))
    if (const auto known = AccessRoleNamed(name); known.ok()) role = std::max(role.value_or(*known), *known);
  if (!role)
    return absl::UnauthenticatedError(
        absl::StrCat("issuer ", issuer.name, " names no role for this person; ask the administrator"));
  person.role = *role;
  return person;
}

}  // namespace attune
