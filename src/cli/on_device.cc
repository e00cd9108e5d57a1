#include "cli/on_device.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "device/contention.h"

namespace attune {

void AddOnFlag(CLI::App& command, std::string& key) {
  command
      .add_option("--on", key,
                  "measure on a device of the fleet with this key (default: this machine); attune fleet list "
                  "shows the keys")
      ->type_name("KEY");
}

void NoteDisturbance(double waited_share) {
  if (waited_share < kDisturbedShare) return;
  PrintNote(
      absl::StrFormat("other programs had the processors for some %.0f %% of the time, so that these times "
                      "are too long; measure again while nothing else runs",
                      100 * std::min(waited_share, 1.0)));
}

}  // namespace attune
