// The first message of an agent with one device.
#ifndef ATTUNE_FLEET_WIRE_HELLO_FOR_TEST_H_
#define ATTUNE_FLEET_WIRE_HELLO_FOR_TEST_H_

#include <string>

#include "device/codec.h"
#include "fleet/wire/checked_messages.h"
#include "fleet/wire/fleet.pb.h"
#include "target/target.h"

namespace attune {

// With every field set, so that each can be spoiled.
inline fleet_proto::FromAgent HelloOfTest(const std::string& key = "desk",
                                          const std::string& trusted = "ann") {
  fleet_proto::FromAgent message;
  fleet_proto::Hello* hello = message.mutable_hello();
  hello->set_version(kFleetVersion);
  hello->set_program("1.0");
  hello->add_lacks("The system has no Landlock.");
  fleet_proto::AgentDevice* device = hello->add_devices();
  device->set_name("cpu");
  device->add_keys(key);
  device->add_sensors("frequency");
  device->add_trusted_owners(trusted);
  device->set_info(EncodeDevice({.fingerprint = "board",
                                 .target = *TargetByName("znver3"),
                                 .usable = {1},
                                 .processors = {{0, 0, 0}, {1, 1, 0}}}));
  return message;
}

}  // namespace attune

#endif  // ATTUNE_FLEET_WIRE_HELLO_FOR_TEST_H_
