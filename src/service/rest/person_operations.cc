// People who have logged in and their sessions: listed, logged out, blocked.
#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "service/access/texts.h"
#include "service/rest/operations.h"

namespace attune {
namespace {

const JsonFields<PersonRecord>& PersonFields() {
  static const JsonFields<PersonRecord> fields = {
      {"id", TextSchema(), &PersonRecord::id},
      {"issuer", TextSchema(), &PersonRecord::issuer},
      {"name", TextSchema(), &PersonRecord::name},
      {"tenant", TextSchema(), &PersonRecord::tenant},
      {"role", TextSchema(), [](const PersonRecord& person) { return Name(person.role); }},
      {"is_blocked", JsonSchema{{"type", "boolean"}}, &PersonRecord::is_blocked},
      {"last_login", TimeSchema(),
       [](const PersonRecord& person) { return TimeText(person.last_login_ms); }}};
  return fields;
}

JsonSchema ToJson(const PersonRecord& person) { return JsonOf(person, PersonFields()); }

const JsonFields<PageSession>& OpenSessionFields() {
  static const JsonFields<PageSession> fields = {
      {"id", TextSchema(), &PageSession::id},
      {"name", TextSchema(), &PageSession::name},
      {"role", TextSchema(), [](const PageSession& session) { return Name(session.role); }},
      {"person", TextSchema(), &PageSession::person},
      {"created", TimeSchema(), [](const PageSession& session) { return TimeText(session.created_ms); }},
      {"expires", TimeSchema(), [](const PageSession& session) { return TimeText(session.expires_ms); }}};
  return fields;
}

JsonSchema ToJson(const PageSession& session) { return JsonOf(session, OpenSessionFields()); }

// The tenant whose things the caller may end; empty: everybody's.
std::string ReachOf(const AccessToken& caller) {
  return caller.role == AccessRole::kAdmin ? "" : caller.tenant;
}

absl::StatusOr<HttpResponse> ListPeople(PeopleStore& people, const RestCall& call) {
  ASSIGN_OR_RETURN(const auto found, people.People(call.caller.tenant));
  return JsonResponse({{"people", JsonList(found, ToJson)}});
}

absl::StatusOr<HttpResponse> LogOut(PeopleStore& people, const RestCall& call) {
  const bool is_blocked = call.body["is_blocked"].get<bool>();
  RETURN_IF_ERROR(
      people.LogOutPerson(call.Text("id"), ReachOf(call.caller), is_blocked, SystemClock().WallMillis()));
  Log(LogLevel::kInfo, is_blocked ? "person is blocked" : "person is logged out", "person", call.Text("id"),
      "by", call.caller.id);
  return HttpResponse{.status = 204};
}

absl::StatusOr<HttpResponse> ListSessions(PeopleStore& people, const RestCall& call) {
  ASSIGN_OR_RETURN(const auto found, people.Sessions(call.caller.tenant, SystemClock().WallMillis()));
  return JsonResponse({{"sessions", JsonList(found, ToJson)}});
}

absl::StatusOr<HttpResponse> EndSession(PeopleStore& people, const RestCall& call) {
  RETURN_IF_ERROR(people.EndSession(call.Text("id"), ReachOf(call.caller)));
  return HttpResponse{.status = 204};
}

}  // namespace

void AddPersonOperations(PeopleStore& people, RestApi& api) {
  api.schemas["Person"] = SchemaOf(PersonFields());
  api.schemas["OpenSession"] = SchemaOf(OpenSessionFields());
  api.operations.push_back(
      {.id = "listPeople",
       .route = {"GET", "/v1/people"},
       .summary = "Lists the tenant's people who have logged in at an identity provider.",
       .role = AccessRole::kOperator,
       .answers = {{.help = "By name", .schema = ItemsSchema("people", "Person")}},
       .handler = [&people](const RestCall& call) { return ListPeople(people, call); }});
  api.operations.push_back({.id = "logOutPerson",
                            .route = {"POST", "/v1/people/{id}/logout"},
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
       .route = {"GET", "/v1/sessions"},
       .summary = "Lists the tenant's valid sessions.",
       .role = AccessRole::kOperator,
       .answers = {{.help = "Latest first", .schema = ItemsSchema("sessions", "OpenSession")}},
       .handler = [&people](const RestCall& call) { return ListSessions(people, call); }});
  api.operations.push_back({.id = "endSessionOf",
                            .route = {"DELETE", "/v1/sessions/{id}"},
                            .summary = "Ends a session, from the next request on.",
                            .role = AccessRole::kOperator,
                            .parameters = {{.name = "id", .place = "path", .help = "The id of the session"}},
                            .answers = {{.status = 204, .help = "The session has ended"}},
                            .problems = {404},
                            .handler = [&people](const RestCall& call) { return EndSession(people, call); }});
}

}  // namespace attune
