#include "options/option.h"

#include <algorithm>

namespace attune {

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
