// How devices fare: who waits for them, and how fast they have been.
#include "base/status.h"
#include "service/rest/operations.h"
#include "service/rest/texts.h"

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

}  // namespace

void AddDeviceStateOperations(const RestParts& parts, RestApi& api) {
  Dispatcher& dispatcher = parts.dispatcher;
  FleetStore& fleet = parts.fleet;
  api.schemas["Calibration"] = CalibrationSchema();
  api.operations.push_back(
      {.id = "getQueue",
       .method = "GET",
       .path = "/v1/queue",
       .summary = "How many requests wait for devices, by the key that they ask for.",
       .answers = {{.help = "Keys that nobody waits for are left out",
                    .schema = ObjectSchema(
                        {{"waiting", ListSchema(ObjectSchema(
                                         {{"key", TextSchema()}, {"requests", IntegerSchema()}}))}})}},
       .handler = [&dispatcher](const RestCall&) -> absl::StatusOr<HttpResponse> {
         JsonSchema list = JsonSchema::array();
         for (const auto& [key, requests] : dispatcher.Waiting())
           list.push_back({{"key", key}, {"requests", requests}});
         return JsonResponse({{"waiting", list}});
       }});
  api.operations.push_back(
      {.id = "listCalibrations",
       .method = "GET",
       .path = "/v1/calibrations",
       .summary = "The rates that a device has had, since it was last declared sound.",
       .parameters = {{.name = "device", .place = "query", .help = "The device's id", .is_required = true}},
       .answers = {{.help = "The oldest first; some between the first and the latest ones are missing",
                    .schema = ObjectSchema({{"calibrations", ListSchema(SchemaNamed("Calibration"))}})}},
       .handler = [&fleet](const RestCall& call) -> absl::StatusOr<HttpResponse> {
         ASSIGN_OR_RETURN(const auto calibrations, fleet.Calibrations(call.Text("device")));
         JsonSchema list = JsonSchema::array();
         for (const Calibration& calibration : calibrations) list.push_back(ToJson(calibration));
         return JsonResponse({{"calibrations", list}});
       }});
}

}  // namespace attune
