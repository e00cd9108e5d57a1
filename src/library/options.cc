#include "library/options.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/picture_format.h"
#include "base/status.h"
#include "library/failure.h"
#include "library/tensors.h"
#include "library/texts.h"
#include "options/option.h"

namespace attune::library {
namespace {

constexpr std::string_view kSteps[] = {"optimize", "compile", "tune", "quantize", "picture"};

absl::Status CheckStep(attune_step step) {
  if (static_cast<size_t>(step) < std::size(kSteps)) return absl::OkStatus();
  return InvalidInput("there is no step ", static_cast<int>(step));
}

// All options of the step, and no others.
BoundOptions OptionsOfStep(attune_options& options) {
  BoundOptions bound;
  for (const BoundOptions& some :
       {OptionsOf(options.compile), OptionsOf(options.tune), OptionsOf(options.quantize),
        OptionsOf(options.samples), OptionsOf(options.picture)})
    std::ranges::copy_if(some, std::back_inserter(bound),
                         [&](const BoundOption& option) { return option.row->step == kSteps[options.step]; });
  return bound;
}

absl::StatusOr<BoundOption> Find(attune_options* options, const char* name) {
  RETURN_IF_ERROR(CheckNotNull(options, name));
  const BoundOptions bound = OptionsOfStep(*options);
  const auto is_named = [&](const BoundOption& option) { return option.row->cpp_name == name; };
  if (const auto found = std::ranges::find_if(bound, is_named); found != bound.end()) return *found;
  return InvalidInput("the step ", kSteps[options->step], " has no option \"", name, "\"; it has ",
                      absl::StrJoin(bound, ", ", [](std::string* text, const BoundOption& option) {
                        absl::StrAppend(text, option.row->cpp_name);
                      }));
}

// The end of the names of the functions that set and read the option.
std::string_view KindOf(const BoundOption& option) {
  if (option.row->form == OptionForm::kChannels) return "doubles";
  if (const auto* choice = std::get_if<ChoiceField>(&option.field))
    return choice->is_bool() ? "bool" : "text";
  constexpr std::string_view kKinds[] = {"bool", "int", "int", "uint", "double", "text", "texts", "text"};
  static_assert(std::variant_size_v<OptionField> == std::size(kKinds) + 1);
  return kKinds[option.field.index()];
}

absl::Status WrongKind(const BoundOption& option) {
  return InvalidInput(option.row->cpp_name, ": is set and read by the functions whose names end in _",
                      KindOf(option));
}

// The member of the option, if it is of this type; otherwise null.
template <typename Type>
Type* MemberOf(const BoundOption& option) {
  auto* const* member = std::get_if<Type*>(&option.field);
  return member == nullptr ? nullptr : *member;
}

template <typename Value>
absl::Status Store(const BoundOption& option, const Value& value) {
  auto* const member = MemberOf<Value>(option);
  if (member == nullptr) return WrongKind(option);
  *member = value;
  return absl::OkStatus();
}

absl::Status Store(const BoundOption& option, bool value) {
  const auto* choice = std::get_if<ChoiceField>(&option.field);
  if (choice == nullptr || !choice->is_bool()) return Store<bool>(option, value);
  choice->set(static_cast<int>(value));
  return absl::OkStatus();
}

absl::Status Store(const BoundOption& option, int64_t value) {
  int* const member = MemberOf<int>(option);
  if (member == nullptr) return Store<int64_t>(option, value);
  if (value != static_cast<int>(value))
    return InvalidInput(option.row->cpp_name, ": is ", value, ", and must fit in 32 bits");
  *member = static_cast<int>(value);
  return absl::OkStatus();
}

absl::Status StoreChoice(const BoundOption& option, const ChoiceField& choice, const std::string& value) {
  std::vector<std::string_view> names;
  for (const OptionChoice& one : option.row->choices)
    if (one.is_public) names.push_back(one.name);
  if (!std::ranges::count(names, value))
    return InvalidInput(option.row->cpp_name, ": \"", value, "\" is none of ", absl::StrJoin(names, ", "));
  choice.set(*ChoiceNamed(option.row->choices, value));
  return absl::OkStatus();
}

absl::Status Store(const BoundOption& option, const std::string& value) {
  if (const auto* choice = std::get_if<ChoiceField>(&option.field))
    return choice->is_bool() ? WrongKind(option) : StoreChoice(option, *choice, value);
  auto* const member = MemberOf<std::optional<std::string>>(option);
  if (member == nullptr) return Store<std::string>(option, value);
  *member = value.empty() ? std::nullopt : std::optional(value);
  return absl::OkStatus();
}

// Finds an option, and stores the value.
template <typename Value>
attune_code Set(attune_options* options, const char* name, attune_failure** failure, const Value& value) {
  return Guard(failure, [&]() -> absl::Status {
    ASSIGN_OR_RETURN(const BoundOption option, Find(options, name));
    return Store(option, value);
  });
}

// Finds an option, and calls `read` with it. Only reads, although settings are bound to be written.
template <typename Value, typename Read>
attune_code Get(const attune_options* options, const char* name, Value* value, attune_failure** failure,
                const Read& read) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(value));
    ASSIGN_OR_RETURN(const BoundOption option, Find(const_cast<attune_options*>(options), name));
    return read(option) ? absl::OkStatus() : WrongKind(option);
  });
}

