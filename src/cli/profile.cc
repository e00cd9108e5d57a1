// attune profile MODEL|OUT.atn
#include <memory>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/model_flags.h"
#include "cli/on_device.h"

namespace attune {
namespace {

struct ProfileFlags {
  ModelFlags model;
  InputSources inputs;
  int rounds = 20;
};

// Whether its number of operations or bytes is known.
bool IsRated(const KernelProfile& kernel) { return kernel.flops > 0 || kernel.bytes > 0; }

Json ToJson(const ProfileReport& report) {
  Json kernels = Json::array();
  for (const KernelProfile& k : report.kernels) {
    kernels.push_back({{"labels", k.labels},
                       {"op", k.op},
                       {"strategy", k.strategy},
                       {"calls", k.calls},
                       {"ms", k.seconds * 1e3},
                       {"share", k.share},
                       {"integer", k.multiplicand == Multiplicand::kInt8},
                       {"bf16", k.multiplicand == Multiplicand::kBF16},
                       {"flops", k.flops},
                       {"bytes", k.bytes},
                       {"gflops_per_s", k.gflops_per_s},
                       {"gb_per_s", k.gb_per_s},
                       {"peak_share", k.peak_share},
                       {"bound", IsRated(k) ? Name(k.bound) : ""},
                       {"roofline_ms", k.roofline_seconds * 1e3},
                       {"roofline_share", k.roofline_share}});
  }
  Json json = {{"ms", report.seconds * 1e3},
               {"gflop", report.flops * 1e-9},
               {"threads", report.threads},
               {"peak",
                {{"gflops_per_core", report.peaks.gflops_per_core},
                 {"bf16_gflops_per_core", report.peaks.bf16_gflops_per_core},
                 {"int8_gops_per_core", report.peaks.int8_gops_per_core},
                 {"l2_gb_per_s", report.peaks.l2_gb_per_s},
                 {"l3_gb_per_s", report.peaks.l3_gb_per_s},
                 {"memory_gb_per_s", report.peaks.memory_gb_per_s}}},
               {"kernels", std::move(kernels)}};
  AddTimes(report.waited_share, report.times, json);
  return json;
}

// Shows the first few labels only, since there can be hundreds.
std::string ShortLabels(const std::vector<std::string>& labels) {
  constexpr size_t kMaxWidth = 48;
  std::string text = absl::StrJoin(labels, " ");
  if (text.size() > kMaxWidth) text = text.substr(0, kMaxWidth - 3) + "...";
  return text;
}

std::string ToText(const ProfileReport& report) {
  std::vector<std::vector<std::string>> rows = {{"ms", "share", "calls", "GFLOP/s", "GB/s", "of peak",
                                                 "bound", "of roofline", "operator", "strategy", "nodes"}};
  const auto percent = [](double share) { return absl::StrFormat("%.1f %%", share * 100); };
  for (const KernelProfile& k : report.kernels) {
    const bool rated = IsRated(k);
    rows.push_back({absl::StrFormat("%.4f", k.seconds * 1e3), percent(k.share), absl::StrCat(k.calls),
                    absl::StrFormat("%.1f", k.gflops_per_s), absl::StrFormat("%.1f", k.gb_per_s),
                    percent(k.peak_share), std::string(rated ? Name(k.bound) : ""),
                    rated ? percent(k.roofline_share) : "", k.op, k.strategy, ShortLabels(k.labels)});
  }
  const bool any = report.seconds > 0;
  return absl::StrCat(
      FormatTable(rows, {true, true, true, true, true, true, false, true, false, false, false}),
      absl::StrFormat("total %.3f ms, %.3f GFLOP, %.1f GFLOP/s on %d thread%s\n", report.seconds * 1e3,
                      report.flops * 1e-9, any ? report.flops / report.seconds * 1e-9 : 0.0, report.threads,
                      report.threads == 1 ? "" : "s"),
      absl::StrFormat("a core, measured: %.1f GFLOP/s (%.1f of bf16, %.1f of integers), %.1f GB/s from "
                      "L2, %.1f from L3, %.1f from memory\n",
                      report.peaks.gflops_per_core, report.peaks.bf16_gflops_per_core,
                      report.peaks.int8_gops_per_core, report.peaks.l2_gb_per_s, report.peaks.l3_gb_per_s,
                      report.peaks.memory_gb_per_s));
}

absl::Status Profile(const ProfileFlags& flags) {
  Progress progress;
  ASSIGN_OR_RETURN(const ReadyNetwork ready, LoadNetwork(flags.model, flags.inputs, progress));
  progress.Show("measuring");
  WorkOnDevice work(flags.model.service.get(), progress);
  ASSIGN_OR_RETURN(const ProfileReport report,
                   work->Profile(ready.network, flags.model.compile.threads, flags.rounds, ready.inputs));
  NoteDisturbance(report.disturbance());
  if (!flags.model.json.empty()) RETURN_IF_ERROR(WriteJson(ToJson(report), flags.model.json));
  if (flags.model.json != "-") PrintResult(ToText(report));
  return absl::OkStatus();
}

}  // namespace

void AddProfileCommand(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("profile", "Show how long each kernel takes");
  auto flags = std::make_shared<ProfileFlags>();
  AddModelFlags(*command, flags->model, "threads that one inference runs on");
  AddArtifactFlags(*command, flags->model.artifact);
  AddInputFlags(*command, flags->inputs);
  command
      ->add_option("--rounds", flags->rounds,
                   "number of inferences; each kernel's median counts (default: 20)")
      ->check(CLI::Range(1, 1'000'000));
  command->callback(
      [flags, &action] { action = ModelAction(flags->model, [flags] { return Profile(*flags); }); });
}

}  // namespace attune
