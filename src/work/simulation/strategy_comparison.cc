#include "work/simulation/strategy_comparison.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/clock.h"
#include "base/html.h"
#include "base/quantile.h"
#include "base/status.h"
#include "base/svg.h"
#include "work/report/gantt.h"

namespace attune {
namespace {

// The processors that only stages on devices may use.
std::vector<int> KeptProcessors(const HostResources& host) {
  std::vector<int> kept;
  for (const DeviceResource& device : host.devices) {
    if (host.keeps_device_processors)
      kept.insert(kept.end(), device.processors.begin(), device.processors.end());
  }
  std::ranges::sort(kept);
  kept.erase(std::ranges::unique(kept).begin(), kept.end());
  return kept;
}

constexpr char kMemory[] = "memory", kShared[] = "processors that anyone may use";

double IdleShare(double busy, int64_t count, double makespan) {
  const double all = makespan * static_cast<double>(count);
  return all <= 0 ? 0 : std::clamp(1 - busy / all, 0.0, 1.0);
}

// Appends what a job did that ran alone.
void Append(SimulationResult one, size_t job, SimulationResult& to) {
  for (StageRun& run : one.runs) {
    run.job = job;
    run.host = static_cast<int>(job);
    to.runs.push_back(run);
  }
  to.makespan = std::max(to.makespan, one.makespan);
  to.missed_deadlines += one.missed_deadlines;
  to.decision_seconds.insert(to.decision_seconds.end(), one.decision_seconds.begin(),
                             one.decision_seconds.end());
}

}  // namespace

void StrategyComparison::Supply::Add(const HostResources& host) {
  ++hosts;
  devices += std::ssize(host.devices);
  processors += host.processors;
  amounts[kShared] += host.processors - static_cast<double>(KeptProcessors(host).size());
  for (const DeviceResource& device : host.devices) amounts["device " + device.key] += 1;
  for (const auto& [key, amount] : host.slots) amounts["slot " + key] += static_cast<double>(amount);
  amounts[kMemory] += static_cast<double>(host.memory_bytes);
}

void StrategyComparison::Demand::Add(const Holding& holding, const HostResources& host, double seconds) {
  devices += static_cast<double>(holding.devices.size()) * seconds;
  processors += static_cast<double>(holding.processors.size()) * seconds;
  const std::vector<int> kept = KeptProcessors(host);
  const auto shared = std::ranges::count_if(
      holding.processors, [&](int processor) { return !std::ranges::binary_search(kept, processor); });
  amounts[kShared] += static_cast<double>(shared) * seconds;
  for (const size_t device : holding.devices) amounts["device " + host.devices[device].key] += seconds;
  for (const auto& [key, amount] : holding.slots)
    amounts["slot " + key] += static_cast<double>(amount) * seconds;
  amounts[kMemory] += static_cast<double>(holding.memory_bytes) * seconds;
}

StrategyComparison::StrategyComparison(const std::vector<SimulatedJob>& jobs,
                                       const std::vector<HostResources>& hosts)
    : jobs_(jobs), hosts_(hosts) {
  ResourceLedger ledger;
  for (const HostResources& host : hosts) {
    supply_.Add(host);
    ledger.AddHost(host);
  }
  // Stages have the same few needs, so that each kind of them is tried on the empty hosts once.
  std::unordered_map<std::string, std::pair<StageNeeds, double>> seconds;
  for (const SimulatedJob& job : jobs) {
    double sum = 0;
    for (const SimulatedStage& stage : job.stages) {
      sum += stage.seconds;
      const StageNeeds needs = StageNeeds::Of(stage.stage);
      const auto [entry, is_new] = seconds.try_emplace(needs.Name());
      if (is_new) entry->second.first = needs;
      entry->second.second += stage.seconds;
    }
    longest_ = std::max(longest_, job.submitted + sum);
  }
  for (const auto& [name, entry] : seconds) {
    const std::optional<Holding> holding = ledger.Take(entry.first);
    if (!holding) continue;  // the simulation reports it
    demand_.Add(*holding, ledger.host(holding->host), entry.second);
    ledger.Release(*holding);
  }
}

absl::StatusOr<SimulationResult> StrategyComparison::RunAlone(const SchedulingStrategy& strategy,
                                                              Supply& supply) const {
  SimulationResult all;
  for (size_t job = 0; job < jobs_.size(); ++job) {
    absl::StatusOr<SimulationResult> one;
    for (const HostResources& host : hosts_) {
      one = Simulate({jobs_[job]}, {host}, strategy);
      if (!one.ok()) continue;
      supply.Add(host);
      break;
    }
    RETURN_IF_ERROR(one.status());
    Append(*std::move(one), job, all);
  }
  return all;
}

absl::StatusOr<StrategyOutcome> StrategyComparison::Run(const SchedulingStrategy& strategy) const {
  Supply own;
  const Stopwatch watch;
  ASSIGN_OR_RETURN(SimulationResult result,
                   strategy.dedicates_hosts ? RunAlone(strategy, own) : Simulate(jobs_, hosts_, strategy));
  const double seconds = watch.Seconds();
  const Supply& supply = own.hosts > supply_.hosts ? own : supply_;
  StrategyOutcome outcome{
      .strategy = std::string(strategy.name),
      .is_coordinated = strategy.is_coordinated,
      .hosts = supply.hosts,
      .devices = supply.devices,
      .processors = supply.processors,
      .makespan = result.makespan,
      .bound = longest_,
      .idle_devices = IdleShare(demand_.devices, supply.devices, result.makespan),
      .idle_processors = IdleShare(demand_.processors, supply.processors, result.makespan),
      .waiting_p50 = result.Waiting(0.5),
      .waiting_p99 = result.Waiting(0.99),
      .missed_deadlines = result.missed_deadlines,
      .runs = {}};
  for (const auto& [name, amount] : demand_.amounts) {
    const auto there_is = supply.amounts.find(name);
    if (there_is != supply.amounts.end() && there_is->second > 0)
      outcome.bound = std::max(outcome.bound, amount / there_is->second);
  }
  outcome.decisions_per_second =
      static_cast<double>(result.decision_seconds.size()) / std::max(seconds, 1e-9);
  outcome.decision_p99 = QuantileOf(std::move(result.decision_seconds), 0.99);
  outcome.runs = std::move(result.runs);
  return outcome;
}

nlohmann::ordered_json ToJson(const StrategyOutcome& outcome) {
  return {{"strategy", outcome.strategy},
          {"is_coordinated", outcome.is_coordinated},
          {"hosts", outcome.hosts},
          {"devices", outcome.devices},
          {"processors", outcome.processors},
          {"makespan_seconds", outcome.makespan},
          {"lower_bound_seconds", outcome.bound},
          {"idle_share_of_devices", outcome.idle_devices},
          {"idle_share_of_processors", outcome.idle_processors},
          {"waiting_seconds", {{"p50", outcome.waiting_p50}, {"p99", outcome.waiting_p99}}},
          {"missed_deadlines", outcome.missed_deadlines},
          {"decisions_per_second", outcome.decisions_per_second},
          {"decision_p99_ms", 1e3 * outcome.decision_p99}};
}

std::vector<std::vector<std::string>> ComparisonRows(const std::vector<StrategyOutcome>& outcomes) {
  std::vector<std::vector<std::string>> rows = {{"strategy", "hosts", "devices", "processors", "makespan",
                                                 "of bound", "devices idle", "processors idle", "waiting p50",
                                                 "waiting p99", "too late", "decisions/s", "decision p99"}};
  for (const StrategyOutcome& outcome : outcomes) {
    // If stages need not share, the bound does not hold, and resources are busier than they can be.
    const auto idle_text = [&](int64_t count, double share) {
      return count == 0 || !outcome.is_coordinated ? "–" : PercentText(share);
    };
    const bool has_share = outcome.is_coordinated && outcome.makespan > 0;
    rows.push_back({outcome.strategy, absl::StrCat(outcome.hosts), absl::StrCat(outcome.devices),
                    absl::StrCat(outcome.processors), SecondsText(outcome.makespan),
                    has_share ? absl::StrFormat("%.2f×", outcome.makespan / outcome.bound) : "–",
                    idle_text(outcome.devices, outcome.idle_devices),
                    idle_text(outcome.processors, outcome.idle_processors), SecondsText(outcome.waiting_p50),
                    SecondsText(outcome.waiting_p99), absl::StrCat(outcome.missed_deadlines),
                    absl::StrFormat("%.0f", outcome.decisions_per_second),
                    absl::StrFormat("%.3f ms", 1e3 * outcome.decision_p99)});
  }
  return rows;
}

std::string StrategyChart(const std::vector<SimulatedJob>& jobs, const StrategyOutcome& outcome) {
  GanttChart chart{.title = absl::StrCat(outcome.strategy, ": jobs, coloured by stage"),
                   .seconds = outcome.makespan,
                   .rows = {},
                   .colors = {},
                   .describe = {}};
  const auto stage_of = [&](size_t item) -> const JobStage& {
    return jobs[outcome.runs[item].job].stages[outcome.runs[item].stage].stage;
  };
  chart.describe = [&](size_t item) {
    const StageRun& run = outcome.runs[item];
    return absl::StrFormat("%s: %s\n%s to %s on host %d", jobs[run.job].facts.id, stage_of(item).name,
                           SecondsText(run.start), SecondsText(run.end), run.host);
  };
  for (const SimulatedJob& job : jobs) chart.rows.push_back({job.facts.id, {}});
  std::map<std::string, size_t> colors;
  for (size_t item = 0; item < outcome.runs.size(); ++item) {
    const StageRun& run = outcome.runs[item];
    const auto [color, is_new] = colors.emplace(stage_of(item).name, colors.size());
    if (is_new) chart.colors.push_back(stage_of(item).name);
    std::vector<GanttBar>& bars = chart.rows[run.job].bars;
    if (run.start > run.asked)
      bars.push_back({.start = run.asked, .end = run.start, .is_waiting = true, .item = item});
    bars.push_back({.start = run.start, .end = run.end, .color = color->second, .item = item});
  }
  return GanttHtml(chart);
}

std::string ComparisonHtml(const std::string& workload, const std::vector<StrategyOutcome>& outcomes,
                           const std::vector<std::string>& charts) {
  std::string body = absl::StrCat("<h1>Scheduling strategies, simulated</h1>\n<p>", Escaped(workload),
                                  "</p>\n", HtmlTable(ComparisonRows(outcomes), 1),
                                  "<p class='note'>of bound: the makespan as a multiple of a time that no "
                                  "schedule can go below with this hardware.</p>\n");
  for (const std::string& chart : charts) absl::StrAppend(&body, chart);
  return HtmlPage("Scheduling strategies, simulated", body);
}

}  // namespace attune
