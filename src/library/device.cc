#include "library/device.h"

#include <utility>

#include "api/target_device.h"
#include "base/status.h"
#include "fleet/client/joined_fleet.h"
#include "library/failure.h"
#include "library/texts.h"

using attune::library::CheckNotNull;
using attune::library::Guard;
using attune::library::NewText;
using attune::library::ServiceOf;

attune_code attune_device_in_fleet(const char* key, const char* server, attune_device** device,
                                   attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(key, device));
    ASSIGN_OR_RETURN(auto service, attune::MeasuringOn(key, attune::library::TextOr(server)));
    *device = service == nullptr ? nullptr : new attune_device{std::move(service)};
    return absl::OkStatus();
  });
}

void attune_device_free(attune_device* device) { delete device; }

attune_code attune_device_fingerprint(const attune_device* device, char** text, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(text));
    *text = NewText(attune::FingerprintOfDevice(ServiceOf(device).get()));
    return absl::OkStatus();
  });
}

attune_code attune_device_cpu(const attune_device* device, char** text, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(text));
    ASSIGN_OR_RETURN(const attune::Target target, attune::TargetOfDevice(ServiceOf(device).get()));
    *text = NewText(target.name);
    return absl::OkStatus();
  });
}

attune_code attune_device_processors(const attune_device* device, int* processors, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(processors));
    ASSIGN_OR_RETURN(*processors, attune::ProcessorsOfDevice(ServiceOf(device).get()));
    return absl::OkStatus();
  });
}