template <typename Type, typename Value>
bool Load(const BoundOption& option, Value* value) {
  const auto* const member = MemberOf<Type>(option);
  if (member != nullptr) *value = *member;
  return member != nullptr;
}

bool LoadText(const BoundOption& option, const char** value) {
  if (const auto* choice = std::get_if<ChoiceField>(&option.field)) {
    *value = NameOfChoice(option.row->choices, choice->get()).data();
    return !choice->is_bool();
  }
  if (const auto* const plan = MemberOf<std::optional<std::string>>(option)) {
    *value = plan->has_value() ? (*plan)->c_str() : "";
    return true;
  }
  const auto* const text = MemberOf<std::string>(option);
  if (text != nullptr) *value = text->c_str();
  return text != nullptr;
}

absl::Status CheckAll(const attune_options& options) {
  RETURN_IF_ERROR(CheckRanges(options.compile));
  RETURN_IF_ERROR(CheckRanges(options.tune));
  RETURN_IF_ERROR(CheckRanges(options.quantize));
  RETURN_IF_ERROR(CheckRanges(options.samples));
  return CheckRanges(options.picture);
}

}  // namespace

absl::StatusOr<attune_options> OptionsFor(attune_step step, const attune_options* options) {
  if (options == nullptr) return attune_options{.step = step};
  if (options->step != step)
    return InvalidInput("options of the step ", kSteps[options->step], " are given to the step ",
                        kSteps[step]);
  RETURN_IF_ERROR(CheckAll(*options));
  return *options;
}

void TakeOptimizing(CompileSettings from, CompileSettings& to) {
  const BoundOptions source = OptionsOf(from), target = OptionsOf(to);
  for (size_t i = 0; i < source.size(); ++i) {
    if (source[i].row->step != kSteps[ATTUNE_STEP_OPTIMIZE]) continue;
    std::visit(
        [&](const auto& member) {
          const auto& other = std::get<std::decay_t<decltype(member)>>(target[i].field);
          if constexpr (std::is_same_v<std::decay_t<decltype(member)>, ChoiceField>) {
            other.set(member.get());
          } else {
            *other = *member;
          }
        },
        source[i].field);
  }
}

}  // namespace attune::library

using attune::library::CheckNotNull;
using attune::library::Get;
using attune::library::Guard;
using attune::library::Load;
using attune::library::Set;

attune_code attune_options_create(attune_step step, attune_options** options, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(options));
    RETURN_IF_ERROR(attune::library::CheckStep(step));
    *options = new attune_options{.step = step};
    return absl::OkStatus();
  });
}

void attune_options_free(attune_options* options) { delete options; }

attune_code attune_options_set_bool(attune_options* options, const char* name, int value,
                                    attune_failure** failure) {
  return Set(options, name, failure, value != 0);
}

