#include "cli/doctor_checks.h"

#include <gnu/libc-version.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "api/records.h"
#include "attune/attune.h"
#include "base/processors.h"
#include "base/user_path.h"
#include "codegen/llvm_version.h"
#include "device/contention.h"
#include "device/device.h"
#include "fleet/client/joined_fleet.h"
#include "fleet/host/sandbox_lacks.h"
#include "service/client/known_servers.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

std::string HomeFolder() {
  const char* home = std::getenv("HOME");
  return home == nullptr ? "" : home;
}

std::string Shown(const std::string& path) { return WithoutUser(path, HomeFolder()); }

// A message may name a file.
std::string Shown(const absl::Status& status) { return Shown(std::string(status.message())); }

// Whether a file at `path` can be written, or made.
bool IsWritable(fs::path path) {
  std::error_code error;
  while (!path.empty() && !fs::exists(path, error)) path = path.parent_path();
  return access(path.empty() ? "." : path.c_str(), W_OK) == 0;
}

int64_t CountRecords(RecordDatabase& database) {
  int64_t records = 0;
  if (const auto tasks = database.Tasks({}); tasks.ok()) {
    for (const TaskEntry& task : *tasks) records += task.records;
  }
  return records;
}

}  // namespace

std::string WithoutUser(const std::string& path, const std::string& home) {
  if (home.empty() || home == "/") return path;
  const std::string name = fs::path(home).filename().string();
  std::string text = absl::StrReplaceAll(path, {{home, "~"}});
  return name.empty() ? text : absl::StrReplaceAll(text, {{"/" + name + "/", "/USER/"}});
}

Finding CheckVersion() {
  const std::string version = attune_version(), llvm = LlvmVersion();
  return {.name = "version",
          .text = absl::StrCat("attune ", version, ", LLVM ", llvm),
          .facts = {{"attune", version}, {"llvm", llvm}}};
}

Finding CheckProcessor(const MachineFacts& machine) {
  Finding finding = {.name = "processor", .text = machine.processor.empty() ? "unknown" : machine.processor};
  const absl::StatusOr<DeviceInfo> device = HostDevice();
  if (!device.ok()) {
    finding.way_out = Shown(device.status());
    finding.facts["model"] = machine.processor;
    return finding;
  }
  std::set<int> cores;
  for (const Processor& processor : device->processors) cores.insert(processor.core);
  const size_t threads = device->processors.size();
  absl::StrAppend(&finding.text, ", compiled for as ", device->target.name, ": ", cores.size(), " cores, ",
                  threads, threads > cores.size() ? " hardware threads" : " processors", ", ",
                  absl::StrJoin(device->target.required_features, " "));
  finding.facts = {{"model", machine.processor},
                   {"target", device->target.name},
                   {"features", device->target.required_features},
                   {"cores", cores.size()},
                   {"hardware_threads", threads},
                   {"has_smt", threads > cores.size()}};
  return finding;
}

Finding CheckThreads(const MachineFacts& machine) {
  const int allowed = ProcessorSet::OfThisThread().count(), threads = Processors();
  Finding finding = {
      .name = "threads",
      .text = absl::StrCat(threads, " by default: this process may run on ", allowed, " processors"),
      .facts = {{"default", threads}, {"allowed_processors", allowed}}};
  finding.facts["cpu_limit"] = machine.cpu_limit ? Json(*machine.cpu_limit) : Json();
  if (!machine.cpu_limit) return finding;
  absl::StrAppendFormat(&finding.text, ", and its control group may use the time of %.2f",
                        *machine.cpu_limit);
  if (*machine.cpu_limit < 1)
    finding.way_out =
        "networks are stopped in the middle of a run, for tens of milliseconds; allow a whole processor "
        "(docker run --cpus 1)";
  return finding;
}

Finding CheckSystem(const MachineFacts& machine) {
  return {.name = "system",
          .text = absl::StrCat("Linux ", machine.kernel, ", glibc ", gnu_get_libc_version()),
          .facts = {{"kernel", machine.kernel}, {"glibc", gnu_get_libc_version()}}};
}

Finding CheckMemory(const MachineFacts& machine) {
  constexpr int64_t kLeast = int64_t{1} << 30;
  Finding finding = {
      .name = "memory",
      .text = absl::StrCat(FormatBytes(static_cast<uint64_t>(machine.memory_bytes)), ", ",
                           FormatBytes(static_cast<uint64_t>(machine.available_bytes)), " available"),
      .facts = {{"bytes", machine.memory_bytes}, {"available_bytes", machine.available_bytes}}};
  finding.facts["limit_bytes"] = machine.memory_limit ? Json(*machine.memory_limit) : Json();
  if (machine.memory_limit)
    absl::StrAppend(&finding.text, ", limited to ",
                    FormatBytes(static_cast<uint64_t>(*machine.memory_limit)));
  const int64_t most = std::min(machine.available_bytes, machine.memory_limit.value_or(INT64_MAX));
  if (machine.available_bytes > 0 && most < kLeast)
    finding.way_out =
        "compiling a large network may need more; end other programs, or raise the limit of the container";
  return finding;
}

Finding CheckGovernor(const MachineFacts& machine) {
  Finding finding = {.name = "frequency",
                     .text = machine.governor.empty()
                                 ? "the governor is not visible, as in most virtual machines"
                                 : absl::StrCat("governor ", machine.governor)};
  finding.facts["governor"] = machine.governor;
  if (!machine.governor.empty() && machine.governor != "performance")
    finding.way_out =
        "times vary with the frequency; before measuring or tuning: sudo cpupower frequency-set -g "
        "performance";
  return finding;
}

