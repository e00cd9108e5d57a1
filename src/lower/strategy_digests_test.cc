// A kernel that was measured is identified by its strategy, the strategy's version and a config. So the
// same version and config must give the same kernel. strategy_digests.txt has the kernels of some of them,
// one per line: strategy, target, workload, version, digest of the loop nest, config. Loop nests come from
// named targets, so the test needs no such processor.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "graph/text.h"
#include "lower/strategy.h"

namespace attune {
namespace {

constexpr char kRewriteVariable[] = "ATTUNE_REWRITE_STRATEGY_DIGESTS";
constexpr char kHowToRewrite[] =
    "ATTUNE_REWRITE_STRATEGY_DIGESTS=1 build/release/bin/lower_test --gtest_filter='StrategyDigestsTest.*'";

// AVX2, AVX-512, and AVX-512 with AMX.
constexpr const char* kTargets[] = {"x86-64-v3", "x86-64-v4", "sapphirerapids"};

struct NamedGroup {
  const char* name;
  const char* text;  // LAYOUT: channels in blocks of one vector of the target
};

constexpr NamedGroup kGroups[] = {
    {"conv", R"(graph @g(%x: f32[1,32,14,14]LAYOUT, %w: f32[64,32,3,3], %b: f32[64]) {
       %y = conv(%x, %w, %b) {pads = [1, 1, 1, 1]} : f32[1,64,14,14]LAYOUT
       %z = relu(%y) : f32[1,64,14,14]LAYOUT
       return "": %z })"},
    {"conv_of_image", R"(graph @g(%x: f32[1,3,33,37], %w: f32[32,3,7,7]) {
       %y = conv(%x, %w) {pads = [3, 3, 3, 3], strides = [2, 2]} : f32[1,32,17,19]LAYOUT
       return "": %y })"},
    {"conv_in_groups", R"(graph @g(%x: f32[1,64,9,9]LAYOUT, %w: f32[64,16,3,3]) {
       %y = conv(%x, %w) {group = 4, pads = [1, 1, 1, 1]} : f32[1,64,9,9]LAYOUT
       return "": %y })"},
    {"conv_with_scaled_weights",
     R"(graph @g(%x: f32[1,32,20,20]LAYOUT, %w: f32[48,32,1,1], %s: f32[1,32,1,1]LAYOUT) {
       %v = mul(%w, %s) : f32[48,32,1,1]LAYOUT
       %y = conv(%x, %v) : f32[1,48,20,20]LAYOUT
       return "": %y })"},
    {"conv_bf16", R"(graph @g(%x: bf16[1,64,14,14]LAYOUT, %w: bf16[64,64,3,3], %b: bf16[64]) {
       %y = conv(%x, %w, %b) {pads = [1, 1, 1, 1]} : bf16[1,64,14,14]LAYOUT
       return "": %y })"},
    {"conv_of_image_bf16", R"(graph @g(%x: bf16[1,3,32,32], %w: bf16[32,3,3,3]) {
       %y = conv(%x, %w) {pads = [1, 1, 1, 1], strides = [2, 2]} : bf16[1,32,16,16]LAYOUT
       return "": %y })"},
    {"conv_of_bytes", R"(graph @g(%x: u8[1,64,14,14]LAYOUT, %w: i8[64,64,3,3]) {
       %y = conv_integer(%x, %w) {pads = [1, 1, 1, 1]} : i32[1,64,14,14]LAYOUT
       return "": %y })"},
    {"conv_of_i16", R"(graph @g(%x: i16[1,64,14,14]LAYOUT, %w: i16[64,64,3,3]) {
       %y = conv_integer(%x, %w) {pads = [1, 1, 1, 1]} : i32[1,64,14,14]LAYOUT
       return "": %y })"},
    {"conv_over_3_axes", R"(graph @g(%x: f32[1,8,6,10,12], %w: f32[16,8,3,3,3]) {
       %y = conv(%x, %w) {pads = [1, 1, 1, 1, 1, 1]} : f32[1,16,6,10,12]
       return "": %y })"},
    {"depthwise_with_mean", R"(graph @g(%x: f32[1,32,13,11]LAYOUT, %w: f32[32,1,3,3]) {
       %y = conv(%x, %w) {group = 32, pads = [1, 1, 1, 1]} : f32[1,32,13,11]LAYOUT
       %m = reduce_mean(%y) {axes = [2, 3], keepdims = 1} : f32[1,32,1,1]LAYOUT
       return "": %y, "m": %m })"},
    {"depthwise_bf16", R"(graph @g(%x: bf16[1,32,13,11]LAYOUT, %w: bf16[32,1,3,3]) {
       %y = conv(%x, %w) {group = 32, pads = [1, 1, 1, 1]} : bf16[1,32,13,11]LAYOUT
       return "": %y })"},
    {"pool", R"(graph @g(%x: f32[1,32,15,15]LAYOUT) {
       %y = max_pool(%x) {kernel = [3, 3], strides = [2, 2]} : f32[1,32,7,7]LAYOUT
       return "": %y })"},
    {"bottleneck",
     R"(graph @g(%x: f32[1,16,56,56]LAYOUT, %w: f32[96,16,1,1], %v: f32[96,1,3,3], %u: f32[16,96,1,1]) {
       %a = conv(%x, %w) : f32[1,96,56,56]LAYOUT
       %b = relu(%a) : f32[1,96,56,56]LAYOUT
       %c = conv(%b, %v) {group = 96, pads = [1, 1, 1, 1]} : f32[1,96,56,56]LAYOUT
       %d = conv(%c, %u) : f32[1,16,56,56]LAYOUT
       %e = add(%d, %x) : f32[1,16,56,56]LAYOUT
       return "": %e })"},
    {"matmul", R"(graph @g(%x: f32[128,96], %w: f32[96,200], %b: f32[200]) {
       %y = matmul(%x, %w) : f32[128,200]
       %z = add(%y, %b) : f32[128,200]
       return "": %z })"},
    {"matmul_of_row", R"(graph @g(%x: f32[1,512], %w: f32[512,1000]) {
       %y = matmul(%x, %w) : f32[1,1000]
       return "": %y })"},
    {"matmul_bf16", R"(graph @g(%x: bf16[128,96], %w: bf16[96,200]) {
       %y = matmul(%x, %w) : bf16[128,200]
       return "": %y })"},
    {"matmul_of_bytes", R"(graph @g(%x: u8[48,64], %w: i8[64,80]) {
       %y = matmul_integer(%x, %w) : i32[48,80]
       return "": %y })"},
    {"attention", R"(graph @g(%q: f32[1,4,50,64], %k: f32[1,4,50,64], %v: f32[1,4,50,64]) {
       %y = attention(%q, %k, %v) {scale = 0.125} : f32[1,4,50,64]
       return "": %y })"},
    {"attention_bf16", R"(graph @g(%q: bf16[1,2,64,64], %k: bf16[1,2,64,64], %v: bf16[1,2,64,64]) {
       %y = attention(%q, %k, %v) {scale = 0.125} : bf16[1,2,64,64]
       return "": %y })"},
    {"softmax", R"(graph @g(%x: f32[64,100]) {
       %y = softmax(%x) {axis = 1} : f32[64,100]
       return "": %y })"},
    {"silu_transposed", R"(graph @g(%x: f32[40,60]) {
       %y = silu(%x) : f32[40,60]
       %z = transpose(%y) {perm = [1, 0]} : f32[60,40]
       return "": %z })"},
};

