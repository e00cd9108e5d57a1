#include "options/option.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/face.h"
#include "base/status.h"

namespace attune {
namespace {

// The value of a number; nothing for other types.
std::optional<double> NumberOf(const OptionField& field) {
  return std::visit(
      [](const auto& member) -> std::optional<double> {
        using Field = std::decay_t<decltype(member)>;
        if constexpr (std::is_same_v<Field, int*> || std::is_same_v<Field, int64_t*> ||
                      std::is_same_v<Field, uint64_t*> || std::is_same_v<Field, double*>) {
          return static_cast<double>(*member);
        } else {
          return std::nullopt;
        }
      },
      field);
}

// An option as the face of the process has it: its name, and its numbers in the face's unit.
struct Shown {
  std::string name;
  double scale = 1;

  // Whole numbers without an exponent.
  std::string Number(double value) const {
    constexpr double kExact = 1e15;
    const double shown = value / scale;
    return std::abs(shown) < kExact && shown == std::floor(shown) ? absl::StrCat(static_cast<int64_t>(shown))
                                                                  : absl::StrCat(shown);
  }
};

Shown ShownAs(const OptionRow& row) {
  if (CurrentFace() == Face::kPython)
    return {.name = std::string(row.python_name), .scale = row.python_scale};
  return {.name = NameAsGiven(row.flag.empty() ? row.name : row.flag, row.cpp_name)};
}

bool IsInRange(const OptionRow& row, double value) {
  if (!row.choices.empty())
    return std::ranges::find(row.choices, value, &OptionChoice::value) != row.choices.end();
  return std::isfinite(value) && value >= row.least && value <= row.most;
}

// "from 1 to 1024", "at least 0" or "16 or 32".
std::string RangeText(const OptionRow& row, const Shown& shown) {
  if (!row.choices.empty())
    return absl::StrJoin(row.choices, " or ", [](std::string* text, const OptionChoice& choice) {
      absl::StrAppend(text, choice.name);
    });
  if (std::isinf(row.most)) return absl::StrCat("at least ", shown.Number(row.least));
  return absl::StrCat("from ", shown.Number(row.least), " to ", shown.Number(row.most));
}

}  // namespace

absl::Status CheckRanges(const BoundOptions& options, const BoundOptions& defaults) {
  for (size_t i = 0; i < options.size(); ++i) {
    const OptionRow& row = *options[i].row;
    const std::optional<double> value = NumberOf(options[i].field), by_default = NumberOf(defaults[i].field);
    if (!value || *value == *by_default || IsInRange(row, *value)) continue;
    const Shown shown = ShownAs(row);
    return InvalidInput(shown.name, ": is ", shown.Number(*value), ", and must be ", RangeText(row, shown),
                        IsInRange(row, *by_default) ? "" : absl::StrCat(", or ", shown.Number(*by_default)));
  }
  return absl::OkStatus();
}

std::string_view NameOfChoice(std::span<const OptionChoice> choices, int value) {
  const auto found = std::ranges::find(choices, value, &OptionChoice::value);
  return found == choices.end() ? std::string_view() : found->name;
}

std::optional<int> ChoiceNamed(std::span<const OptionChoice> choices, std::string_view name) {
  const auto found = std::ranges::find(choices, name, &OptionChoice::name);
  return found == choices.end() ? std::nullopt : std::optional(found->value);
}

nlohmann::json ValueOf(const BoundOption& option) {
  return std::visit(
      [&](const auto& field) -> nlohmann::json {
        using Field = std::decay_t<decltype(field)>;
        if constexpr (std::is_same_v<Field, ChoiceField>) {
          return std::string(NameOfChoice(option.row->choices, field.get()));
        } else if constexpr (std::is_same_v<Field, std::optional<std::string>*>) {
          return field->has_value() ? nlohmann::json(**field) : nlohmann::json();
        } else {
          return *field;
        }
      },
      option.field);
}

std::vector<const OptionRow*> ChangedOptions(const BoundOptions& options, const BoundOptions& defaults) {
  std::vector<const OptionRow*> rows;
  for (size_t i = 0; i < options.size(); ++i)
    if (ValueOf(options[i]) != ValueOf(defaults[i])) rows.push_back(options[i].row);
  return rows;
}

}  // namespace attune
