#include "io/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/checked.h"
#include "base/file.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeaderBytes = 1 << 16;
constexpr size_t kMaxRank = 64;  // NumPy's own limit
constexpr size_t kAlignment = 64;

static_assert(std::endian::native == std::endian::little, "arrays are written in the machine's byte order");

struct TypeRow {
  std::string_view code;  // without the byte order
  DType dtype;
};

constexpr TypeRow kTypes[] = {{"f4", DType::kF32}, {"f8", DType::kF64}, {"f2", DType::kF16},
                              {"i1", DType::kI8},  {"i2", DType::kI16}, {"i4", DType::kI32},
                              {"i8", DType::kI64}, {"u1", DType::kU8},  {"u2", DType::kU16},
                              {"u4", DType::kU32}, {"u8", DType::kU64}, {"b1", DType::kBool}};

struct Header {
  DType dtype = DType::kF32;
  bool swap_bytes = false;
  bool fortran_order = false;
  Shape shape;
};

uint32_t LittleEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// The text after 'key': in a Python dictionary of literals, without leading blanks.
std::optional<std::string_view> FindValue(std::string_view dict, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = absl::StrCat(std::string(1, quote), key, std::string(1, quote));
    const size_t at = dict.find(quoted);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = absl::StripLeadingAsciiWhitespace(dict.substr(at + quoted.size()));
    if (!rest.starts_with(':')) continue;
    return absl::StripLeadingAsciiWhitespace(rest.substr(1));
  }
  return std::nullopt;
}

absl::Status ParseDescr(std::string_view text, Header* header) {
  if (text.size() < 2 || (text[0] != '\'' && text[0] != '"')) {
    return InvalidInput("structured or missing element type");
  }
  const std::string_view descr = text.substr(1, text.find(text[0], 1) - 1);
  if (descr.size() > 1) {
    const char order = descr[0];
    for (const TypeRow& row : kTypes) {
      if (descr.substr(1) != row.code || std::string_view("<>=|").find(order) == std::string_view::npos)
        continue;
      header->dtype = row.dtype;
      header->swap_bytes = order == '>';
      return absl::OkStatus();
    }
  }
  return NotSupported("element type \"", descr.substr(0, 32), "\"");
}

absl::Status ParseShape(std::string_view text, Header* header) {
  const size_t end = text.find(')');
  if (text.empty() || text[0] != '(' || end == std::string_view::npos) return InvalidInput("no shape");
  for (std::string_view item : absl::StrSplit(text.substr(1, end - 1), ',', absl::SkipWhitespace())) {
    item = absl::StripAsciiWhitespace(item);
    if (item.ends_with('L')) item.remove_suffix(1);  // the suffix of long integers in Python 2
    int64_t dim;
    if (!absl::SimpleAtoi(item, &dim) || dim < 0 || header->shape.size() == kMaxRank) {
      return InvalidInput("a damaged shape");
    }
    header->shape.push_back(dim);
  }
  return absl::OkStatus();
}

absl::StatusOr<Header> ParseHeader(std::string_view dict) {
  const auto descr = FindValue(dict, "descr");
  const auto order = FindValue(dict, "fortran_order");
  const auto shape = FindValue(dict, "shape");
  if (!descr || !order || !shape) return InvalidInput("a damaged header");
  Header header;
  RETURN_IF_ERROR(ParseDescr(*descr, &header));
  RETURN_IF_ERROR(ParseShape(*shape, &header));
  header.fortran_order = order->starts_with("True");
  if (!header.fortran_order && !order->starts_with("False")) return InvalidInput("a damaged header");
  return header;
}