// The kernel that a strategy gave at one version, for a target and a workload.
struct Given {
  int version = 0;
  std::string config;
  std::string digest;  // the first digits

  bool operator==(const Given&) const = default;
};
using Lines = std::map<std::string, Given>;  // by "strategy target workload"

void AddLines(const NamedGroup& group, const Target& target, Lines& lines) {
  SCOPED_TRACE(absl::StrCat(group.name, " for ", target.name));
  const auto region =
      ParseGraph(absl::StrReplaceAll(group.text, {{"LAYOUT", absl::StrCat("{c1/", target.Lanes(4), "}")}}));
  ASSERT_TRUE(region.ok()) << region.status();
  const auto workload = AnalyzeGroup(**region, "group");
  ASSERT_TRUE(workload.ok()) << workload.status();
  constexpr size_t kDigits = 16;
  for (const Strategy& strategy : AllStrategies()) {
    if (!strategy.why_not(*workload, target).empty()) continue;
    const Config config = strategy.analytic_default(*workload, target);
    const auto scheduled = ScheduleBy(strategy, *workload, config, target);
    ASSERT_TRUE(scheduled.ok()) << scheduled.status();
    const auto nest = scheduled->schedule.Lower();
    ASSERT_TRUE(nest.ok()) << strategy.name << ": " << nest.status();
    lines[absl::StrCat(strategy.name, " ", target.name, " ", group.name)] = {
        strategy.version, ToString(config), Sha256Hex(Print(*nest)).substr(0, kDigits)};
  }
}

