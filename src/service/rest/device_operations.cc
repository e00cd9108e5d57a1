// The fleet's devices, as tenants see them: who holds one stays untold.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "device/codec.h"
#include "device/contention.h"
#include "fleet/leases/device_owners.h"
#include "service/access/texts.h"
#include "service/rest/operations.h"

namespace attune {
namespace {

// Owners with whom something is shared: tenants, or "*" for all.
JsonSchema OwnersSchema() {
  return {{"type", "array"},
          {"maxItems", kMaxOwners},
          {"items", {{"type", "string"}, {"maxLength", 64}, {"pattern", "^([A-Za-z0-9._-]+|[*])$"}}}};
}

JsonSchema TrustSchema() {
  JsonSchema owners = OwnersSchema();
  owners["items"] = NameSchema();
  return ObjectSchema({{"owners", owners}});
}

JsonSchema DeviceSchema() {
  return ObjectSchema({{"id", TextSchema()},
                       {"owner", TextSchema()},
                       {"shared_with", ListSchema(TextSchema())},
                       {"is_usable", {{"type", "boolean"}}},
                       {"keys", ListSchema(TextSchema())},
                       {"fingerprint", TextSchema()},
                       {"target", TextSchema()},
                       {"processors", IntegerSchema()},
                       {"state", {{"type", "string"}, {"enum", {"free", "held", "drained", "away"}}}},
                       {"load", NumberSchema()},
                       {"disturbance", NumberSchema()},
                       {"is_disturbed", {{"type", "boolean"}}}});
}

const char* StateOf(const fleet_proto::Device& device) {
  if (!device.is_there()) return "away";
  if (!device.drained().empty()) return "drained";
  return device.held_by().empty() ? "free" : "held";
}

template <typename Texts>
std::vector<std::string> ListOf(const Texts& texts) {
  return {texts.begin(), texts.end()};
}

bool SeesAll(const AccessToken& caller) { return caller.role == AccessRole::kAdmin; }

// With whom it is shared is between its owner and those.
JsonSchema ToJson(const fleet_proto::Device& device, const AccessToken& caller,
                  const DeviceDirectory& devices) {
  const bool is_own = device.owner() == caller.tenant || SeesAll(caller);
  JsonSchema json = {{"id", device.id()},
                     {"owner", device.owner()},
                     {"shared_with", is_own ? ListOf(device.shared_with()) : std::vector<std::string>()},
                     {"is_usable", devices.MayUse(device.id(), caller.tenant)},
                     {"keys", ListOf(device.keys())},
                     {"fingerprint", ""},
                     {"target", ""},
                     {"processors", 0},
                     {"state", StateOf(device)},
                     {"load", device.load()},
                     {"disturbance", device.disturbance()},
                     {"is_disturbed", device.disturbance() >= kDisturbedShare}};
  // An agent may know targets that this server does not.
  if (const auto info = DecodeDevice(device.info()); info.ok()) {
    json["fingerprint"] = info->fingerprint;
    json["target"] = info->target.name;
    json["processors"] = info->usable.size();
  }
  return json;
}

HttpResponse List(const DeviceDirectory& devices, const RestCall& call) {
  const std::string key = call.Text("key");
  JsonSchema list = JsonSchema::array();
  for (const fleet_proto::Device& device :
       SeesAll(call.caller) ? devices.Devices("") : devices.DevicesFor(call.caller.tenant, "")) {
    if (key.empty() || std::ranges::find(device.keys(), key) != device.keys().end())
      list.push_back(ToJson(device, call.caller, devices));
  }
  return JsonResponse({{"devices", list}});
}

absl::StatusOr<HttpResponse> Share(DeviceDirectory& devices, const RestCall& call) {
  const auto wanted = [&](std::set<std::string>& owners) { call.body["shared_with"].get_to(owners); };
  ASSIGN_OR_RETURN(const fleet_proto::Device device,
                   devices.Share(call.Text("device"), call.caller.tenant, wanted));
  return JsonResponse(ToJson(device, call.caller, devices));
}

// Ok for the caller's own tenant; another tenant does not show.
absl::Status CheckOwn(const RestCall& call) {
  const std::string name = call.Text("tenant");
  if (name == call.caller.tenant) return absl::OkStatus();
  return absl::NotFoundError(
      absl::StrCat("there is no tenant \"", name, "\" whose trusted owners you may see or change"));
}

HttpResponse TrustJson(const std::set<std::string>& owners) { return JsonResponse({{"owners", owners}}); }

absl::StatusOr<HttpResponse> SetTrust(DeviceDirectory& devices, const RestCall& call) {
  RETURN_IF_ERROR(CheckOwn(call));
  const auto wanted = [&](std::set<std::string>& owners) { call.body["owners"].get_to(owners); };
  ASSIGN_OR_RETURN(const std::set<std::string> owners, devices.SetTrust(call.caller.tenant, wanted));
  return TrustJson(owners);
}

absl::StatusOr<HttpResponse> GetTrust(const DeviceDirectory& devices, const RestCall& call) {
  RETURN_IF_ERROR(CheckOwn(call));
  return TrustJson(devices.TrustOf(call.caller.tenant));
}

RestParameter TenantOfPath() {
  return {.name = "tenant", .place = "path", .help = "The name of the tenant", .schema = NameSchema()};
}

void AddTrustOperations(DeviceDirectory& devices, RestApi& api) {
  api.schemas["Trust"] = TrustSchema();
  const RestAnswer trust = {.help = "The trusted owners; your own devices need no trust",
                            .schema = SchemaNamed("Trust")};
  api.operations.push_back(
      {.id = "getTrust",
       .route = {"GET", "/v1/tenants/{tenant}/trust"},
       .summary = "Lists the owners to whose devices a tenant's models may go, besides its own devices.",
       .parameters = {TenantOfPath()},
       .answers = {trust},
       .problems = {404},
       .handler = [&devices](const RestCall& call) { return GetTrust(devices, call); }});
  api.operations.push_back(
      {.id = "setTrust",
       .route = {"PUT", "/v1/tenants/{tenant}/trust"},
       .summary =
           "Sets the owners to whose devices a tenant's models may go. Work on other devices ends at once.",
       .role = AccessRole::kOperator,
       .parameters = {TenantOfPath()},
       .body = SchemaNamed("Trust"),
       .answers = {trust},
       .problems = {404},
       .handler = [&devices](const RestCall& call) { return SetTrust(devices, call); }});
}

}  // namespace

void AddDeviceOperations(DeviceDirectory& devices, RestApi& api) {
  api.schemas["Device"] = DeviceSchema();
  api.operations.push_back(
      {.id = "listDevices",
       .route = {"GET", "/v1/devices"},
       .summary = "Lists the caller's devices, and those that others share with it; for admins, all devices.",
       .parameters = {{.name = "key", .place = "query", .help = "Only devices with this key"}},
       .answers = {{.help = "The devices", .schema = ItemsSchema("devices", "Device")}},
       .handler = [&devices](const RestCall& call) -> absl::StatusOr<HttpResponse> {
         return List(devices, call);
       }});
  api.operations.push_back(
      {.id = "shareDevice",
       .route = {"PUT", "/v1/device-sharing"},
       .summary = "Sets the tenants with which the caller's tenant shares one of its devices; \"*\" is all. "
                  "Measurements of tenants that lose it end at once.",
       .role = AccessRole::kOperator,
       .parameters = {{.name = "device", .place = "query", .help = "The device's id", .is_required = true}},
       .body = ObjectSchema({{"shared_with", OwnersSchema()}}),
       .answers = {{.help = "The device", .schema = SchemaNamed("Device")}},
       .problems = {404},
       .handler = [&devices](const RestCall& call) { return Share(devices, call); }});
  AddTrustOperations(devices, api);
}

}  // namespace attune
