// attune fleet invite|join|list|show|drain|resume|remove|share|unshare|trust|distrust|revoke|authority|
//   calibrate|top|slurm
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/enrolment.h"
#include "cli/fleet_command.h"
#include "cli/fleet_view.h"
#include "fleet/client/fleet_client.h"
#include "fleet/client/joined_fleet.h"
#include "fleet/identity/credentials.h"
#include "fleet/leases/device_owners.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

struct FleetFlags {
  EnrolmentFlags enrolment;
  std::string role = "agent", owner, folder;
  std::string device, member, reason, key, json;
  std::vector<std::string> owners;
  bool with_all = false;
};

absl::Status Invite(const FleetFlags& flags) {
  ASSIGN_OR_RETURN(const auto fleet, JoinedFleet());
  ASSIGN_OR_RETURN(const std::string invitation, fleet->Invite(flags.role, flags.owner));
  PrintResult(invitation + "\n");
  PrintNote("the invitation counts once, for ten minutes; anyone who has it can enrol as its owner");
  return absl::OkStatus();
}

absl::Status Join(FleetFlags flags) {
  if (flags.folder.empty()) {
    ASSIGN_OR_RETURN(flags.folder, DefaultCredentialsFolder(getenv));
  }
  if (LoadCredentials(flags.folder).ok())
    return InvalidInput(flags.folder,
                        ": holds credentials already; remove them first, or name another folder");
  if (flags.enrolment.invitation.empty() && flags.enrolment.invitation_file.empty())
    return InvalidInput("name the file of an invitation with --invitation-file, or - to paste it");
  RETURN_IF_ERROR(Enrol(flags.enrolment, flags.folder));
  ASSIGN_OR_RETURN(const FleetCredentials credentials, LoadCredentials(flags.folder));
  PrintResult(absl::StrCat("joined the fleet of ", credentials.server, "; the credentials are in ",
                           flags.folder, "\n"));
  return absl::OkStatus();
}

absl::Status List(const FleetFlags& flags) {
  ASSIGN_OR_RETURN(const auto fleet, JoinedFleet());
  ASSIGN_OR_RETURN(const std::vector<proto::Device> devices, fleet->Overview(flags.key));
  if (!flags.json.empty()) RETURN_IF_ERROR(WriteJson({{"devices", DevicesJson(devices)}}, flags.json));
  if (flags.json != "-")
    PrintResult(devices.empty() ? "no devices; invite one with attune fleet invite\n"
                                : DevicesTable(devices));
  return absl::OkStatus();
}

absl::Status Show(const FleetFlags& flags) {
  ASSIGN_OR_RETURN(const auto fleet, JoinedFleet());
  ASSIGN_OR_RETURN(const std::vector<proto::Device> devices, fleet->Overview(flags.device));
  if (devices.empty())
    return absl::NotFoundError(absl::StrCat("no device ", flags.device, "; attune fleet list shows all"));
  ASSIGN_OR_RETURN(const proto::CalibrationState calibrations, fleet->Calibrations(devices.front().id()));
  if (!flags.json.empty()) {
    Json device = DevicesJson(devices).front();
    device["calibrations"] = CalibrationsJson(calibrations);
    RETURN_IF_ERROR(WriteJson(device, flags.json));
  }
  if (flags.json != "-") PrintResult(DeviceText(devices.front()) + CalibrationsTable(calibrations));
  return absl::OkStatus();
}

absl::Status Change(const FleetFlags& flags, proto::DeviceChange::Kind kind) {
  ASSIGN_OR_RETURN(const auto fleet, JoinedFleet());
  proto::DeviceChange change;
  change.set_id(flags.device);
  change.set_kind(kind);
  change.set_reason(flags.reason);
  return fleet->Change(change).status();
}

// "ann, bob" or "all".
std::string NamesOf(const std::vector<std::string>& owners) {
  const bool has_all = std::ranges::find(owners, kEveryOwner) != owners.end();
  return WithoutControls(has_all ? "all" : absl::StrJoin(owners, ", "));
}

absl::Status Share(const FleetFlags& flags, bool is_shared) {
  std::vector<std::string> owners = flags.owners;
  if (flags.with_all) owners.emplace_back(kEveryOwner);
  if (owners.empty()) return InvalidInput("name the owners with --with OWNER, or --with-all");
  ASSIGN_OR_RETURN(const auto fleet, JoinedFleet());
  using Owners = std::vector<std::string>;
  ASSIGN_OR_RETURN(const proto::Device device,
                   fleet->Share(flags.device, is_shared ? owners : Owners(), is_shared ? Owners() : owners));
  const Owners shared(device.shared_with().begin(), device.shared_with().end());
  PrintResult(absl::StrCat(flags.device, shared.empty() ? " is its owner's alone" : " is shared with ",
                           NamesOf(shared), "\n"));
  return absl::OkStatus();
}

absl::Status Trust(const std::vector<std::string>& add, const std::vector<std::string>& remove) {
  ASSIGN_OR_RETURN(const auto fleet, JoinedFleet());
  ASSIGN_OR_RETURN(const std::vector<std::string> trusted, fleet->Trust(add, remove));
  PrintResult(absl::StrCat(
      "your models go to your own devices",
      trusted.empty() ? " alone" : " and to those that these owners share: ", NamesOf(trusted), "\n"));
  return absl::OkStatus();
}

