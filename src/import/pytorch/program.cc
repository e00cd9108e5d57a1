#include "import/pytorch/program.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"
#include "import/pytorch/vocabulary.h"

namespace attune::pytorch {
namespace {

// Each nested graph takes about eight levels.
constexpr int kMaxNesting = 256;

// The nesting depth of arrays and objects, ignoring brackets in strings.
int Nesting(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

std::string ReadText(const Json& value, std::string_view what) {
  if (!value.is_string()) Invalid("its ", what, " is not a string");
  return value.get<std::string>();
}

int64_t ReadInt(const Json& value, std::string_view what) {
  if (!value.is_number_integer()) Invalid("its ", what, " is not an integer");
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) Invalid("its ", what, " is too large");
  return value.get<int64_t>();
}

const Json::array_t& ReadList(const Json& value, std::string_view what) {
  if (!value.is_array()) Invalid("its ", what, " is not a list");
  return value.get_ref<const Json::array_t&>();
}

// Infinities and NaN are stored as strings.
double ReadFloat(const Json& value) {
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    if (text == "Infinity") return std::numeric_limits<double>::infinity();
    if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  }
  Invalid("a number is ", value.is_string() ? "a string" : value.type_name());
}

bool ReadBool(const Json& value) {
  if (!value.is_boolean()) Invalid("a truth value is ", value.type_name());
  return value.get<bool>();
}

Item NumberItem(Number number) { return Item{.number = number}; }

Item TensorItem(const Json& value) { return Item{.name = TextField(value, "name")}; }

Item OptionalTensorItem(const Json& value) {
  const auto [kind, held] = ReadUnion(value);
  if (kind == "as_tensor") return TensorItem(*held);
  if (kind == "as_none") return {};
  Invalid("an optional tensor is '", kind, "'");
}

// A name, or a number of any kind.
Item SymbolItem(const Json& value) {
  const auto [kind, held] = ReadUnion(value);
  if (kind == "as_name") return Item{.name = ReadText(*held, "name")};
  if (kind == "as_int") return NumberItem(ReadInt(*held, "number"));
  if (kind == "as_float") return NumberItem(ReadFloat(*held));
  if (kind == "as_bool") return NumberItem(ReadBool(*held));
  Invalid("a symbolic number is '", kind, "'");
}

Item IntItem(const Json& value) { return NumberItem(ReadInt(value, "number")); }
Item FloatItem(const Json& value) { return NumberItem(ReadFloat(value)); }
Item BoolItem(const Json& value) { return NumberItem(ReadBool(value)); }

// The alternatives of an argument that contain items, by name.
struct ItemKind {
  std::string_view name;
  Argument::Kind kind;
  Item (*read)(const Json& value);
  bool list;
};
constexpr ItemKind kItemKinds[] = {
    {"as_tensor", Argument::Kind::kTensor, TensorItem, false},
    {"as_tensors", Argument::Kind::kTensors, TensorItem, true},
    {"as_optional_tensor", Argument::Kind::kTensor, OptionalTensorItem, false},
    {"as_optional_tensors", Argument::Kind::kTensors, OptionalTensorItem, true},
    {"as_int", Argument::Kind::kNumber, IntItem, false},
    {"as_ints", Argument::Kind::kNumbers, IntItem, true},
    {"as_float", Argument::Kind::kNumber, FloatItem, false},
    {"as_floats", Argument::Kind::kNumbers, FloatItem, true},
    {"as_bool", Argument::Kind::kNumber, BoolItem, false},
    {"as_bools", Argument::Kind::kNumbers, BoolItem, true},
    {"as_sym_int", Argument::Kind::kNumber, SymbolItem, false},
    {"as_sym_ints", Argument::Kind::kNumbers, SymbolItem, true},
    {"as_sym_float", Argument::Kind::kNumber, SymbolItem, false},
    {"as_sym_floats", Argument::Kind::kNumbers, SymbolItem, true},
    {"as_sym_bool", Argument::Kind::kNumber, SymbolItem, false},
    {"as_sym_bools", Argument::Kind::kNumbers, SymbolItem, true},
};

// "s77", or "Symbol('s77', integer=True)" in newer versions. Empty for an expression.
std::string SymbolIn(std::string_view expression) {
  constexpr std::string_view kSymbol = "Symbol('";
  if (expression.starts_with(kSymbol)) {
    expression.remove_prefix(kSymbol.size());
    const size_t end = expression.find('\'');
    if (end == std::string_view::npos || expression.find('(', end) != std::string_view::npos) return "";
    expression = expression.substr(0, end);
  }
  const bool plain = std::all_of(expression.begin(), expression.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  return plain ? std::string(expression) : "";
}

struct ScalarType {
  std::string_view name;
  std::optional<DType> dtype;
};
constexpr ScalarType kScalarTypes[] = {
    {"unknown", std::nullopt},   {"uint8", DType::kU8},       {"int8", DType::kI8},
    {"int16", DType::kI16},      {"int32", DType::kI32},      {"int64", DType::kI64},
    {"float16", DType::kF16},    {"float32", DType::kF32},    {"float64", DType::kF64},
    {"complex32", std::nullopt}, {"complex64", std::nullopt}, {"complex128", std::nullopt},
    {"bool", DType::kBool},      {"bfloat16", DType::kBF16},
};
constexpr int64_t kUint16 = 28;
constexpr ScalarType kLaterScalarTypes[] = {
    {"uint16", DType::kU16},           {"float8_e4m3fn", std::nullopt},   {"float8_e5m2", std::nullopt},
    {"float8_e4m3fnuz", std::nullopt}, {"float8_e5m2fnuz", std::nullopt}, {"float8_e8m0fnu", std::nullopt},
    {"uint32", DType::kU32},           {"uint64", DType::kU64},
};

const ScalarType* FindScalarType(int64_t type) {
  if (type >= 0 && type < std::ssize(kScalarTypes)) return &kScalarTypes[type];
  if (type >= kUint16 && type < kUint16 + std::ssize(kLaterScalarTypes))
    return &kLaterScalarTypes[type - kUint16];
  return nullptr;
}

}  // namespace

Json ParseJson(std::string_view text, std::string_view what) {
  if (Nesting(text) > kMaxNesting) Invalid(what, " nests more than ", kMaxNesting, " deep");
  Json json = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) Invalid(what, " is not a JSON object");
  return json;
}

