// The fleet's devices, as tenants see them: who holds one stays untold.
#include "device/codec.h"
#include "service/rest/operations.h"
#include "service/rest/texts.h"

namespace attune {
namespace {

JsonSchema DeviceSchema() {
  return ObjectSchema({{"id", TextSchema()},
                       {"keys", ListSchema(TextSchema())},
                       {"fingerprint", TextSchema()},
                       {"target", TextSchema()},
                       {"processors", IntegerSchema()},
                       {"state", {{"type", "string"}, {"enum", {"free", "held", "drained", "away"}}}},
                       {"load", NumberSchema()}});
}

const char* StateOf(const fleet_proto::Device& device) {
  if (!device.is_there()) return "away";
  if (!device.drained().empty()) return "drained";
  return device.held_by().empty() ? "free" : "held";
}

JsonSchema ToJson(const fleet_proto::Device& device) {
  JsonSchema json = {
      {"id", device.id()},    {"keys", std::vector<std::string>(device.keys().begin(), device.keys().end())},
      {"fingerprint", ""},    {"target", ""},
      {"processors", 0},      {"state", StateOf(device)},
      {"load", device.load()}};
  // An agent may know targets that this server does not.
  if (const auto info = DecodeDevice(device.info()); info.ok()) {
    json["fingerprint"] = info->fingerprint;
    json["target"] = info->target.name;
    json["processors"] = info->usable.size();
  }
  return json;
}

}  // namespace

void AddDeviceOperations(const RestParts& parts, RestApi& api) {
  Dispatcher& dispatcher = parts.dispatcher;
  api.schemas["Device"] = DeviceSchema();
  api.operations.push_back(
      {.id = "listDevices",
       .method = "GET",
       .path = "/v1/devices",
       .summary = "The devices that jobs can measure on.",
       .parameters = {{.name = "key", .place = "query", .help = "Those with this key alone"}},
       .answers = {{.help = "The devices",
                    .schema = ObjectSchema({{"devices", ListSchema(SchemaNamed("Device"))}})}},
       .handler = [&dispatcher](const RestCall& call) -> absl::StatusOr<HttpResponse> {
         JsonSchema list = JsonSchema::array();
         for (const fleet_proto::Device& device : dispatcher.Devices(call.Text("key")))
           list.push_back(ToJson(device));
         return JsonResponse({{"devices", list}});
       }});
}

}  // namespace attune
