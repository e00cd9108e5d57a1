#include "setting.h"

#include <algorithm>
#include <array>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "runtime/cpu_features.h"

namespace attune::graph_fuzz {
namespace {

// Not processors, but code for these runs on any machine: "wide" has the strategies of 512-bit vectors in
// instructions of AVX2, "tiles" also has a matrix unit as a software model, and "bytes" has AVX2 with
// modelled byte products.
constexpr std::string_view kWide = "wide", kTiles = "tiles", kBytes = "bytes";
constexpr std::array<std::string_view, 5> kPrecisions = {"fp32", "bf16", "fp16-weights", "int8", "bf16x3"};

template <typename T>
const T& Choose(Random& random, const std::vector<T>& from) {
  return from[static_cast<size_t>(random.Integer(0, std::ssize(from) - 1))];
}

// Every plan that ends in fusion is legal: passes may be left out, repeated, moved, or given other
// parameters.
PassPlan DrawPlan(Random& random) {
  PassPlan plan = DefaultPlan();
  const PassStep fuse = plan.steps.back();
  plan.steps.pop_back();
  switch (random.Integer(0, 5)) {
    case 0:
      break;
    case 1:
      plan.steps.clear();
      break;
    case 2: {
      const double kept = random.Uniform();
      std::erase_if(plan.steps, [&](const PassStep&) { return random.Uniform() > kept; });
      break;
    }
    case 3: {
      const std::vector<PassStep> once = plan.steps;
      plan.steps.insert(plan.steps.end(), once.begin(), once.end());
      break;
    }
    default:
      for (int64_t i = std::ssize(plan.steps) - 1; i > 0; --i)
        std::swap(plan.steps[static_cast<size_t>(i)], plan.steps[static_cast<size_t>(random.Integer(0, i))]);
      break;
  }
  plan.steps.push_back(fuse);
  if (random.Integer(0, 3) == 0) {
    PassParameters& parameters = plan.steps.back().parameters;
    parameters["epilogues"] = random.Integer(0, 1);
    parameters["prologues"] = random.Integer(0, 1);
    parameters["max_nodes"] = random.Integer(1, 6);
  }
  return plan;
}

std::vector<std::string> RunnableCpus() {
  std::vector<std::string> names = {std::string(kWide), std::string(kTiles), std::string(kBytes)};
  for (const std::string& name : TargetNames()) {
    const absl::StatusOr<Target> target = TargetByName(name);
    if (target.ok() && RunsHere(*target)) names.push_back(name);
  }
  return names;
}

}  // namespace

std::string ToString(const Setting& setting) {
  std::string text = absl::StrCat("cpu=", setting.cpu, " threads=", setting.threads,
                                  " precision=", kPrecisions[static_cast<size_t>(setting.precision)]);
  if (setting.compact) absl::StrAppend(&text, " compact");
  if (setting.shared) absl::StrAppend(&text, " shared");
  if (setting.small) absl::StrAppend(&text, " small");
  if (setting.twice) absl::StrAppend(&text, " twice");
  if (setting.schedules != 0) absl::StrAppend(&text, " schedules=", setting.schedules);
  return text;
}

absl::StatusOr<Setting> ParseSetting(std::string_view text) {
  Setting setting;
  setting.plan = DefaultPlan();
  const std::vector<std::string> words = absl::StrSplit(text, ' ', absl::SkipEmpty());
  for (const std::string& word : words) {
    const std::pair<std::string, std::string> item = absl::StrSplit(word, absl::MaxSplits('=', 1));
    const auto& [key, value] = item;
    const auto precision = std::ranges::find(kPrecisions, value);
    bool ok = true;
    if (key == "cpu") {
      setting.cpu = value;
    } else if (key == "threads") {
      ok = absl::SimpleAtoi(value, &setting.threads);
    } else if (key == "precision" && precision != kPrecisions.end()) {
      setting.precision = static_cast<Setting::Precision>(precision - kPrecisions.begin());
    } else if (key == "schedules") {
      ok = absl::SimpleAtoi(value, &setting.schedules);
    } else if (word == "compact") {
      setting.compact = true;
    } else if (word == "shared") {
      setting.shared = true;
    } else if (word == "small") {
      setting.small = true;
    } else if (word == "twice") {
      setting.twice = true;
    } else {
      ok = false;
    }
    if (!ok) return InvalidInput("a setting has no '", word, "'");
  }
  return setting;
}

absl::StatusOr<Target> TargetOf(const Setting& setting) {
  const bool wide = setting.cpu == kWide || setting.cpu == kTiles;
  const bool models_bytes = setting.cpu == kBytes;
  ASSIGN_OR_RETURN(Target target, TargetByName(wide           ? "x86-64-v4"
                                               : models_bytes ? "x86-64-v3"
                                                              : setting.cpu));
  if (models_bytes) target = WithModelledProducts(target);
  if (wide) {
    ASSIGN_OR_RETURN(const Target narrow, TargetByName("x86-64-v3"));
    target.name = setting.cpu;
    target.llvm_cpu = narrow.llvm_cpu;
    target.llvm_tune = narrow.llvm_tune;
    target.required_features = narrow.required_features;
    target.fast_permutes = false;  // permutes of AVX-512
    if (setting.cpu == kTiles) target = WithModelledTiles(target);
  }
  if (setting.small) {
    target.l1_bytes = 4 << 10;
    target.l2_bytes = 16 << 10;
    target.l3_bytes = 64 << 10;
    target.l2_bytes_per_cycle = target.l3_bytes_per_cycle = target.dram_bytes_per_cycle = 0.5;
  }
  return target;
}

bool RunsHere(const Target& target) { return MissingFeatures(target.required_features).empty(); }

std::vector<Setting> DrawSettings(Random& random, const std::string& cpu) {
  static const auto* const runnable = new std::vector<std::string>(RunnableCpus());
  const auto draw_cpu = [&] {
    if (!cpu.empty()) return cpu;
    return random.Integer(0, 5) == 0 ? Choose(random, TargetNames()) : Choose(random, *runnable);
  };
  Setting first;
  first.cpu = draw_cpu();
  first.small = random.Integer(0, 3) == 0;
  first.plan = random.Integer(0, 2) == 0 ? DefaultPlan() : DrawPlan(random);
  first.threads = static_cast<int>(random.Integer(1, 3));
  std::vector<Setting> settings = {first};
  while (settings.size() < 3) {
    Setting other;
    other.cpu = draw_cpu();
    other.small = random.Integer(0, 3) == 0;
    other.plan = random.Integer(0, 1) == 0 ? first.plan : DefaultPlan();
    other.threads = static_cast<int>(random.Integer(1, 3));
    switch (random.Integer(0, 6)) {
      case 0:
        other.precision = Setting::Precision::kBF16;
        other.plan = DefaultPlan();
        break;
      case 1:
        other.precision = Setting::Precision::kF16Weights;
        other.plan = DefaultPlan();
        break;
      case 2:
        other.precision = Setting::Precision::kInt8;
        break;
      case 3:
        other.twice = true;
        break;
      case 4:
        other.compact = true;
        break;
      case 5:
        other.precision = Setting::Precision::kBF16x3;
        other.plan = DefaultPlan();
        break;
      default:
        other.shared = true;
        break;
    }
    if (random.Integer(0, 1) == 0) other.schedules = random.Next() | 1;
    settings.push_back(std::move(other));
  }
  return settings;
}

}  // namespace attune::graph_fuzz
