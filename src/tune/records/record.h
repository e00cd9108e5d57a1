// What the tuner writes down: records, one for each measurement of one candidate, and the runs that made
// them.
//
// Records come from files of other people too. Whatever enters a database has passed Normalize() below: names
// are printable ASCII, texts are UTF-8, numbers are in range, and nothing is long without bound.
#ifndef ATTUNE_TUNE_RECORDS_RECORD_H_
#define ATTUNE_TUNE_RECORDS_RECORD_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "measure/outcome.h"
#include "tune/task/task_text.h"

namespace attune {

// The version of the JSON form, which counts up when a reader of the old one would misunderstand the new.
inline constexpr int kRecordSchema = 1;

inline constexpr size_t kMaxTaskBytes = 256 << 10;
inline constexpr size_t kMaxReasonBytes = 8 << 10;  // longer ones are cut
inline constexpr size_t kMaxModelBytes = 4 << 10;   // likewise
inline constexpr size_t kMaxNameBytes = 256;
inline constexpr size_t kMaxConfigNumbers = 256;
inline constexpr size_t kMaxJsonBytes = 16 << 10;  // of a run's options, and of its stages

// The numbers of a config by name: lower/strategy.h's Config.
using RecordConfig = std::map<std::string, int64_t>;

// Record::search of what was measured again at the end of a run: a config that is significantly faster
// than the default, or the default. The times of all others may owe something to selection bias.
inline constexpr std::string_view kConfirmation = "confirm";

struct Record {
  // What was measured. Features for cost models are no part of it: they are computed from the config anew, by
  // whichever version of them is in use.
  std::string task;  // the canonical text of the workload
  double flops = 0;  // of one execution of the task; 0: unknown
  std::string strategy;
  int strategy_version = 0;
  RecordConfig config;

  // Where: DeviceFingerprint(), and on how many threads.
  std::string device;
  int threads = 1;

  // What came out: a timing, which is all zeros unless the outcome is ok, or a reason, empty if it is.
  TrialOutcome outcome = TrialOutcome::kOk;
  Timing timing;
  std::string reason;

  // How it came about.
  std::string run;     // the id of the run
  int64_t trial = 0;   // its number in the run
  std::string search;  // the search strategy that proposed it
  std::string compiler_version;
  std::string code_digest;  // of the kernel's object code; empty where none came about
  CacheMode cache = CacheMode::kWarm;
  int64_t time_ms = 0;  // when it was measured, in milliseconds since 1970, UTC
  double build_seconds = 0;
  double measure_seconds = 0;
};

enum class RunState : uint8_t { kRunning, kFinished, kInterrupted };
std::string_view Name(RunState state);  // "running", "finished", "interrupted"
std::optional<RunState> ParseRunState(std::string_view name);

// One tuning run. What happened in it is told by a file of events elsewhere.
struct TuningRun {
  std::string id;
  std::string model;  // the file's name, for people
  std::string model_digest;
  std::string device;
  int threads = 1;
  std::string options = "{}";  // the command line and options, a JSON object
  int64_t start_ms = 0;        // as Record::time_ms
  int64_t end_ms = 0;          // 0 while it runs
  RunState state = RunState::kRunning;
  double untuned_seconds = 0;  // one inference before and after; 0: not measured
  double tuned_seconds = 0;
  std::string stage_seconds = "{}";  // a JSON object
};

// Brings a record or run into the one form that is stored: a reason and a model's name are cut and made
// UTF-8, JSON loses its white space. The error names the field that cannot be stored, by its name in JSON,
// and says why.
absl::Status Normalize(Record& record);
absl::Status Normalize(TuningRun& run);

// Whether all of it is printable ASCII, as in names.
bool IsPrintable(std::string_view text);

// The identity of a normalized record: the SHA-256 over all its fields but flops, which the task's text
// implies. Two records are the same measurement exactly if their digests are equal, which is what makes
// importing and merging twice harmless. Run and trial would not do: a run that continues after a crash could
// give a number again, and the second measurement be lost.
std::string RecordDigest(const Record& record);

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_RECORD_H_
