// Rows about options, and the members of settings that they describe. The rows and the settings are made of
// options.toml; flags of the command line, settings of jobs, their JSON schema and the options that records
// keep of a run are loops over these.
#ifndef ATTUNE_OPTIONS_OPTION_H_
#define ATTUNE_OPTIONS_OPTION_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "nlohmann/json.hpp"

namespace attune {

// A value that people write as `name`. Its number is that of an enumerator, or the value itself of a number.
struct OptionChoice {
  std::string_view name;
  int value = 0;
  bool is_public = true;  // whether programs may give it
};

// How a text or a number is written.
enum class OptionForm : uint8_t { kPlain, kSeconds, kShare, kChannels, kPath, kOutput };

struct OptionRow {
  std::string_view name = {};   // of a job's setting
  std::string_view field = {};  // of the member
  std::string_view flag = {};   // with dashes; empty: there is none. One that begins with "--no-" sets false
  std::string_view step = {};   // of the public interfaces
  std::string_view cpp_name = {}, python_name = {};  // in programs; empty: there is none
  double python_scale = 1;                           // the unit of Python in that of the member
  std::string_view help = {};
  std::string_view flag_help = {};     // the help of the flag; empty: `help`
  std::string_view default_help = {};  // what the default is; empty: the help says it
  OptionForm form = OptionForm::kPlain;
  // The range of a number; the default may lie outside.
  double least = 0, most = std::numeric_limits<double>::infinity();
  std::span<const OptionChoice> choices = {};
  bool is_setting = false;        // of a job
  bool is_of_variant = false;     // a setting of a variant of a quantization job
  bool is_needed = false;         // as a setting
  bool may_be_none = false;       // "none" is no path
  bool is_for_artifacts = false;  // has a meaning for what is compiled already
  bool resumes = true;            // whether runs are the same work only if they have the same value of it
};

std::string_view NameOfChoice(std::span<const OptionChoice> choices, int value);
std::optional<int> ChoiceNamed(std::span<const OptionChoice> choices, std::string_view name);

// A member whose type is an enumeration, or a bool that has names.
class ChoiceField {
 public:
  template <typename Type>
  explicit ChoiceField(Type& member)
      : member_(&member),
        is_bool_(std::is_same_v<Type, bool>),
        get_([](const void* from) { return static_cast<int>(*static_cast<const Type*>(from)); }),
        set_([](void* to, int value) { *static_cast<Type*>(to) = static_cast<Type>(value); }) {
    static_assert(std::is_enum_v<Type> || std::is_same_v<Type, bool>);
  }

  bool is_bool() const { return is_bool_; }
  int get() const { return get_(member_); }
  void set(int value) const { set_(member_, value); }

 private:
  void* member_;
  bool is_bool_;
  int (*get_)(const void*);
  void (*set_)(void*, int);
};

// A member of settings, which must outlive it.
using OptionField = std::variant<bool*, int*, int64_t*, uint64_t*, double*, std::string*,
                                 std::vector<std::string>*, std::optional<std::string>*, ChoiceField>;

struct BoundOption {
  const OptionRow* row;
  OptionField field;
};
using BoundOptions = std::vector<BoundOption>;

// Returns the value as JSON: a choice by its name, and null for a text that is not set.
nlohmann::json ValueOf(const BoundOption& option);

// Fails if a number is out of the range of its option, and not its default either. The error names the option
// as the face of the process does.
absl::Status CheckRanges(const BoundOptions& options, const BoundOptions& defaults);
template <typename Settings>
absl::Status CheckRanges(Settings settings) {
  Settings defaults;
  return CheckRanges(OptionsOf(settings), OptionsOf(defaults));
}

// Returns the rows of options that have another value than by default.
std::vector<const OptionRow*> ChangedOptions(const BoundOptions& options, const BoundOptions& defaults);
template <typename Settings>
std::vector<const OptionRow*> ChangedOptions(Settings settings) {
  Settings defaults;
  return ChangedOptions(OptionsOf(settings), OptionsOf(defaults));
}

}  // namespace attune

#endif  // ATTUNE_OPTIONS_OPTION_H_
