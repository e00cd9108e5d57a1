// How devices fare: who waits for them, and how fast they have been.
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "service/access/texts.h"
#include "service/rest/operations.h"

namespace attune {
namespace {

const JsonFields<Calibration>& CalibrationFields() {
  static const JsonFields<Calibration> fields = {
      {"time", TimeSchema(), [](const Calibration& calibration) { return TimeText(calibration.time_ms); }},
      {"gflops_per_core", NumberSchema(),
       [](const Calibration& calibration) { return calibration.peaks.gflops_per_core; }},
      {"int8_gops_per_core", NumberSchema(),
       [](const Calibration& calibration) { return calibration.peaks.int8_gops_per_core; }},
      {"l2_gb_per_s", NumberSchema(),
       [](const Calibration& calibration) { return calibration.peaks.l2_gb_per_s; }},
      {"memory_gb_per_s", NumberSchema(),
       [](const Calibration& calibration) { return calibration.peaks.memory_gb_per_s; }}};
  return fields;
}

JsonSchema ToJson(const Calibration& calibration) { return JsonOf(calibration, CalibrationFields()); }

// The keys of the devices that the caller sees.
std::set<std::string> KeysSeen(const DeviceDirectory& devices, const AccessToken& caller) {
  std::set<std::string> keys;
  for (const fleet_proto::Device& device :
       caller.role == AccessRole::kAdmin ? devices.Devices("") : devices.DevicesFor(caller.tenant, ""))
    keys.insert(device.keys().begin(), device.keys().end());
  return keys;
}

}  // namespace

void AddDeviceStateOperations(const DeviceDirectory& devices, FleetStore& fleet, RestApi& api) {
  api.schemas["Calibration"] = SchemaOf(CalibrationFields());
  api.operations.push_back(
      {.id = "getQueue",
       .route = {"GET", "/v1/queue"},
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
       .route = {"GET", "/v1/calibrations"},
       .summary = "Lists the peak rates of a device since it was last declared sound.",
       .parameters = {{.name = "device", .place = "query", .help = "The device's id", .is_required = true}},
       .answers = {{.help = "Oldest first; some between the first and the latest are missing",
                    .schema = ItemsSchema("calibrations", "Calibration")}},
       .problems = {404},
       .handler = [&fleet, &devices](const RestCall& call) -> absl::StatusOr<HttpResponse> {
         const std::string device = call.Text("device");
         if (!devices.IsSeen(device, call.caller.tenant) && call.caller.role < AccessRole::kAdmin)
           return absl::NotFoundError(absl::StrCat("there is no device \"", device, "\""));
         ASSIGN_OR_RETURN(const auto calibrations, fleet.Calibrations(device));
         return JsonResponse({{"calibrations", JsonList(calibrations, ToJson)}});
       }});
}

}  // namespace attune
