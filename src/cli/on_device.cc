#include "cli/on_device.h"

namespace attune {

void AddOnFlag(CLI::App& command, std::string& key) {
  command
      .add_option("--on", key,
                  "measure on a device of the fleet with this key (default: cpu, this machine); attune fleet list "
                  "shows the keys")
      ->type_name("KEY");
}

}  // namespace attune