attune_code attune_options_set_int(attune_options* options, const char* name, int64_t value,
                                   attune_failure** failure) {
  return Set(options, name, failure, value);
}

attune_code attune_options_set_uint(attune_options* options, const char* name, uint64_t value,
                                    attune_failure** failure) {
  return Set(options, name, failure, value);
}

attune_code attune_options_set_double(attune_options* options, const char* name, double value,
                                      attune_failure** failure) {
  return Set(options, name, failure, value);
}

attune_code attune_options_set_text(attune_options* options, const char* name, const char* value,
                                    attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(value));
    ASSIGN_OR_RETURN(const attune::BoundOption option, attune::library::Find(options, name));
    return attune::library::Store(option, std::string(value));
  });
}

attune_code attune_options_set_texts(attune_options* options, const char* name, const char* const* values,
                                     size_t count, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    if (count > 0) RETURN_IF_ERROR(CheckNotNull(values));
    std::vector<std::string> texts;
    for (const char* text : std::span(values, count)) {
      RETURN_IF_ERROR(CheckNotNull(text));
      texts.emplace_back(text);
    }
    ASSIGN_OR_RETURN(const attune::BoundOption option, attune::library::Find(options, name));
    return attune::library::Store(option, texts);
  });
}

attune_code attune_options_set_doubles(attune_options* options, const char* name, const double* values,
                                       size_t count, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    if (count > 0) RETURN_IF_ERROR(CheckNotNull(values));
    ASSIGN_OR_RETURN(const attune::BoundOption option, attune::library::Find(options, name));
    if (option.row->form != attune::OptionForm::kChannels) return attune::library::WrongKind(option);
    return attune::library::Store(option, attune::ChannelsText(std::span(values, count)));
  });
}

attune_code attune_options_set_arrays(attune_options* options, const char* name, const attune_array* values,
                                      size_t count, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(options, name));
    if (options->step != ATTUNE_STEP_OPTIMIZE || std::string_view(name) != "examples")
      return attune::InvalidInput("only the step optimize has tensors as an option, \"examples\"");
    ASSIGN_OR_RETURN(options->examples, attune::library::ToOwn(values, count));
    return absl::OkStatus();
  });
}

attune_code attune_options_get_bool(const attune_options* options, const char* name, int* value,
                                    attune_failure** failure) {
  return Get(options, name, value, failure, [&](const attune::BoundOption& option) {
    const auto* choice = std::get_if<attune::ChoiceField>(&option.field);
    if (choice == nullptr || !choice->is_bool()) return Load<bool>(option, value);
    *value = choice->get();
    return true;
  });
}

attune_code attune_options_get_int(const attune_options* options, const char* name, int64_t* value,
                                   attune_failure** failure) {
  return Get(options, name, value, failure, [&](const attune::BoundOption& option) {
    return Load<int>(option, value) || Load<int64_t>(option, value);
  });
}

attune_code attune_options_get_uint(const attune_options* options, const char* name, uint64_t* value,
                                    attune_failure** failure) {
  return Get(options, name, value, failure,
             [&](const attune::BoundOption& option) { return Load<uint64_t>(option, value); });
}

attune_code attune_options_get_double(const attune_options* options, const char* name, double* value,
                                      attune_failure** failure) {
  return Get(options, name, value, failure,
             [&](const attune::BoundOption& option) { return Load<double>(option, value); });
}

attune_code attune_options_get_text(const attune_options* options, const char* name, const char** value,
                                    attune_failure** failure) {
  return Get(options, name, value, failure,
             [&](const attune::BoundOption& option) { return attune::library::LoadText(option, value); });
}

attune_code attune_options_get_texts(const attune_options* options, const char* name,
                                     const attune_texts** values, attune_failure** failure) {
  return Get(options, name, values, failure, [&](const attune::BoundOption& option) {
    std::vector<std::string> texts;
    const bool is_list = Load<std::vector<std::string>>(option, &texts);
    if (is_list) *values = attune::library::NewTexts(texts);
    return is_list;
  });
}

attune_code attune_options_check(const attune_options* options, attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(options));
    return attune::library::CheckAll(*options);
  });
}
