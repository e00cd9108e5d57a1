// Reads a file that describes a sweep: YAML that people write.
//
//   commands: [tune, bench]
//   options: {model: net.onnx, threads: 1}
//   product:
//     tune.trials-per-task: [20, 100, 400]
//     tune.batch: [16, 32]
//   zip:
//     - {tune.strategy: [annealing, random], tune.random-share: [0.1, 1]}
//   exclude:
//     - {tune.batch: 16, tune.trials-per-task: 400}
#ifndef ATTUNE_SWEEP_SWEEP_FILE_H_
#define ATTUNE_SWEEP_SWEEP_FILE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace attune {

// The name of the option that says which model a run is about.
inline constexpr char kModelOption[] = "model";

// A number, a text, true or false, null (the option is left out), or a list of these for an option that can
// be repeated.
using SweepValue = nlohmann::json;

// Options that change together from run to run; of a product, each axis has a single one.
struct SweepAxis {
  std::string key;  // of the file: product or zip
  std::vector<std::string> options;
  std::vector<std::vector<SweepValue>> points;  // each with a value for each option
};

// A run is left out if each of these options has one of its values here.
using SweepExclusion = std::vector<std::pair<std::string, std::vector<SweepValue>>>;

// An agent that offers this machine as a device while the sweep runs.
struct SweepAgent {
  std::string key;              // for the option `on`
  std::vector<int> processors;  // where it runs; empty: anywhere

  bool operator==(const SweepAgent&) const = default;
};

struct SweepFile {
  std::string path;                   // for messages
  std::string base;                   // the absolute folder that relative paths start from
  std::vector<std::string> commands;  // of each run, in the order of kSweepCommands
  std::string output;                 // the sweep's folder; empty: not given
  std::string records;                // "own", "shared", or a database
  int64_t repeat = 1;                 // how often each combination is run
  double most_seconds = 0;            // for one command of a run; 0: any
  std::vector<std::pair<std::string, SweepValue>> options;  // the same in each run
  std::vector<SweepAxis> axes;                              // the last one changes from run to run
  std::vector<SweepExclusion> exclusions;
  std::vector<SweepAgent> agents;
};

// The commands that a sweep can run, in the order in which one works on what the one before it has made.
inline constexpr const char* kSweepCommands[] = {"quantize", "tune", "compile", "bench"};

// Ok if these are some of them, at least one, in their order.
absl::Status CheckSweepCommands(const std::vector<std::string>& commands);

// The values that `records` may have beside the name of a database.
inline constexpr char kOwnRecords[] = "own", kSharedRecords[] = "shared";

// Errors name the file and the key. Does not check the options; see command_options.h.
absl::StatusOr<SweepFile> ReadSweepFile(const std::string& path);
// The same for a text; `path` is used in messages.
absl::StatusOr<SweepFile> ParseSweepFile(const std::string& text, const std::string& path,
                                         const std::string& base);

}  // namespace attune

#endif  // ATTUNE_SWEEP_SWEEP_FILE_H_
