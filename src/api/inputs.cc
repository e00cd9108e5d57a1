#include "api/inputs.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "api/pictures.h"
#include "base/file.h"
#include "base/status.h"
#include "io/array_file.h"
#include "io/image_tensor.h"
#include "io/npy.h"
#include "io/raw.h"
#include "io/wav.h"

namespace attune {
namespace {

enum class FileKind { kNpy, kTensorProto, kImage, kSound, kRaw };

FileKind KindOf(std::string_view bytes, const std::string& path) {
  const bool bitmap = absl::StartsWith(bytes, "BM") && absl::EndsWithIgnoreCase(path, ".bmp");
  if (absl::StartsWith(bytes, "\x93NUMPY")) return FileKind::kNpy;
  if (absl::StartsWith(bytes, "\xFF\xD8\xFF") || absl::StartsWith(bytes, "\x89PNG\r\n") || bitmap) {
    return FileKind::kImage;
  }
  if (absl::StartsWith(bytes, "RIFF") && bytes.size() >= 12 && bytes.substr(8, 4) == "WAVE")
    return FileKind::kSound;
  // The content must match the extension; if it does not, the reader's error says so.
  if (absl::EndsWithIgnoreCase(path, ".npy")) return FileKind::kNpy;
  if (absl::EndsWithIgnoreCase(path, ".pb")) return FileKind::kTensorProto;
  if (absl::EndsWithIgnoreCase(path, ".wav")) return FileKind::kSound;
  for (std::string_view extension : {".jpg", ".jpeg", ".png", ".bmp"}) {
    if (absl::EndsWithIgnoreCase(path, extension)) return FileKind::kImage;
  }
  return FileKind::kRaw;
}

absl::StatusOr<Tensor> PictureTensor(std::string_view bytes, const std::string& path,
                                     const PictureSettings& settings, const InputDeclaration& declaration) {
  ASSIGN_OR_RETURN(const PictureFormat format, PictureFormatFor(settings, declaration));
  ASSIGN_OR_RETURN(const Image image, DecodeImage(bytes, path));
  return ImageToTensor(image, declaration.shape, *declaration.dtype, format);
}

bool IsRawPicture(const PictureSettings& settings, const InputDeclaration& declaration) {
  return IsFloat(*declaration.dtype) && !SaysNumbers(settings, declaration);
}

// Fills in the one dimension that the declaration leaves open, so that the tensor has `elements` elements.
absl::StatusOr<Shape> Close(const InputDeclaration& declaration, int64_t elements) {
  Shape shape = declaration.shape;
  if (!declaration.ranked) return Shape{elements};
  int64_t known = 1;
  std::optional<size_t> open;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 0 && open.has_value()) {
      return InvalidInput("input \"", declaration.name, "\" is ", ToString(declaration),
                          ", which the file does not settle; give --shape ", declaration.name, "=…");
    }
    if (shape[d] < 0) {
      open = d;
    } else if (__builtin_mul_overflow(known, shape[d], &known)) {
      return InvalidInput("the shape of input \"", declaration.name, "\" overflows");
    }
  }
  if (open.has_value()) shape[*open] = known == 0 ? 0 : elements / known;
  return shape;
}

// A sound that is longer than the input is cut; a shorter one is padded with silence.
absl::StatusOr<Tensor> ReadSound(std::string_view bytes, const std::string& path, const InputSources& sources,
                                 const InputDeclaration& declaration) {
  ASSIGN_OR_RETURN(const Sound sound, ParseWav(bytes, path));
  const int64_t samples = sound.samples.num_elements();
  ASSIGN_OR_RETURN(const Shape shape, Close(declaration, samples));
  ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(*declaration.dtype, shape));
  const int64_t used = std::min(samples, tensor.num_elements());
  for (int64_t i = 0; i < used; ++i) tensor.SetDouble(i, sound.samples.ToDouble(i));
  if (samples != tensor.num_elements() && sources.note) {
    sources.note(absl::StrCat(path, ": of its ", samples, " samples at ", sound.sample_rate,
                              " Hz, the first ", used, " fill an input of ", tensor.num_elements()));
  }
  return tensor;
}