Finding CheckLoad(const MachineFacts& machine) {
  constexpr std::chrono::milliseconds kMoment(300);
  ProcessorUse use(AllowedProcessors());
  use.Take();
  std::this_thread::sleep_for(kMoment);
  const std::optional<double> share = use.Take();
  Finding finding = {.name = "load", .text = "not visible"};
  finding.facts["busy_share"] = share ? Json(*share) : Json();
  finding.facts["load"] = machine.load ? Json(*machine.load) : Json();
  if (!share) return finding;
  finding.text = absl::StrFormat("other programs use %.0f %% of the processors", 100 * *share);
  if (machine.load) absl::StrAppendFormat(&finding.text, ", load %.2f", *machine.load);
  if (*share >= kDisturbedShare)
    finding.way_out = "they disturb measurements; end them before attune tune, bench or profile";
  return finding;
}

Finding CheckRecords() {
  Finding finding = {.name = "records", .text = ""};
  const absl::StatusOr<std::string> path = DefaultRecordsPath();
  if (!path.ok()) {
    finding.text = "no place for them";
    finding.way_out = Shown(path.status());
    return finding;
  }
  finding.text = Shown(*path);
  finding.facts["path"] = Shown(*path);
  if (*path == "none") return finding;
  std::error_code error;
  if (fs::exists(*path, error)) {
    const auto database = OpenRecords("", DatabaseAccess::kRead);
    if (!database.ok()) {
      finding.way_out = Shown(database.status());
      return finding;
    }
    const int64_t records = CountRecords(**database);
    absl::StrAppend(&finding.text, ": ", records, " records of tuning");
    finding.facts["records"] = records;
  } else {
    absl::StrAppend(&finding.text, ": none yet, attune tune makes them");
    finding.facts["records"] = 0;
  }
  const bool is_writable = IsWritable(*path);
  finding.facts["is_writable"] = is_writable;
  if (!is_writable)
    finding.way_out = "it cannot be written; tuning needs another place: ATTUNE_RECORDS or --records";
  return finding;
}

Finding CheckCache() {
  const auto path = FindUserPath(
      {.variable = "", .xdg_variable = "XDG_CACHE_HOME", .home_folder = ".cache", .name = "attune/compiled"},
      std::getenv);
  if (!path) return {.name = "cache", .text = "no place for it, since HOME is not set"};
  int64_t files = 0;
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator entry(*path, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code unknown;
    if (const uint64_t size = entry->file_size(unknown); !unknown) {
      ++files;
      bytes += size;
    }
  }
  Finding finding = {
      .name = "cache",
      .text = absl::StrCat(Shown(*path), ": ", files, " compiled networks of Python, ", FormatBytes(bytes)),
      .facts = {{"path", Shown(*path)}, {"files", files}, {"bytes", bytes}}};
  finding.facts["is_writable"] = IsWritable(*path);
  if (!IsWritable(*path))
    finding.way_out =
        "it cannot be written, so that networks are compiled in each process anew; set XDG_CACHE_HOME";
  return finding;
}

Finding CheckSandbox() {
  const std::vector<std::string> lacks = SandboxLacks();
  Finding finding = {
      .name = "sandbox",
      .text = lacks.empty() ? "measured code can be fenced in: namespaces, Landlock, seccomp"
                            : absl::StrCat(lacks.size(), " of the fences around measured code are missing"),
      .way_out = absl::StrJoin(lacks, " ")};
  finding.facts["lacks"] = lacks;
  if (!lacks.empty())
    absl::StrAppend(&finding.way_out,
                    " User namespaces: sysctl kernel.unprivileged_userns_clone=1 or, in a container, "
                    "another seccomp profile; Landlock: Linux 5.13 or later.");
  return finding;
}

Finding CheckFleet() {
  const absl::StatusOr<FleetCredentials> credentials = JoinedCredentials();
  Finding finding = {.name = "fleet", .text = credentials.ok() ? "joined" : "none joined"};
  finding.facts["is_joined"] = credentials.ok();
  if (!credentials.ok() && !absl::IsNotFound(credentials.status()))
    finding.way_out = Shown(credentials.status());
  return finding;
}

Finding CheckServer() {
  Finding finding = {.name = "server", .text = "no login"};
  finding.facts["has_login"] = false;
  const absl::StatusOr<std::string> path = KnownServers::DefaultPath(std::getenv);
  if (!path.ok()) return finding;
  const absl::StatusOr<KnownServers> servers = KnownServers::Load(*path);
  if (!servers.ok()) {
    finding.way_out = Shown(servers.status());
  } else if (servers->Find().has_value()) {
    finding.text = "logged in to a server of jobs";
    finding.facts["has_login"] = true;
  }
  return finding;
}

std::vector<Finding> ExamineThisMachine() {
  Finding sandbox = CheckSandbox();
  const MachineFacts machine = ReadMachineFacts();
  return {CheckVersion(),       CheckProcessor(machine), CheckThreads(machine), CheckSystem(machine),
          CheckMemory(machine), CheckGovernor(machine),  CheckLoad(machine),    CheckRecords(),
          CheckCache(),         std::move(sandbox),      CheckFleet(),          CheckServer()};
}

}  // namespace attune
