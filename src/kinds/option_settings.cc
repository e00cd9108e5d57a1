#include "kinds/option_settings.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "api/named_shape.h"
#include "api/samples.h"
#include "base/picture_format.h"
#include "base/printable.h"
#include "options/settings.h"

namespace attune {
namespace {

bool IsOffered(const OptionRow& row, SettingsOf of) {
  return of == SettingsOf::kJob ? row.is_setting : row.is_of_variant;
}

// Reads one option, by the type of its member.
struct OptionReader {
  SettingsReader& reader;
  const OptionRow& row;

  void operator()(bool* to) const { reader.Read(row.name, *to); }
  void operator()(int64_t* to) const { Read(to, std::numeric_limits<int64_t>::max()); }
  void operator()(int* to) const {
    if (!row.choices.empty()) return ReadNumberOf(to);
    Read(to, std::numeric_limits<int>::max());
  }
  void operator()(uint64_t* to) const {
    auto value = static_cast<int64_t>(*to);
    (*this)(&value);
    *to = static_cast<uint64_t>(value);
  }
  void operator()(double* to) const {
    if (row.form == OptionForm::kSeconds) return reader.ReadSeconds(row.name, *to);
    if (row.form == OptionForm::kShare) return ReadShare(to);
    reader.Read(row.name, *to, row.least, row.most);
  }
  void operator()(std::string* to) const {
    if (row.form == OptionForm::kChannels) return ReadChannels(*to);
    if (row.form != OptionForm::kPath && row.form != OptionForm::kOutput) return ReadText(to);
    if (row.may_be_none) reader.Read(row.name, *to);
    if (!row.may_be_none || *to != "none") reader.ReadPath(row.name, *to, row.is_needed);
  }
  void operator()(std::vector<std::string>* to) const { reader.Read(row.name, *to); }
  void operator()(std::optional<std::string>* to) const {
    std::string text;
    reader.Read(row.name, text);
    if (!text.empty()) *to = std::move(text);
  }
  void operator()(const ChoiceField& to) const {
    std::string name(NameOfChoice(row.choices, to.get()));
    reader.ReadOneOf(row.name, name, Names());
    if (const std::optional<int> value = ChoiceNamed(row.choices, name)) to.set(*value);
  }

 private:
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const OptionChoice& choice : row.choices) names.emplace_back(choice.name);
    return names;
  }
  template <typename Number>
  void Read(Number* to, Number without_limit) const {
    const Number most = std::isinf(row.most) ? without_limit : static_cast<Number>(row.most);
    reader.Read(row.name, *to, static_cast<Number>(row.least), most);
  }
  // One of some numbers, or 0.
  void ReadNumberOf(int* to) const {
    std::vector<int> values = {0};
    for (const OptionChoice& choice : row.choices) values.push_back(choice.value);
    reader.Read(row.name, *to, 0, std::ranges::max(values));
    if (std::ranges::find(values, *to) == values.end())
      reader.Fail(row.name, absl::StrCat("is none of ", absl::StrJoin(values, ", ")));
  }
  void ReadText(std::string* to) const {
    std::string text = *to;
    reader.Read(row.name, text);
    if (text == *to) return;
    if (!row.choices.empty()) return reader.ReadOneOf(row.name, *to, Names());
    *to = std::move(text);
  }
  // A number where people write one, as a text.
  void ReadNumberOrText(std::string& to) const {
    const nlohmann::json value = reader.ReadJson(row.name);
    if (value.is_number()) {
      to = value.dump();
    } else {
      reader.Read(row.name, to);
    }
  }
  void ReadChannels(std::string& to) const {
    ReadNumberOrText(to);
    if (!to.empty() && !ParseChannels(to).has_value())
      reader.Fail(row.name, "is neither a number nor three with commas");
  }
  void ReadShare(double* to) const {
    std::string text;
    ReadNumberOrText(text);
    if (reader.ReadJson(row.name).is_null()) return;
    if (const std::optional<double> share = ParseShare(text)) {
      *to = *share;
    } else {
      reader.Fail(row.name, absl::StrCat("\"", Printable(text), "\" is not a share like 1% or 0.01"));
    }
  }
};

bool NamesOne(const nlohmann::json& settings, const BoundOptions& options) {
  return std::ranges::any_of(options, [&](const BoundOption& option) {
    return option.row->is_setting && settings.contains(std::string(option.row->name));
  });
}

}  // namespace

void ReadOptions(SettingsReader& reader, const BoundOptions& options, SettingsOf of) {
  for (const BoundOption& option : options)
    if (IsOffered(*option.row, of)) std::visit(OptionReader{reader, *option.row}, option.field);
}

void WriteOptions(const BoundOptions& options, SettingsOf of, nlohmann::ordered_json& to) {
  for (const BoundOption& option : options)
    if (IsOffered(*option.row, of)) to[std::string(option.row->name)] = ValueOf(option);
}

void CheckShapes(SettingsReader& reader, const std::vector<std::string>& shapes) {
  std::set<std::string> names;
  for (const std::string& text : shapes) {
    const auto shape = ParseNamedShape(text);
    if (!shape.has_value())
      return reader.Fail("shapes", absl::StrCat("\"", Printable(text), "\" is not like input=1x3x224x224"));
    if (!names.insert(shape->first).second)
      return reader.Fail("shapes", absl::StrCat("input \"", Printable(shape->first), "\" is given twice"));
  }
}

bool ChangeArtifact(const nlohmann::json& settings) {
  CompileSettings compile;
  PictureSettings pictures;
  return NamesOne(settings, OptionsOf(compile)) || NamesOne(settings, OptionsOf(pictures));
}

}  // namespace attune