// In `source` the first dimension is contiguous, in `target` the last.
void CopyFromFortranOrder(const Shape& shape, size_t size, std::string_view source, char* target) {
  const size_t rank = shape.size();
  Shape strides(rank, 1);
  for (size_t i = 1; i < rank; ++i) strides[i] = strides[i - 1] * shape[i - 1];
  const int64_t count = *CheckedProduct(shape);
  Shape index(rank, 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    source.copy(target + static_cast<size_t>(i) * size, size, static_cast<size_t>(offset) * size);
    for (size_t axis = rank; axis-- > 0;) {
      offset += strides[axis];
      if (++index[axis] < shape[axis]) break;
      offset -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
}

absl::StatusOr<Tensor> ParseArray(std::string_view bytes) {
  if (!bytes.starts_with(kMagic) || bytes.size() < kMagic.size() + 2) return InvalidInput("not a .npy file");
  bytes.remove_prefix(kMagic.size());
  const int version = bytes[0];
  if (version < 1 || version > 3) return NotSupported("version ", version, " of the .npy format");
  const size_t length_bytes = version == 1 ? 2 : 4;
  bytes.remove_prefix(2);
  if (bytes.size() < length_bytes) return InvalidInput("cut short in its header");
  const uint32_t length = LittleEndian(bytes.substr(0, length_bytes));
  bytes.remove_prefix(length_bytes);
  if (length > kMaxHeaderBytes || length > bytes.size()) return InvalidInput("cut short in its header");
  ASSIGN_OR_RETURN(const Header header, ParseHeader(bytes.substr(0, length)));
  bytes.remove_prefix(length);

  const auto size = static_cast<size_t>(DTypeSize(header.dtype));
  const std::optional<int64_t> count = CheckedProduct(header.shape);
  if (!count || static_cast<uint64_t>(*count) > bytes.size() / size) {
    return InvalidInput("its shape (", absl::StrJoin(header.shape, ","), ") of ", DTypeName(header.dtype),
                        " needs more than the ", bytes.size(), " bytes behind the header");
  }
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(header.dtype, header.shape));
  char* target = reinterpret_cast<char*>(tensor.mutable_data());
  const auto total = static_cast<size_t>(tensor.num_bytes());
  if (header.fortran_order) {
    CopyFromFortranOrder(header.shape, size, bytes, target);
  } else if (total > 0) {
    std::memcpy(target, bytes.data(), total);
  }
  if (header.swap_bytes) {
    for (size_t i = 0; i < total; i += size) std::reverse(target + i, target + i + size);
  }
  if (header.dtype == DType::kBool) {
    for (uint8_t& value : tensor.as_mutable<uint8_t>()) value = value != 0;
  }
  return tensor;
}

std::string_view TypeCode(DType dtype) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == dtype) return row.code;
  }
  return "f4";  // bf16 is written as f32
}

}  // namespace

absl::StatusOr<Tensor> ParseNpy(std::string_view bytes, std::string_view name) {
  absl::StatusOr<Tensor> tensor = ParseArray(bytes);
  if (!tensor.ok()) return Annotate(tensor.status(), name);
  return tensor;
}

std::string SerializeNpy(const Tensor& tensor) {
  Tensor data = tensor;
  if (tensor.dtype() == DType::kBF16) {
    data = Tensor(DType::kF32, tensor.shape());
    for (int64_t i = 0; i < tensor.num_elements(); ++i) data.SetDouble(i, tensor.ToDouble(i));
  }
  // A tuple with one element has a trailing comma.
  std::string header = absl::StrCat("{'descr': '", DTypeSize(data.dtype()) == 1 ? "|" : "<",
                                    TypeCode(data.dtype()), "', 'fortran_order': False, 'shape': (",
                                    absl::StrJoin(data.shape(), ", "), data.rank() == 1 ? "," : "", "), }");
  const size_t before = kMagic.size() + 4;
  const size_t end = before + header.size() + 1;
  header.append((kAlignment - end % kAlignment) % kAlignment, ' ');
  header += '\n';
  std::string out(kMagic);
  out += {'\x01', '\x00', static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  out += header;
  out.append(reinterpret_cast<const char*>(data.data()), static_cast<size_t>(data.num_bytes()));
  return out;
}

absl::Status WriteNpy(const std::string& path, const Tensor& tensor) {
  return WriteFileAtomically(path, SerializeNpy(tensor));
}

}  // namespace attune
