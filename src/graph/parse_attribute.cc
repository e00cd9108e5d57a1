#include "graph/parse_attribute.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "base/status.h"
#include "base/text/quote.h"
#include "graph/infer.h"
#include "graph/literal.h"
#include "graph/names.h"

namespace attune {
namespace {

absl::StatusOr<int64_t> TakeInt(Lexer& lexer) { return lexer.TakeInteger(); }

absl::StatusOr<double> TakeFloat(Lexer& lexer) {
  const std::optional<double> value = lexer.AtWord() ? ParseFloat(lexer.token().text) : std::nullopt;
  if (!value) return lexer.Error("expected a number");
  lexer.Next();
  return *value;
}

absl::StatusOr<ExactNumber> TakeNumber(Lexer& lexer) {
  const std::optional<ExactNumber> value = lexer.AtWord() ? ParseNumber(lexer.token().text) : std::nullopt;
  if (!value) return lexer.Error("expected a number");
  lexer.Next();
  return *value;
}

absl::StatusOr<DType> TakeDType(Lexer& lexer) {
  const std::optional<DType> dtype = lexer.AtWord() ? ParseDType(lexer.token().text) : std::nullopt;
  if (!dtype) return lexer.Error("expected an element type");
  lexer.Next();
  return *dtype;
}

// "[a, b]", each item by `take`.
template <typename T>
absl::StatusOr<Attribute> TakeList(Lexer& lexer, absl::StatusOr<T> (*take)(Lexer&)) {
  std::vector<T> items;
  RETURN_IF_ERROR(lexer.Expect("["));
  if (lexer.Take("]")) return items;
  do {
    ASSIGN_OR_RETURN(T item, take(lexer));
    items.push_back(item);
  } while (lexer.Take(","));
  RETURN_IF_ERROR(lexer.Expect("]"));
  return items;
}

// "64", or "n<=100" with a name that may be in quotes.
absl::StatusOr<Dim> TakeDim(Lexer& lexer) {
  Dim dim;
  if (lexer.AtString() || IsIdentifier(lexer.token().text)) {
    const size_t offset = lexer.token().offset;
    if (lexer.AtString()) {
      ASSIGN_OR_RETURN(dim.symbol, lexer.TakeString());
    } else {
      dim.symbol = lexer.token().text;
      lexer.Next();
    }
    if (dim.symbol.empty() || dim.symbol == kNewSymbol) {
      return lexer.ErrorAt(offset, "this cannot name a dimension");
    }
    RETURN_IF_ERROR(lexer.Expect("<"));
    RETURN_IF_ERROR(lexer.Expect("="));
  }
  ASSIGN_OR_RETURN(dim.size, lexer.TakeInteger(0));
  return dim;
}

// "c1/16}", after the brace.
absl::StatusOr<Layout> TakeLayout(Lexer& lexer) {
  Layout layout;
  const std::string_view word = lexer.token().text;
  const std::optional<int64_t> axis = ParseInt(word.substr(std::min<size_t>(1, word.size())));
  constexpr int kMaxAxis = 63;
  if (!lexer.AtWord() || word.front() != 'c' || !axis || *axis < 0 || *axis > kMaxAxis) {
    return lexer.Error("expected a blocked axis such as c1");
  }
  layout.blocked_axis = static_cast<int>(*axis);
  lexer.Next();
  RETURN_IF_ERROR(lexer.Expect("/"));
  ASSIGN_OR_RETURN(const int64_t block, lexer.TakeInteger(1, std::numeric_limits<int>::max()));
  layout.block = static_cast<int>(block);
  RETURN_IF_ERROR(lexer.Expect("}"));
  return layout;
}

// The bytes of all elements: `digits` are two for each.
absl::StatusOr<Tensor> TakeBytes(Lexer& lexer, const TensorType& type) {
  const std::string_view digits = lexer.token().text.substr(2);
  const int64_t bytes = type.num_elements() * DTypeSize(type.dtype);
  if (std::ssize(digits) != 2 * bytes) {
    return lexer.Error(absl::StrCat("expected ", 2 * bytes, " hexadecimal digits, found ", digits.size()));
  }
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(type.dtype, type.shape()));
  for (size_t i = 0; i < static_cast<size_t>(bytes); ++i) {
    const int high = HexDigit(digits[2 * i]);
    const int low = HexDigit(digits[2 * i + 1]);
    if (high < 0 || low < 0) return lexer.Error("not all of these are hexadecimal digits");
    const int byte = high * 16 + low;
    if (type.dtype == DType::kBool && byte > 1) return lexer.Error("a bool is neither 00 nor 01");
    tensor.mutable_data()[i] = static_cast<std::byte>(byte);
  }
  lexer.Next();
  return tensor;
}

absl::StatusOr<Tensor> TakeElements(Lexer& lexer, const TensorType& type) {
  // Counts the elements before it allocates memory: the shape may promise more than there are.
  std::vector<Token> elements;
  while (lexer.AtWord()) {
    elements.push_back(lexer.token());
    lexer.Next();
    if (!lexer.Take(",")) break;
  }
  if (std::ssize(elements) != type.num_elements()) {
    return lexer.Error(absl::StrCat("expected ", type.num_elements(), " elements, found ", elements.size()));
  }
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(type.dtype, type.shape()));
  for (size_t i = 0; i < elements.size(); ++i) {
    if (!ParseElement(elements[i].text, tensor, static_cast<int64_t>(i))) {
      return lexer.ErrorAt(elements[i].offset, absl::StrCat("this is not of type ", DTypeName(type.dtype)));
    }
  }
  return tensor;
}

