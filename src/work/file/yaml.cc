#include "work/file/yaml.h"

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune {
namespace {

// Aliases can make a small file a huge document.
constexpr int kMostDepth = 32;
constexpr int64_t kMostNodes = 4'000'000, kMostOrderedNodes = 50'000;

template <typename Json>
class Converter {
 public:
  explicit Converter(int64_t most_nodes) : nodes_left_(most_nodes) {}

  absl::StatusOr<Json> Convert(const YAML::Node& node, int depth = 0) {
    if (depth > kMostDepth || --nodes_left_ < 0) return Error(node, "is nested too deeply or too large");
    switch (node.Type()) {
      case YAML::NodeType::Scalar:
        return Scalar(node);
      case YAML::NodeType::Sequence:
        return Sequence(node, depth);
      case YAML::NodeType::Map:
        return Map(node, depth);
      default:
        return Json();
    }
  }

 private:
  static absl::Status Error(const YAML::Node& node, std::string_view what) {
    return InvalidInput("line ", node.Mark().line + 1, ": ", what);
  }

  static Json Scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    constexpr std::string_view kQuoted = "!";
    if (node.Tag() == kQuoted) return text;
    if (text == "true" || text == "false") return text == "true";
    if (text == "null" || text == "~") return Json();
    if (int64_t whole = 0; absl::SimpleAtoi(text, &whole)) return whole;
    // Not "inf", "nan" and the like: they are texts.
    const bool is_numeric = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
    if (double number = 0; is_numeric && absl::SimpleAtod(text, &number)) return number;
    return text;
  }

  absl::StatusOr<Json> Sequence(const YAML::Node& node, int depth) {
    Json list = Json::array();
    for (const YAML::Node& item : node) {
      ASSIGN_OR_RETURN(list.emplace_back(), Convert(item, depth + 1));
    }
    return list;
  }

  absl::StatusOr<Json> Map(const YAML::Node& node, int depth) {
    Json object = Json::object();
    for (const auto& entry : node) {
      const YAML::Node &key = entry.first, &value = entry.second;
      if (!key.IsScalar()) return Error(key, "a key is not a text");
      if (object.contains(key.Scalar()))
        return Error(key, absl::StrCat("\"", Printable(key.Scalar()), "\" is there twice"));
      ASSIGN_OR_RETURN(object[key.Scalar()], Convert(value, depth + 1));
    }
    return object;
  }

  int64_t nodes_left_;
};

template <typename Json>
absl::StatusOr<Json> Parse(const std::string& text, int64_t most_nodes) {
  try {
    return Converter<Json>(most_nodes).Convert(YAML::Load(text));
  } catch (const YAML::Exception& error) {
    return InvalidInput("line ", error.mark.line + 1, ": is not YAML: ", WithoutControls(error.msg));
  }
}

}  // namespace

absl::StatusOr<nlohmann::json> ParseYaml(const std::string& text) {
  return Parse<nlohmann::json>(text, kMostNodes);
}

absl::StatusOr<nlohmann::ordered_json> ParseOrderedYaml(const std::string& text) {
  return Parse<nlohmann::ordered_json>(text, kMostOrderedNodes);
}

}  // namespace attune
