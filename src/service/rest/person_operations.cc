// People who have logged in and their sessions: listed, logged out, blocked.
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "service/access/texts.h"
#include "service/rest/operations.h"

namespace attune {
namespace {

JsonSchema PersonSchema() {
  return ObjectSchema({{"id", TextSchema()},
                       {"issuer", TextSchema()},
                       {"name", TextSchema()},
                       {"tenant", TextSchema()},
                       {"role", TextSchema()},
                       {"is_blocked", {{"type", "boolean"}}},
                       {"last_login", TimeSchema()}});
}

JsonSchema ToJson(const PersonRecord& person) {
  return {{"id", person.id},
          {"issuer", person.issuer},
          {"name", person.name},
          {"tenant", person.tenant},
          {"role", Name(person.role)},
          {"is_blocked", person.is_blocked},
          {"last_login", TimeText(person.last_login_ms)}};
}

JsonSchema OpenSessionSchema() {
  return ObjectSchema({{"id", TextSchema()},
                       {"name", TextSchema()},
                       {"role", TextSchema()},
                       {"person", TextSchema()},
                       {"created", TimeSchema()},
                       {"expires", TimeSchema()}});
}

JsonSchema ToJson(const PageSession& session) {
  return {{"id", session.id},
          {"name", session.name},
          {"role", Name(session.role)},
          {"person", session.person},
          {"created", TimeText(session.created_ms)},
          {"expires", TimeText(session.expires_ms)}};
}

// The tenant whose things the caller may end; empty: everybody's.
std::string ReachOf(const AccessToken& caller) {
  return caller.role == AccessRole::kAdmin ? "" : caller.tenant;
}

absl::StatusOr<HttpResponse> ListPeople(PersonStore& people, const RestCall& call) {
  ASSIGN_OR_RETURN(const auto found, people.People(call.caller.tenant));
  JsonSchema list = JsonSchema::array();
  for (const PersonRecord& person : found) list.push_back(ToJson(person));
  return JsonResponse({{"people", list}});
}

absl::StatusOr<HttpResponse> LogOut(PersonStore& people, const RestCall& call) {
  const bool is_blocked = call.body["is_blocked"].get<bool>();
  RETURN_IF_ERROR(
      people.LogOutPerson(call.Text("id"), ReachOf(call.caller), is_blocked, SystemClock().WallMillis()));
  Log(LogLevel::kInfo, is_blocked ? "person is blocked" : "person is logged out", "person", call.Text("id"),
      "by", call.caller.id);
  return HttpResponse{.status = 204};
}

absl::StatusOr<HttpResponse> ListSessions(SessionStore& sessions, const RestCall& call) {
  ASSIGN_OR_RETURN(const auto found, sessions.Sessions(call.caller.tenant, SystemClock().WallMillis()));
  JsonSchema list = JsonSchema::array();
  for (const PageSession& session : found) list.push_back(ToJson(session));
  return JsonResponse({{"sessions", list}});
}

absl::StatusOr<HttpResponse> EndSession(SessionStore& sessions, const RestCall& call) {
  RETURN_IF_ERROR(sessions.EndSession(call.Text("id"), ReachOf(call.caller)));
  return HttpResponse{.status = 204};
}

}  // namespace

void AddPersonOperations(const RestParts& parts, RestApi& api) {
  PersonStore& people = parts.people;
  SessionStore& sessions = parts.sessions;
  api.schemas["Person"] = PersonSchema();
  api.schemas["OpenSession"] = OpenSessionSchema();
  api.operations.push_back(
      {.id = "listPeople",
       .method = "GET",
       .path = "/v1/people",
       .summary = "Lists the tenant's people who have logged in at an identity provider.",
       .role = AccessRole::kOperator,
       .answers = {{.help = "By name",
                    .schema = ObjectSchema({{"people", ListSchema(SchemaNamed("Person"))}})}},
       .handler = [&people](const RestCall& call) { return ListPeople(people, call); }});
  api.operations.push_back({.id = "logOutPerson",
                            .method = "POST",
                            .path = "/v1/people/{id}/logout",
                            .summary = "Ends a person's sessions and refuses the tokens issued to them so "
                                       "far; for a blocked person, later tokens, too.",
                            .role = AccessRole::kOperator,
                            .parameters = {{.name = "id", .place = "path", .help = "The id of the person"}},
                            .body = ObjectSchema({{"is_blocked", {{"type", "boolean"}}}}),
                            .answers = {{.status = 204, .help = "Effective from the next request on"}},
                            .problems = {404},
                            .handler = [&people](const RestCall& call) { return LogOut(people, call); }});
  api.operations.push_back(
      {.id = "listSessions",
       .method = "GET",
       .path = "/v1/sessions",
       .summary = "Lists the tenant's valid sessions.",
       .role = AccessRole::kOperator,
       .answers = {{.help = "Latest first",
                    .schema = ObjectSchema({{"sessions", ListSchema(SchemaNamed("OpenSession"))}})}},
       .handler = [&sessions](const RestCall& call) { return ListSessions(sessions, call); }});
  api.operations.push_back(
      {.id = "endSessionOf",
       .method = "DELETE",
       .path = "/v1/sessions/{id}",
       .summary = "Ends a session, from the next request on.",
       .role = AccessRole::kOperator,
       .parameters = {{.name = "id", .place = "path", .help = "The id of the session"}},
       .answers = {{.status = 204, .help = "The session has ended"}},
       .problems = {404},
       .handler = [&sessions](const RestCall& call) { return EndSession(sessions, call); }});
}

}  // namespace attune