absl::StatusOr<Tensor> TakeTensor(Lexer& lexer) {
  const size_t offset = lexer.token().offset;
  ASSIGN_OR_RETURN(const TensorType type, ParseType(lexer));
  if (!type.is_static() || !type.layout.is_plain()) {
    return lexer.ErrorAt(offset, "a tensor's dimensions are constants and its layout is plain");
  }
  RETURN_IF_ERROR(lexer.Expect("<"));
  const bool bytes = lexer.AtWord() && absl::StartsWith(lexer.token().text, "0x");
  ASSIGN_OR_RETURN(Tensor tensor, bytes ? TakeBytes(lexer, type) : TakeElements(lexer, type));
  RETURN_IF_ERROR(lexer.Expect(">"));
  return tensor;
}

}  // namespace

absl::StatusOr<TensorType> ParseType(Lexer& lexer) {
  TensorType type;
  const size_t offset = lexer.token().offset;
  ASSIGN_OR_RETURN(type.dtype, TakeDType(lexer));
  RETURN_IF_ERROR(lexer.Expect("["));
  if (!lexer.Take("]")) {
    do {
      ASSIGN_OR_RETURN(Dim dim, TakeDim(lexer));
      type.dims.push_back(std::move(dim));
    } while (lexer.Take(","));
    RETURN_IF_ERROR(lexer.Expect("]"));
  }
  if (lexer.Take("{")) {
    ASSIGN_OR_RETURN(type.layout, TakeLayout(lexer));
  }
  if (const absl::Status status = CheckType(type); !status.ok()) {
    return lexer.ErrorAt(offset, status.message());
  }
  return type;
}

absl::StatusOr<Attribute> ParseAttribute(Lexer& lexer, AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kInt:
      return lexer.TakeInteger();
    case AttributeKind::kFloat:
      return TakeFloat(lexer);
    case AttributeKind::kString:
      return lexer.TakeString();
    case AttributeKind::kInts:
      return TakeList<int64_t>(lexer, TakeInt);
    case AttributeKind::kFloats:
      return TakeList<double>(lexer, TakeFloat);
    case AttributeKind::kDType:
      return TakeDType(lexer);
    case AttributeKind::kTensor:
      return TakeTensor(lexer);
    case AttributeKind::kNumber:
      return TakeNumber(lexer);
  }
  return InternalError("an attribute of no kind");
}

}  // namespace attune
