// How devices fare: who waits for them, and how fast they have been.
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "service/access/texts.h"
#include "service/rest/operations.h"

namespace attune {
namespace {

JsonSchema CalibrationSchema() {
  return ObjectSchema({{"time", TimeSchema()},
                       {"gflops_per_core", NumberSchema()},
                       {"int8_gops_per_core", NumberSchema()},
                       {"l2_gb_per_s", NumberSchema()},
                       {"memory_gb_per_s", NumberSchema()}});
}

JsonSchema ToJson(const Calibration& calibration) {
  const Peaks& peaks = calibration.peaks;
  return {{"time", TimeText(calibration.time_ms)},
          {"gflops_per_core", peaks.gflops_per_core},
          {"int8_gops_per_core", peaks.int8_gops_per_core},
          {"l2_gb_per_s", peaks.l2_gb_per_s},
          {"memory_gb_per_s", peaks.memory_gb_per_s}};
}

// The keys of the devices that the caller sees.
std::set<std::string> KeysSeen(const DeviceDirectory& devices, const AccessToken& caller) {
  std::set<std::string> keys;
  for (const fleet_proto::Device& device :
       caller.role == AccessRole::kAdmin ? devices.Devices("") : devices.DevicesFor(caller.tenant, ""))
    keys.insert(device.keys().begin(), device.keys().end());
  return keys;
}

}  // namespace

void AddDeviceStateOperations(const RestParts& parts, RestApi& api) {
  DeviceDirectory& devices = parts.devices;
  FleetStore& fleet = parts.fleet;
  api.schemas["Calibration"] = CalibrationSchema();
  api.operations.push_back(
      {.id = "getQueue",
       .method = "GET",
       .path = "/v1/queue",
       .summary = "Counts the requests that wait for devices, by key.",
       .answers = {{.help = "Keys without waiting requests are left out",
                    .schema = ObjectSchema(
                        {{"waiting", ListSchema(ObjectSchema(
                                         {{"key", TextSchema()}, {"requests", IntegerSchema()}}))}})}},
       .handler = [&devices](const RestCall& call) -> absl::StatusOr<HttpResponse> {
         const std::set<std::string> seen = KeysSeen(devices, call.caller);
         JsonSchema list = JsonSchema::array();
         for (const auto& [key, requests] : devices.Waiting())
           if (seen.contains(key)) list.push_back({{"key", key}, {"requests", requests}});
         return JsonResponse({{"waiting", list}});
       }});
  api.operations.push_back(
      {.id = "listCalibrations",
       .method = "GET",
       .path = "/v1/calibrations",
       .summary = "Lists the peak rates of a device since it was last declared sound.",
       .parameters = {{.name = "device", .place = "query", .help = "The device's id", .is_required = true}},
       .answers = {{.help = "Oldest first; some between the first and the latest are missing",
                    .schema = ObjectSchema({{"calibrations", ListSchema(SchemaNamed("Calibration"))}})}},
       .problems = {404},
       .handler = [&fleet, &devices](const RestCall& call) -> absl::StatusOr<HttpResponse> {
         const std::string device = call.Text("device");
         if (!devices.IsSeen(device, call.caller.tenant) && call.caller.role < AccessRole::kAdmin)
           return absl::NotFoundError(absl::StrCat("there is no device \"", device, "\""));
         ASSIGN_OR_RETURN(const auto calibrations, fleet.Calibrations(device));
         JsonSchema list = JsonSchema::array();
         for (const Calibration& calibration : calibrations) list.push_back(ToJson(calibration));
         return JsonResponse({{"calibrations", list}});
       }});
}

}  // namespace attune