absl::Status Revoke(const FleetFlags& flags) {
  ASSIGN_OR_RETURN(const auto fleet, JoinedFleet());
  return fleet->Revoke(flags.member, flags.reason);
}

using FlagsPointer = std::shared_ptr<FleetFlags>;

void AddMembers(CLI::App& fleet, const FlagsPointer& flags, Action& action) {
  CLI::App* invite = fleet.add_subcommand("invite", "Print an invitation for a new member");
  invite
      ->add_option("--role", flags->role,
                   "agent (a device), runner (runs jobs), client (uses both) or operator (default: agent)")
      ->check(CLI::IsMember({"agent", "runner", "client", "operator"}));
  invite->add_option("--owner", flags->owner, "owner of the device, or of the work")->required();
  invite->callback([flags, &action] { action = [flags] { return Invite(*flags); }; });

  CLI::App* join = fleet.add_subcommand("join", "Join a fleet as a client or operator");
  AddEnrolmentFlags(*join, flags->enrolment);
  join->add_option("--credentials", flags->folder,
                   "the folder for the credentials (default: $ATTUNE_FLEET, or attune/fleet among the user's "
                   "settings)");
  join->callback([flags, &action] { action = [flags] { return Join(*flags); }; });

  CLI::App* revoke = fleet.add_subcommand("revoke", "Remove a member: its certificates no longer count");
  revoke->add_option("MEMBER", flags->member, "its id, as for its device")->required();
  revoke->add_option("--reason", flags->reason, "the reason, for people")
      ->default_val("revoked by an operator");
  revoke->callback([flags, &action] { action = [flags] { return Revoke(*flags); }; });
}

void AddDevices(CLI::App& fleet, const FlagsPointer& flags, Action& action) {
  CLI::App* list = fleet.add_subcommand("list", "Show the devices");
  list->add_option("--key", flags->key, "only those with this key");
  list->add_option("--json", flags->json, "write them to this file, or - for stdout")->type_name("FILE");
  list->callback([flags, &action] { action = [flags] { return List(*flags); }; });

  CLI::App* show = fleet.add_subcommand("show", "Show a device");
  show->add_option("--json", flags->json, "write it to this file, or - for stdout")->type_name("FILE");
  show->add_option("DEVICE", flags->device, "its id")->required();
  show->callback([flags, &action] { action = [flags] { return Show(*flags); }; });

  struct ChangeCommand {
    const char *name, *help;
    proto::DeviceChange::Kind kind;
  };
  constexpr ChangeCommand kChanges[] = {
      {"drain", "Stop giving a device out once its lease has ended", proto::DeviceChange::DRAIN},
      {"resume", "Give a drained device out again", proto::DeviceChange::RESUME},
      {"remove", "Forget a device", proto::DeviceChange::REMOVE}};
  for (const ChangeCommand& change : kChanges) {
    CLI::App* command = fleet.add_subcommand(change.name, change.help);
    command->add_option("DEVICE", flags->device, "its id, as attune fleet list shows it")->required();
    if (change.kind == proto::DeviceChange::DRAIN)
      command->add_option("--reason", flags->reason, "the reason, for people")
          ->default_val("drained by an operator");
    command->callback(
        [flags, kind = change.kind, &action] { action = [flags, kind] { return Change(*flags, kind); }; });
  }
}

void AddSharing(CLI::App& fleet, const FlagsPointer& flags, Action& action) {
  struct ShareCommand {
    const char *name, *help;
    bool is_shared;
  };
  constexpr ShareCommand kShares[] = {
      {"share", "Let others measure on one of your devices", true},
      {"unshare", "No longer let others measure on one of your devices; what they measure there now ends",
       false}};
  for (const ShareCommand& share : kShares) {
    CLI::App* command = fleet.add_subcommand(share.name, share.help);
    command->add_option("DEVICE", flags->device, "its id, as attune fleet list shows it")->required();
    command->add_option("--with", flags->owners, "an owner; may be repeated")
        ->type_name("OWNER")
        ->allow_extra_args(false);
    command->add_flag("--with-all", flags->with_all, "all owners");
    command->callback([flags, is_shared = share.is_shared, &action] {
      action = [flags, is_shared] { return Share(*flags, is_shared); };
    });
  }
  CLI::App* trust = fleet.add_subcommand(
      "trust", "Let your models go to devices that others share; without names, show the trusted owners");
  trust->add_option("OWNER", flags->owners, "owners of the devices");
  trust->callback([flags, &action] { action = [flags] { return Trust(flags->owners, {}); }; });
  CLI::App* distrust = fleet.add_subcommand("distrust", "No longer let your models go to devices of others");
  distrust->add_option("OWNER", flags->owners, "owners of the devices")->required();
  distrust->callback([flags, &action] { action = [flags] { return Trust({}, flags->owners); }; });
}

}  // namespace

void AddFleetCommand(CLI::App& app, Action& action) {
  CLI::App* fleet = app.add_subcommand("fleet", "Invite members to a fleet, join it, and manage its devices");
  fleet->require_subcommand(1);
  const auto flags = std::make_shared<FleetFlags>();
  AddMembers(*fleet, flags, action);
  AddDevices(*fleet, flags, action);
  AddSharing(*fleet, flags, action);
  AddFleetAuthorityCommand(*fleet, action);
  AddFleetCalibrateCommand(*fleet, action);
  AddFleetTopCommand(*fleet, action);
  AddFleetSlurmCommand(*fleet, action);
}

}  // namespace attune
