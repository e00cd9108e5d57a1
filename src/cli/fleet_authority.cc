#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"
#include "cli/common/output.h"
#include "cli/fleet_command.h"
#include "cli/live_text.h"
#include "fleet/client/fleet_client.h"
#include "fleet/client/joined_fleet.h"

namespace attune {
namespace {

namespace proto = fleet_proto;
using Member = proto::AuthorityState::Member;

const char* StateText(Member::State state) {
  switch (state) {
    case Member::CONNECTED:
      return "connected";
    case Member::AWAY:
      return "away";
    default:
      return "without devices";
  }
}

Json StateJson(const proto::AuthorityState& state) {
  Json json = {{"created_ms", state.created_ms()}, {"is_being_replaced", state.replaced_from_ms() != 0}};
  if (state.replaced_from_ms() != 0) json["replaced_from_ms"] = state.replaced_from_ms();
  json["behind"] = Json::array();
  for (const Member& member : state.behind())
    json["behind"].push_back({{"id", member.id()},
                              {"role", member.role()},
                              {"owner", member.owner()},
                              {"state", StateText(member.state())}});
  return json;
}

std::string Describe(const proto::AuthorityState& state) {
  const std::string created =
      absl::StrCat("the fleet's authority was made on ", FormatTime(state.created_ms()));
  if (state.replaced_from_ms() == 0) return absl::StrCat(created, " and is not being replaced\n");
  const std::string replaced =
      absl::StrCat(created, " and is being replaced since ", FormatTime(state.replaced_from_ms()), "\n");
  if (state.behind().empty())
    return absl::StrCat(replaced, "all members have renewed; attune fleet authority finish ends it\n");
  std::vector<std::vector<std::string>> rows = {{"not renewed yet", "role", "owner", "state"}};
  for (const Member& member : state.behind())
    rows.push_back({WithoutControls(member.id()), WithoutControls(member.role()),
                    WithoutControls(member.owner()), StateText(member.state())});
  return absl::StrCat(replaced, FormatTable(rows, {false, false, false, false}));
}

absl::Status Show(const std::string& json) {
  ASSIGN_OR_RETURN(const auto fleet, JoinedFleet());
  ASSIGN_OR_RETURN(const proto::AuthorityState state, fleet->Authority());
  if (!json.empty()) RETURN_IF_ERROR(WriteJson(StateJson(state), json));
  if (json != "-") PrintResult(Describe(state));
  return absl::OkStatus();
}

absl::Status Change(proto::AuthorityRequest::Change change, bool is_forced) {
  ASSIGN_OR_RETURN(const auto fleet, JoinedFleet());
  // Its answer renews this operator's own certificate if that is not of the new authority yet.
  RETURN_IF_ERROR(fleet->Authority().status());
  ASSIGN_OR_RETURN(const proto::AuthorityState state, fleet->Authority(change, is_forced));
  PrintResult(Describe(state));
  return absl::OkStatus();
}

}  // namespace

void AddFleetAuthorityCommand(CLI::App& fleet, Action& action) {
  struct Flags {
    std::string json;
    bool is_forced = false;
  };
  const auto flags = std::make_shared<Flags>();
  CLI::App* authority = fleet.add_subcommand(
      "authority", "Replace the key that signs the certificates of the server and all members");
  authority->require_subcommand(1);

  CLI::App* show = authority->add_subcommand("show",
                                             "Show whether it is being replaced, since when, and which "
                                             "members have not renewed their certificates yet");
  show->add_option("--json", flags->json, "write it to this file, or - for stdout")->type_name("FILE");
  show->callback([flags, &action] { action = [flags] { return Show(flags->json); }; });

  CLI::App* replace = authority->add_subcommand(
      "replace", "Make a new key; agents renew at once, others with their next command");
  replace->callback([&action] { action = [] { return Change(proto::AuthorityRequest::REPLACE, false); }; });

  CLI::App* finish = authority->add_subcommand(
      "finish", "Trust only the new key, once all members have renewed their certificates");
  finish->add_flag("--force", flags->is_forced, "throw out members that have not; they must enrol again");
  finish->callback([flags, &action] {
    action = [flags] { return Change(proto::AuthorityRequest::FINISH, flags->is_forced); };
  });
}

}  // namespace attune
