// attune records list|best|export|import|merge|prune|learn
#include "api/records.h"

#include <charconv>
#include <cstdlib>
#include <deque>
#include <iostream>
#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/tuning.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "cli/destinations.h"
#include "cli/records_view.h"

namespace attune {
namespace {

struct RecordsFlags {
  std::string records, json;
  RecordFilter filter;
  std::string cache;
  std::string file;  // the file to write, read or merge
  bool runs = false, measurements = false;
  int64_t limit = 50;
  bool skip_damaged = false;
  PruneOptions prune;
  TransferOptions lessons;
  std::vector<std::string> without;  // model files
};

RecordFilter Filter(const RecordsFlags& flags) {
  RecordFilter filter = flags.filter;
  if (filter.device == "host") filter.device = DeviceFingerprint();
  filter.cache = ParseCacheMode(flags.cache);
  return filter;
}

// Prints the rows as a table, or writes them as JSON under `name`, or both.
template <typename T>
absl::Status Show(const RecordsFlags& flags, const char* name, const std::vector<T>& rows,
                  std::string (*table)(std::span<const T>, int64_t)) {
  if (!flags.json.empty()) {
    Json list = Json::array();
    for (const T& row : rows) list.push_back(ToJson(row));
    RETURN_IF_ERROR(WriteJson({{name, std::move(list)}}, flags.json));
  }
  if (flags.json != "-") PrintResult(table(rows, SystemClock().WallMillis()));
  return absl::OkStatus();
}

absl::Status Report(const RecordsFlags& flags, const Json& json, const std::string& sentence) {
  if (!flags.json.empty()) RETURN_IF_ERROR(WriteJson(json, flags.json));
  if (LeaveStdout({flags.file, flags.json})) PrintResult(sentence + "\n");
  return absl::OkStatus();
}

absl::Status List(const RecordsFlags& flags) {
  ASSIGN_OR_RETURN(const auto database, OpenRecords(flags.records, DatabaseAccess::kRead));
  const RecordFilter filter = Filter(flags);
  if (flags.runs) {
    ASSIGN_OR_RETURN(std::vector<TuningRun> runs, database->Runs());
    std::erase_if(runs, [&](const TuningRun& run) {
      return (!filter.run.empty() && run.id != filter.run) ||
             (!filter.device.empty() && run.device != filter.device) ||
             (filter.threads != 0 && run.threads != filter.threads);
    });
    return Show(flags, "runs", runs, RunsTable);
  }
  if (!flags.measurements) {
    ASSIGN_OR_RETURN(const std::vector<TaskEntry> tasks, database->Tasks(filter));
    return Show(flags, "tasks", tasks, TasksTable);
  }
  std::deque<Record> last;
  RETURN_IF_ERROR(database->ForEachRecord(filter, [&](const Record& record) {
    last.push_back(record);
    if (static_cast<int64_t>(last.size()) > flags.limit) last.pop_front();
    return absl::OkStatus();
  }));
  return Show(flags, "measurements", std::vector<Record>(last.begin(), last.end()), MeasurementsTable);
}

absl::Status Best(const RecordsFlags& flags) {
  ASSIGN_OR_RETURN(const auto database, OpenRecords(flags.records, DatabaseAccess::kRead));
  ASSIGN_OR_RETURN(const std::vector<BestRecord> best,
                   database->Best(Filter(flags), {.versions = CurrentStrategyVersions(), .priors = true}));
  return Show(flags, "best", best, BestTable);
}

std::string Count(int64_t n, std::string_view what) { return absl::StrCat(n, " ", what, n == 1 ? "" : "s"); }

absl::Status Export(const RecordsFlags& flags) {
  ASSIGN_OR_RETURN(const auto database, OpenRecords(flags.records, DatabaseAccess::kRead));
  ExportReport report;
  if (flags.file == "-") {
    ASSIGN_OR_RETURN(report, ExportRecords(*database, Filter(flags), [](std::string_view line) {
                       PrintResult(line);
                       return absl::OkStatus();
                     }));
  } else {
    ASSIGN_OR_RETURN(report, ExportRecordFile(*database, Filter(flags), flags.file));
  }
  if (report.skipped > 0) {
    PrintNote(
        absl::StrCat(database->path(), ": ", Count(report.skipped, "row"), " that this attune cannot read"));
  }
  const Json json = {{"records", report.records}, {"runs", report.runs}, {"skipped", report.skipped}};
  return Report(
      flags, json,
      absl::StrCat(flags.file, ": ", Count(report.records, "record"), ", ", Count(report.runs, "run")));
}

absl::Status ReportImport(const RecordsFlags& flags, const RecordDatabase& database,
                          const ImportReport& report) {
  if (report.skipped > 0) {
    PrintNote(absl::StrCat(report.skipped, " passed over; the first: ", report.first_skipped));
  }
  return Report(
      flags,
      {{"records", report.records},
       {"added", report.added},
       {"runs_added", report.runs_added},
       {"skipped", report.skipped},
       {"first_skipped", report.first_skipped}},
      absl::StrCat(database.path(), ": ", Count(report.added, "new record"), " of ", report.records));
}

absl::Status Import(const RecordsFlags& flags) {
  std::unique_ptr<RecordDatabase> database;
  const DatabaseSource source = [&]() -> absl::StatusOr<RecordDatabase*> {
    if (database == nullptr) {
      ASSIGN_OR_RETURN(database, OpenRecords(flags.records, DatabaseAccess::kCreate));
    }
    return database.get();
  };
  const RecordImportOptions options = {.skip_damaged = flags.skip_damaged};
  ASSIGN_OR_RETURN(const ImportReport report, flags.file == "-"
                                                  ? ImportRecords(source, std::cin, "standard input", options)
                                                  : ImportRecordFile(source, flags.file, options));
  return ReportImport(flags, *database, report);
}

absl::Status Merge(const RecordsFlags& flags) {
  // Opens the source first, since it may be missing: then the destination is not created for nothing.
  ASSIGN_OR_RETURN(const auto source, RecordDatabase::Open(flags.file, {.access = DatabaseAccess::kRead}));
  ASSIGN_OR_RETURN(const auto database, OpenRecords(flags.records, DatabaseAccess::kCreate));
  ASSIGN_OR_RETURN(const ImportReport report, MergeRecords(*database, *source));
  return ReportImport(flags, *database, report);
}

absl::Status Prune(const RecordsFlags& flags) {
  ASSIGN_OR_RETURN(const auto database, OpenRecords(flags.records, DatabaseAccess::kWrite));
  PruneOptions options = flags.prune;
  options.which = Filter(flags);
  ASSIGN_OR_RETURN(const PruneReport report, database->Prune(options));
  return Report(flags,
                {{"records", report.records},
                 {"tasks", report.tasks},
                 {"runs", report.runs},
                 {"dry_run", options.dry_run}},
                absl::StrCat(options.dry_run ? "would remove " : "removed ", Count(report.records, "record"),
                             ", ", Count(report.tasks, "task"), ", ", Count(report.runs, "run")));
}

// The time that is this long ago: "90d", "12h", "2w". Throws like CLI11's own checks.
int64_t LongAgo(const std::string& age) {
  const std::map<std::string_view, int64_t> hours = {{"h", 1}, {"d", 24}, {"w", 24 * 7}};
  int64_t number = 0;
  const auto [end, error] = std::from_chars(age.data(), age.data() + age.size(), number);
  const auto unit = hours.find(std::string_view(end, static_cast<size_t>(age.data() + age.size() - end)));
  constexpr int64_t kMost = 1'000'000;
  if (error != std::errc() || unit == hours.end() || number < 0 || number > kMost) {
    throw CLI::ValidationError("--older-than", "\"" + age + "\" is not an age like 12h, 90d or 4w");
  }
  return std::max<int64_t>(1, SystemClock().WallMillis() - number * unit->second * 3600 * 1000);
}

void AddFilterFlags(CLI::App& command, RecordsFlags& flags) {
  command.add_option("--device", flags.filter.device, "a device's fingerprint, or host for this machine");
  command.add_option("--run", flags.filter.run, "a run's id");
  command.add_option("--task", flags.filter.task, "first digits of a task's digest")
      ->check([](const std::string& digest) {
        return digest.find_first_not_of("0123456789abcdef") == std::string::npos
                   ? ""
                   : "must be digits 0 to 9 and a to f";
      });
  command.add_option("--threads", flags.filter.threads, "threads that the kernel ran on")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  command.add_option("--cache", flags.cache, "caches at the measurement: cold, warm or network")
      ->check(CLI::IsMember({"cold", "warm", "network"}));
}

// Adds a subcommand with the flags that all subcommands share; `run` carries it out.
CLI::App* AddSubcommand(CLI::App& records, Action& action, const std::shared_ptr<RecordsFlags>& flags,
                        const char* name, const char* description, absl::Status (*run)(const RecordsFlags&)) {
  CLI::App* command = records.add_subcommand(name, description);
  command->add_option("--records", flags->records,
                      "the database (default: $ATTUNE_RECORDS, else attune/records.db in $XDG_DATA_HOME or "
                      "~/.local/share)");
  command->add_option("--json", flags->json, "write the results as JSON to this file, or to stdout for -");
  command->callback([flags, &action, run] { action = [flags, run] { return run(*flags); }; });
  return command;
}

void AddListAndBest(CLI::App& records, Action& action) {
  auto flags = std::make_shared<RecordsFlags>();
  CLI::App* list = AddSubcommand(records, action, flags, "list", "List the tasks that were measured", List);
  AddFilterFlags(*list, *flags);
  CLI::Option* runs = list->add_flag("--runs", flags->runs, "list tuning runs instead");
  list->add_flag("--measurements", flags->measurements, "list single measurements instead, the newest last")
      ->excludes(runs);
  list->add_option("--limit", flags->limit, "how many measurements (default: 50)")
      ->check(CLI::Range(int64_t{1}, int64_t{1'000'000}));

  flags = std::make_shared<RecordsFlags>();
  CLI::App* best = AddSubcommand(records, action, flags, "best",
                                 "Show the fastest config of each task, device and number of threads", Best);
  AddFilterFlags(*best, *flags);
}

void AddExchange(CLI::App& records, Action& action) {
  auto flags = std::make_shared<RecordsFlags>();
  CLI::App* out = AddSubcommand(records, action, flags, "export", "Write records as JSON lines", Export);
  out->add_option("FILE", flags->file, "the file to write, or - for stdout")->required();
  AddFilterFlags(*out, *flags);
  out->parse_complete_callback([flags] { RequireOneStdout({flags->file, flags->json}); });

  flags = std::make_shared<RecordsFlags>();
  CLI::App* in =
      AddSubcommand(records, action, flags, "import",
                    "Add the records of a file of JSON lines; skips records that are known", Import);
  in->add_option("FILE", flags->file, "the file to read, or - for stdin")->required();
  in->add_flag("--skip-damaged", flags->skip_damaged, "skip lines that are not records");

  flags = std::make_shared<RecordsFlags>();
  CLI::App* merge = AddSubcommand(records, action, flags, "merge",
                                  "Add the records of another database; skips records that are known", Merge);
  merge->add_option("DB", flags->file, "the other database, which is only read")->required();
}

void AddPrune(CLI::App& records, Action& action) {
  auto flags = std::make_shared<RecordsFlags>();
  auto age = std::make_shared<std::string>();
  CLI::App* command =
      AddSubcommand(records, action, flags, "prune", "Remove the records that match all options", Prune);
  AddFilterFlags(*command, *flags);
  command->add_option("--older-than", *age, "measured longer ago than this: 12h, 90d or 4w");
  command
      ->add_option("--keep-best", flags->prune.keep_best,
                   "all but the fastest N of each task, device and threads")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()));
  command->add_flag("--keep-failed", flags->prune.keep_failed,
                    "all but failures, which are never tried again");
  command->add_flag("--dry-run", flags->prune.dry_run, "only count the records");
  command->parse_complete_callback([flags, age] {
    const RecordFilter& filter = flags->filter;
    const bool any = !filter.device.empty() || !filter.run.empty() || !filter.task.empty() ||
                     filter.threads != 0 || !flags->cache.empty() || !age->empty() ||
                     flags->prune.keep_best != 0;
    if (!any)
      throw CLI::RequiredError("say which records: --older-than, --keep-best, --device, --run or --task");
    if (!age->empty()) flags->prune.older_than_ms = LongAgo(*age);
  });
}