absl::StatusOr<Tensor> ReadTensor(const std::string& path, const InputSources& sources,
                                  const InputDeclaration& declaration, GivenInputs& given) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxArrayFileBytes));
  if (!declaration.dtype.has_value()) {
    return NotSupported(kNotSupportedMark, "input ", declaration.name, ": of type ", declaration.dtype_name);
  }
  FileKind kind = KindOf(bytes, path);
  // A network that decodes the file itself takes the bytes of the file.
  const bool takes_file =
      *declaration.dtype == DType::kU8 && declaration.ranked && declaration.shape.size() == 1;
  if (takes_file && (kind == FileKind::kImage || kind == FileKind::kSound)) kind = FileKind::kRaw;
  switch (kind) {
    case FileKind::kNpy:
      return ParseNpy(bytes, path);
    case FileKind::kTensorProto:
      return ParseTensorProto(bytes, path);
    case FileKind::kImage:
      if (IsRawPicture(sources.pictures, declaration)) given.raw_pictures.emplace(declaration.name, path);
      return PictureTensor(bytes, path, sources.pictures, declaration);
    case FileKind::kSound:
      return ReadSound(bytes, path, sources, declaration);
    case FileKind::kRaw:
      break;
  }
  const auto elements = static_cast<int64_t>(bytes.size()) / DTypeSize(*declaration.dtype);
  ASSIGN_OR_RETURN(const Shape shape, Close(declaration, elements));
  return ParseRaw(bytes, *declaration.dtype, shape, path);
}

std::string Known(const std::vector<InputDeclaration>& declarations) {
  std::vector<std::string> known;
  for (const InputDeclaration& declaration : declarations) {
    known.push_back(absl::StrCat(declaration.name, " ", ToString(declaration)));
  }
  return absl::StrJoin(known, ", ");
}

// Finds the declaration that an argument is for; `source` becomes the text after the name.
absl::StatusOr<const InputDeclaration*> Match(std::string_view argument,
                                              const std::vector<InputDeclaration>& declarations,
                                              std::string_view* source) {
  const InputDeclaration* match = nullptr;
  *source = argument;
  for (const InputDeclaration& declaration : declarations) {
    // Prefers the longest name, since names may contain '='.
    const bool longer = match == nullptr || declaration.name.size() > match->name.size();
    if (longer && absl::StartsWith(argument, declaration.name + "=")) match = &declaration;
  }
  if (match != nullptr) {
    *source = argument.substr(match->name.size() + 1);
    return match;
  }
  if (declarations.size() == 1 && !absl::StrContains(argument, '=')) return &declarations[0];
  return InvalidInput("--input ", argument, ": no input has that name; the inputs are ", Known(declarations));
}

// The error, which names the file if it does not yet.
absl::Status Named(const absl::Status& status, const std::string& path) {
  const bool named =
      absl::StartsWith(status.message(), path) || absl::StartsWith(status.message(), kNotSupportedMark);
  return named ? status : Annotate(status, path);
}

}  // namespace

absl::StatusOr<GivenInputs> ReadInputs(const InputSources& sources,
                                       const std::vector<InputDeclaration>& declarations) {
  GivenInputs given;
  for (const std::string& argument : sources.inputs) {
    std::string_view source;
    ASSIGN_OR_RETURN(const InputDeclaration* const declaration, Match(argument, declarations, &source));
    const std::string& name = declaration->name;
    const bool twice = given.random.contains(name) ||
                       std::any_of(given.values.begin(), given.values.end(),
                                   [&](const NamedTensor& value) { return value.name == name; });
    if (twice) return InvalidInput("--input ", argument, ": input \"", name, "\" is given twice");
    if (absl::StartsWith(source, "random:")) {
      uint64_t seed = 0;
      if (!absl::SimpleAtoi(source.substr(7), &seed)) {
        return InvalidInput("--input ", argument, ": the seed is not a whole number");
      }
      given.random[name] = seed;
      continue;
    }
    const std::string path(source);
    absl::StatusOr<Tensor> tensor = ReadTensor(path, sources, *declaration, given);
    absl::Status status = tensor.status();
    if (status.ok()) status = CheckInput(*declaration, *tensor);
    if (!status.ok()) return Named(status, path);
    given.values.push_back({name, *std::move(tensor)});
  }
  return given;
}

absl::StatusOr<NamedTensor> ReadPicture(const std::string& path, const std::string& input,
                                        const PictureSettings& settings,
                                        const std::vector<InputDeclaration>& declarations,
                                        const std::function<void(std::string_view)>& note) {
  const auto found = input.empty() && declarations.size() == 1
                         ? declarations.begin()
                         : std::ranges::find(declarations, input, &InputDeclaration::name);
  if (found == declarations.end()) {
    return InvalidInput(path, ": ",
                        input.empty() ? "the network has several inputs" : "no input has that name",
                        "; give one of ", Known(declarations));
  }
  if (!found->dtype.has_value())
    return NotSupported(kNotSupportedMark, "input ", found->name, ": of type ", found->dtype_name);
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxArrayFileBytes));
  absl::StatusOr<Tensor> tensor = PictureTensor(bytes, path, settings, *found);
  if (!tensor.ok()) return Named(tensor.status(), path);
  if (note && IsRawPicture(settings, *found)) note(RawPictureNote(path, found->name, "preprocess"));
  return NamedTensor{found->name, *std::move(tensor)};
}

}  // namespace attune
