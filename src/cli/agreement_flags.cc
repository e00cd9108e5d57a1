#include "cli/agreement_flags.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "work/job/settings.h"
#include "work/sched/priority_class.h"

namespace attune {
namespace {

using Unit = std::pair<std::string_view, double>;

constexpr std::array kTimeUnits = {Unit("us", 1e-3), Unit("ms", 1.0), Unit("s", 1e3)};  // as milliseconds
constexpr std::array kShareUnits = {Unit("%", 1e-2), Unit("", 1.0)};
constexpr std::array kSizeUnits = {Unit("KiB", 1024.0),
                                   Unit("MiB", 1024.0 * 1024),
                                   Unit("GiB", 1024.0 * 1024 * 1024),
                                   Unit("KB", 1e3),
                                   Unit("MB", 1e6),
                                   Unit("GB", 1e9),
                                   Unit("B", 1.0)};

// A number with one of the units, the first that fits; nothing if it is none, or is negative.
template <size_t kCount>
std::optional<double> WithUnit(std::string_view text, const std::array<Unit, kCount>& units) {
  for (const auto& [unit, factor] : units) {
    if (!text.ends_with(unit)) continue;
    double number = 0;
    if (!absl::SimpleAtod(absl::StripAsciiWhitespace(text.substr(0, text.size() - unit.size())), &number))
      return std::nullopt;
    if (!std::isfinite(number) || number < 0) return std::nullopt;
    return number * factor;
  }
  return std::nullopt;
}

std::optional<int> PriorityNumber(const std::string& text) {
  int number = 0;
  if (!absl::SimpleAtoi(text, &number) || std::abs(number) > kMostJobPriority) return std::nullopt;
  return number;
}

template <typename Read>
CLI::Validator Checks(const Read& read, const char* why) {
  return {[read, why](const std::string& text) { return read(text).has_value() ? "" : why; }, "", ""};
}

// Jobs of other kinds have deadlines by which they are scheduled, and nothing is promised to them.
bool MayHavePromise(const Json& job) { return job["kind"] == "tuning" || job["kind"] == "quantization"; }

bool HasPromise(const AgreementFlags& flags, const Json& job) {
  return (MayHavePromise(job) && !flags.deadline.empty()) ||
         !(flags.latency + flags.p99 + flags.accuracy_loss + flags.size + flags.device_time).empty() ||
         (!flags.priority.empty() && !PriorityNumber(flags.priority));
}

}  // namespace

void AddAgreementFlags(CLI::App& command, AgreementFlags& flags) {
  const auto is_time =
      Checks([](const auto& text) { return WithUnit(text, kTimeUnits); }, "not a duration like 5ms or 800us");
  const auto is_duration = Checks(ParseSeconds, "not a duration like 90s, 5m or 1h30m");
  command.add_option("--latency", flags.latency, "highest mean latency of an inference: 5ms")->check(is_time);
  command.add_option("--p99", flags.p99, "highest latency of 99 of 100 inferences: 7ms")->check(is_time);
  command.add_option("--accuracy-loss", flags.accuracy_loss, "highest loss of accuracy: 1%")
      ->check(Checks([](const auto& text) { return WithUnit(text, kShareUnits); },
                     "not a share like 1% or 0.01"));
  command.add_option("--size", flags.size, "largest artifact: 10MB")
      ->check(Checks([](const auto& text) { return WithUnit(text, kSizeUnits); },
                     "not a size like 10MB or 512KiB"));
  command.add_option("--device-time", flags.device_time, "most device time for measuring: 10m")
      ->check(is_duration);
  command
      .add_option("--deadline", flags.deadline,
                  "time from now by which every job must be done: 90s, 5m or 1h30m")
      ->check(is_duration);
  command
      .add_option(
          "--priority", flags.priority,
          "priority of every job: a class of the server, such as standard, or a number; higher goes first")
      ->check([](const std::string& text) {
        const bool is_class = !text.empty() && absl::ascii_isalpha(static_cast<unsigned char>(text.front()));
        return is_class || PriorityNumber(text) ? "" : "neither a class nor a number up to 1000000";
      });
}

void AddAgreement(const AgreementFlags& flags, Json& job) {
  const std::optional<int> number = PriorityNumber(flags.priority);
  if (number) job["priority"] = *number;
  const std::optional<double> deadline = ParseSeconds(flags.deadline);
  if (!HasPromise(flags, job)) {
    if (deadline) job["deadline_seconds"] = *deadline;
    return;
  }
  Json agreement = Json::object();
  if (const auto ms = WithUnit(flags.latency, kTimeUnits)) agreement["latency_ms"]["mean"] = *ms;
  if (const auto ms = WithUnit(flags.p99, kTimeUnits)) agreement["latency_ms"]["p99"] = *ms;
  if (const auto share = WithUnit(flags.accuracy_loss, kShareUnits)) agreement["accuracy_loss"] = *share;
  if (const auto bytes = WithUnit(flags.size, kSizeUnits))
    agreement["size_bytes"] = static_cast<int64_t>(*bytes);
  if (deadline) agreement["deadline_seconds"] = *deadline;
  if (const auto seconds = ParseSeconds(flags.device_time)) agreement["device_seconds"] = *seconds;
  if (!flags.priority.empty() && !number) agreement["priority"] = flags.priority;
  job["agreement"] = std::move(agreement);
}

}  // namespace attune
