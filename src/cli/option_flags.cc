#include "cli/option_flags.h"

#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "api/samples.h"
#include "base/picture_format.h"
#include "cli/destinations.h"
#include "work/job/settings.h"

namespace attune {
namespace {

using NumberParser = std::optional<double> (*)(const std::string& text);

std::string CheckChannels(const std::string& text) {
  return ParseChannels(text).has_value()
             ? ""
             : absl::StrCat("\"", text, "\" is neither a number nor three of them");
}

// Adds the flag of one option, by the type of its member.
struct FlagAdder {
  CLI::App& command;
  const OptionRow& row;
  const std::string flag, help;

  void operator()(bool* to) const {
    const bool value = !row.flag.starts_with("--no-");
    command.add_flag_callback(flag, [to, value] { *to = value; }, help);
  }
  void operator()(int* to) const {
    std::vector<int> values;
    for (const OptionChoice& choice : row.choices) values.push_back(choice.value);
    if (values.empty()) return AddNumber(to);
    command.add_option(flag, *to, help)->check(CLI::IsMember(values));
  }
  void operator()(int64_t* to) const { AddNumber(to); }
  void operator()(uint64_t* to) const { AddNumber(to); }
  void operator()(double* to) const {
    if (row.form == OptionForm::kSeconds)
      return AddParsed(to, ParseSeconds, "a duration like 90s, 5m or 1h30m");
    if (row.form == OptionForm::kShare) return AddParsed(to, ParseShare, "a share like 1% or 0.01");
    AddNumber(to);
  }
  void operator()(std::string* to) const {
    CLI::Option* option = row.form == OptionForm::kOutput ? AddOutputFlag(command, flag, *to, help)
                                                          : command.add_option(flag, *to, help);
    if (!row.choices.empty()) option->check(IsOneOf());
    if (row.form == OptionForm::kChannels) option->check(CheckChannels);
  }
  void operator()(std::vector<std::string>* to) const {
    command.add_option(flag, *to, help)->delimiter(',')->allow_extra_args(false);
  }
  void operator()(std::optional<std::string>* to) const {
    command.add_option_function<std::string>(flag, [to](const std::string& text) { *to = text; }, help);
  }
  void operator()(const ChoiceField& to) const {
    command
        .add_option_function<std::string>(
            flag,
            [this_row = &row, to](const std::string& name) { to.set(*ChoiceNamed(this_row->choices, name)); },
            help)
        ->check(IsOneOf());
  }

 private:
  CLI::Validator IsOneOf() const {
    std::vector<std::string> names;
    for (const OptionChoice& choice : row.choices) names.emplace_back(choice.name);
    return CLI::IsMember(names);
  }
  template <typename Number>
  void AddNumber(Number* to) const {
    CLI::Option* option = command.add_option(flag, *to, help);
    if (std::isinf(row.most)) {
      option->check(CLI::NonNegativeNumber);
    } else {
      option->check(CLI::Range(static_cast<Number>(row.least), static_cast<Number>(row.most)));
    }
  }
  void AddParsed(double* to, NumberParser parse, const std::string& form) const {
    command
        .add_option_function<std::string>(
            flag, [to, parse](const std::string& text) { *to = *parse(text); }, help)
        ->check([parse, form](const std::string& text) {
          return parse(text).has_value() ? "" : absl::StrCat("\"", text, "\" is not ", form);
        });
  }
};

}  // namespace

void AddOptionFlags(CLI::App& command, const BoundOptions& options,
                    const std::map<std::string_view, std::string>& helps) {
  for (const auto& [row, field] : options) {
    if (row->flag.empty()) continue;
    const auto other = helps.find(row->name);
    std::string help(row->flag_help.empty() ? row->help : row->flag_help);
    if (other != helps.end()) help = other->second;
    if (!row->default_help.empty()) absl::StrAppend(&help, " (default: ", row->default_help, ")");
    std::visit(FlagAdder{command, *row, std::string(row->flag), std::move(help)}, field);
  }
}

}  // namespace attune