absl::Status Learn(const RecordsFlags& flags) {
  std::vector<Network> without;
  for (const std::string& model : flags.without) {
    without.push_back(Network::Load(model).Optimize());
    RETURN_IF_ERROR(without.back().status());
  }
  TransferOptions options = flags.lessons;
  options.which = Filter(flags);
  ASSIGN_OR_RETURN(const std::string text, LearnCostModel(flags.records, options, without));
  RETURN_IF_ERROR(WriteFileAtomically(flags.file, text));
  return Report(flags, {{"cost_model", flags.file}, {"bytes", text.size()}},
                absl::StrCat(flags.file, ": a cost model of ", FormatBytes(text.size())));
}

void AddLearn(CLI::App& records, Action& action) {
  auto flags = std::make_shared<RecordsFlags>();
  CLI::App* command = AddSubcommand(records, action, flags, "learn",
                                    "Learn a cost model from records, for attune tune --cost-model", Learn);
  AddOutputFlag(*command, "-o,--output", flags->file, "the file to write")->required();
  command->parse_complete_callback([flags] { RequireOneStdout({flags->file, flags->json}); });
  AddFilterFlags(*command, *flags);
  command
      ->add_option("--without", flags->without,
                   "a model whose tasks are left out of learning; may be repeated")
      ->allow_extra_args(false);
  command
      ->add_option("--most", flags->lessons.most_records,
                   "records of each task, the newest ones (default: 256)")
      ->check(CLI::Range(2, 1'000'000));
}

}  // namespace

void AddRecordsCommand(CLI::App& app, Action& action) {
  CLI::App* records = app.add_subcommand("records", "List, exchange, prune and learn from measurements");
  records->require_subcommand(1);
  AddListAndBest(*records, action);
  AddExchange(*records, action);
  AddPrune(*records, action);
  AddLearn(*records, action);
}

}  // namespace attune
