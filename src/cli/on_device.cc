#include "cli/on_device.h"

namespace attune {

void AddOnFlag(CLI::App& command, std::string& key) {
  command
      .add_option(
          "--on", key,
          "measure on a device of the fleet with this key (default: cpu, this machine); attune fleet list "
          "shows the keys")
      ->type_name("KEY");
}

void NoteDisturbance(const std::string& sentence) {
  if (!sentence.empty()) PrintNote(sentence);
}

void AddTimes(double waited_share, const RunTimes& times, Json& json) {
  const bool is_here = times.wall_seconds > 0;
  json["wall_seconds"] = is_here ? Json(times.wall_seconds) : Json();
  json["processor_seconds"] = is_here ? Json(times.processor_seconds) : Json();
  json["waited_share"] = waited_share;
}

}  // namespace attune
