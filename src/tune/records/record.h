// The data that the tuner stores: records, one for each measurement of one candidate, and the runs that
// made them.
//
// Records also come from other people's files. Everything that enters a database has passed Normalize()
// below: names are printable ASCII, texts are UTF-8, numbers are in range, and all lengths are bounded.
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

// The version of the JSON form; increased if a reader of the old form would misunderstand the new one.
inline constexpr int kRecordSchema = 1;

inline constexpr size_t kMaxTaskBytes = 256 << 10;
inline constexpr size_t kMaxReasonBytes = 8 << 10;  // longer ones are cut
inline constexpr size_t kMaxModelBytes = 4 << 10;   // longer ones are cut
inline constexpr size_t kMaxNameBytes = 256;
inline constexpr size_t kMaxConfigNumbers = 256;
inline constexpr size_t kMaxJsonBytes = 16 << 10;  // of a run's options, and of its stages

// The numbers of a config by name: lower/strategy.h's Config.
using RecordConfig = std::map<std::string, int64_t>;

// Value of Record::search for a measurement that is repeated at the end of a run: of a config that is
// significantly faster than the baseline, or of the baseline. The times of all others may suffer from
// selection bias.
inline constexpr std::string_view kConfirmation = "confirm";

struct Record {
  // The measured candidate. It does not include features for cost models: they are computed again from the
  // config, by the version of the features in use.
  std::string task;  // the canonical text of the workload
  double flops = 0;  // of one execution of the task; 0: unknown
  std::string strategy;
  int strategy_version = 0;
  RecordConfig config;

  // The device: DeviceFingerprint(), and the number of threads.
  std::string device;
  int threads = 1;

  // The result: a timing, all zeros unless the outcome is ok, or a reason, empty if it is ok.
  TrialOutcome outcome = TrialOutcome::kOk;
  Timing timing;
  std::string reason;

  // How the record was made.
  std::string run;     // the id of the run
  int64_t trial = 0;   // its number in the run
  std::string search;  // the search strategy that proposed it
  std::string compiler_version;
  std::string code_digest;  // of the kernel's object code; empty if there is none
  CacheMode cache = CacheMode::kWarm;
  int64_t time_ms = 0;  // when it was measured, in milliseconds since 1970, UTC
  double build_seconds = 0;
  double measure_seconds = 0;
};

enum class RunState : uint8_t { kRunning, kFinished, kInterrupted };
std::string_view Name(RunState state);  // "running", "finished", "interrupted"
std::optional<RunState> ParseRunState(std::string_view name);

// One tuning run. Its details are in a separate file of events.
struct TuningRun {
  std::string id;
  std::string model;  // the file's name, for people
  std::string model_digest;
  std::string device;
  int threads = 1;
  std::string options = "{}";  // the command line and options, a JSON object
  int64_t start_ms = 0;        // like Record::time_ms
  int64_t end_ms = 0;          // 0 while it runs
  RunState state = RunState::kRunning;
  double untuned_seconds = 0;  // one inference before and after; 0: not measured
  double tuned_seconds = 0;
  std::string stage_seconds = "{}";  // a JSON object
};

// Converts a record or run into the one form that is stored: a reason and a model's name are cut and
// converted to UTF-8, JSON loses its white space. An error names the field that cannot be stored, by its
// JSON name, and says why.
absl::Status Normalize(Record& record);
absl::Status Normalize(TuningRun& run);

// Whether all characters are printable ASCII, as in names.
bool IsPrintable(std::string_view text);

// The identity of a normalized record: the SHA-256 of all its fields except flops, which follows from the
// task's text. Two records are the same measurement if and only if their digests are equal, so importing or
// merging twice is harmless. Run and trial would not be enough: a run that continues after a crash could
// use a number again, and the second measurement would be lost.
std::string RecordDigest(const Record& record);

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_RECORD_H_