Lines LinesNow() {
  Lines lines;
  for (const char* target : kTargets) {
    for (const NamedGroup& group : kGroups) AddLines(group, *TargetByName(target), lines);
  }
  return lines;
}

std::string ToText(const Lines& lines) {
  std::string text;
  for (const auto& [key, given] : lines) {
    absl::StrAppend(&text, key, " version=", given.version, " digest=", given.digest,
                    given.config.empty() ? "" : " ", given.config, "\n");
  }
  return text;
}

Lines FromText(const std::string& text) {
  Lines lines;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ');
    constexpr size_t kFixed = 5;
    if (words.size() < kFixed) ADD_FAILURE() << "strategy_digests.txt has the line '" << line << "'";
    if (words.size() < kFixed) continue;
    Given& given = lines[absl::StrJoin(words.begin(), words.begin() + 3, " ")];
    EXPECT_TRUE(absl::SimpleAtoi(words[3].substr(words[3].find('=') + 1), &given.version)) << line;
    given.digest = words[4].substr(words[4].find('=') + 1);
    given.config = absl::StrJoin(words.begin() + kFixed, words.end(), " ");
  }
  return lines;
}

// Whether the same version and config give another kernel than before.
bool BreaksPromise(const Given& before, const Given& now) {
  return before.version == now.version && before.config == now.config && before.digest != now.digest;
}

TEST(StrategyDigestsTest, TheSameVersionAndConfigGiveTheSameKernel) {
  const auto text = ReadFile(ATTUNE_STRATEGY_DIGESTS, 1 << 20);
  const bool rewrites = std::getenv(kRewriteVariable) != nullptr;
  ASSERT_TRUE(text.ok() || rewrites) << text.status();
  const Lines before = FromText(text.value_or("")), now = LinesNow();
  std::set<std::string> broken;
  for (const auto& [key, given] : now) {
    const auto known = before.find(key);
    if (known != before.end() && BreaksPromise(known->second, given))
      broken.insert(key.substr(0, key.find(' ')));
  }
  for (const std::string& strategy : broken) {
    ADD_FAILURE()
        << "The strategy " << strategy << " gives another kernel than before, and is still version "
        << FindStrategy(strategy)->version
        << ".\nRecords of that version would be taken for kernels that they did not measure. Where "
           "the change is meant, raise its version in src/lower/strategies/strategies.h, then run\n  "
        << kHowToRewrite;
  }
  if (HasFailure()) return;
  if (rewrites) {
    const absl::Status written = WriteFileAtomically(ATTUNE_STRATEGY_DIGESTS, ToText(now));
    EXPECT_TRUE(written.ok()) << written;
    return;
  }
  for (const auto& [key, given] : now) {
    const auto known = before.find(key);
    EXPECT_TRUE(known != before.end() && known->second == given)
        << "strategy_digests.txt is older than the version or the analytic default for " << key << "; run\n  "
        << kHowToRewrite;
  }
  EXPECT_EQ(before.size(), now.size())
      << "strategy_digests.txt has lines that nothing gives any more; run\n  " << kHowToRewrite;
}

TEST(StrategyDigestsTest, EveryStrategyIsThere) {
  std::set<std::string> there;
  for (const auto& [key, given] : LinesNow()) there.insert(key.substr(0, key.find(' ')));
  for (const Strategy& strategy : AllStrategies())
    EXPECT_TRUE(there.contains(std::string(strategy.name)))
        << strategy.name << " applies to no group of strategy_digests_test.cc: add one";
}

}  // namespace
}  // namespace attune