const Json* OptionalField(const Json& object, std::string_view name) {
  if (!object.is_object()) Invalid("the owner of the field '", name, "' is ", object.type_name());
  const auto it = object.find(std::string(name));
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

const Json& Field(const Json& object, std::string_view name) {
  const Json* field = OptionalField(object, name);
  if (field == nullptr) Invalid("the field '", name, "' is missing");
  return *field;
}

std::string TextField(const Json& object, std::string_view name) {
  return ReadText(Field(object, name), name);
}

int64_t IntField(const Json& object, std::string_view name) { return ReadInt(Field(object, name), name); }

const Json::array_t& ListField(const Json& object, std::string_view name) {
  return ReadList(Field(object, name), name);
}

std::pair<std::string, const Json*> ReadUnion(const Json& value) {
  if (!value.is_object() || value.size() != 1) Invalid("a union does not have exactly one member");
  return {value.begin().key(), &value.begin().value()};
}

ExactNumber Exact(const Number& number) {
  return std::visit([](auto value) { return ExactNumber(value); }, number);
}

double ToDouble(const Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

int64_t ToInt(const Number& number) {
  if (const int64_t* value = std::get_if<int64_t>(&number)) return *value;
  if (const bool* value = std::get_if<bool>(&number)) return *value ? 1 : 0;
  const double value = std::get<double>(number);
  if (!(std::abs(value) < 0x1p62) || value != std::floor(value)) Invalid(value, " is not an integer");
  return static_cast<int64_t>(value);
}

SymbolicInt ReadSymbolicInt(const Json& value) {
  const auto [kind, held] = ReadUnion(value);
  if (kind == "as_int") return SymbolicInt{.value = ReadInt(*held, "size")};
  if (kind != "as_expr") Invalid("a size is '", kind, "'");
  return SymbolicInt{.symbol = SymbolIn(TextField(*held, "expr_str"))};
}

TensorMeta ReadTensorMeta(const Json& value) {
  constexpr int64_t kStrided = 7;
  TensorMeta meta;
  meta.scalar_type = IntField(value, "dtype");
  for (const Json& size : ListField(value, "sizes")) meta.sizes.push_back(ReadSymbolicInt(size));
  for (const Json& stride : ListField(value, "strides")) meta.strides.push_back(ReadSymbolicInt(stride));
  meta.storage_offset = ReadSymbolicInt(Field(value, "storage_offset"));
  meta.strided = IntField(value, "layout") == kStrided;
  return meta;
}

std::optional<DType> DTypeFromTorch(int64_t scalar_type) {
  const ScalarType* type = FindScalarType(scalar_type);
  return type != nullptr ? type->dtype : std::nullopt;
}

std::string TorchTypeName(int64_t scalar_type) {
  const ScalarType* type = FindScalarType(scalar_type);
  return type != nullptr ? std::string(type->name) : absl::StrCat("type ", scalar_type);
}

Argument ReadArgument(const Json& value) {
  const auto [name, held] = ReadUnion(value);
  for (const ItemKind& row : kItemKinds) {
    if (row.name != name) continue;
    Argument argument{.kind = row.kind};
    if (row.list) {
      for (const Json& item : ReadList(*held, name)) argument.items.push_back(row.read(item));
    } else {
      argument.items.push_back(row.read(*held));
    }
    const bool none = row.kind == Argument::Kind::kTensor && argument.items[0].name.empty();
    return none ? Argument() : argument;
  }
  if (name == "as_none") return {};
  if (name == "as_string") return {.kind = Argument::Kind::kString, .text = ReadText(*held, name)};
  if (name == "as_scalar_type") return {.kind = Argument::Kind::kType, .scalar_type = ReadInt(*held, name)};
  if (name == "as_graph") return {.kind = Argument::Kind::kGraph, .graph = &Field(*held, "graph")};
  return {.kind = Argument::Kind::kOther, .text = name};
}

NodeProgram ReadNode(const Json& value) {
  NodeProgram node;
  node.target = TextField(value, "target");
  for (const Json& input : ListField(value, "inputs")) {
    node.inputs.emplace_back(TextField(input, "name"), ReadArgument(Field(input, "arg")));
  }
  for (const Json& output : ListField(value, "outputs")) node.outputs.push_back(ReadArgument(output));
  const Json* name = OptionalField(value, "name");
  if (name != nullptr) node.name = ReadText(*name, "name");
  for (size_t i = 0; node.name.empty() && i < node.outputs.size(); ++i) {
    if (!node.outputs[i].items.empty()) node.name = node.outputs[i].items[0].name;
  }
  return node;
}

}  // namespace attune::pytorch
