#include "import/pytorch/import.h"

#include <utility>

#include "base/input_file.h"
#include "base/status.h"
#include "import/pytorch/archive.h"
#include "import/pytorch/importer.h"
#include "import/pytorch/inputs.h"
#include "import/pytorch/program.h"
#include "import/pytorch/vocabulary.h"

namespace attune {
namespace {

using namespace pytorch;  // NOLINT: this file is the folder's face

// A program with a thousand operators has about 4 MB, most of it notes on the origin of each operator.
constexpr int64_t kMaxProgramBytes = int64_t{1} << 26;
constexpr std::string_view kZipMagic = "PK\x03\x04";

// Protocol 2 and later; checkpoints from before 2020 are bare pickles.
bool IsPickle(std::string_view head) {
  return head.size() >= 2 && head[0] == '\x80' && head[1] <= 5 && head[1] >= 2;
}

absl::Status CheckHead(std::string_view head) {
  if (head.empty()) return InvalidInput("the file is empty");
  if (IsPickle(head)) {
    return NotSupported(
        "NS Model checkpoint: the file is a Python pickle, which holds weights without a program; ",
        kOnnxAdvice);
  }
  if (!head.starts_with(kZipMagic))
    return InvalidInput("the file is not an exported PyTorch program: no zip archive");
  return absl::OkStatus();
}

// Determines the kind of the PyTorch archive; ok for a program whose weights can be read.
absl::Status CheckKind(const Archive& archive) {
  if (archive.Has("serialized_exported_program.json") || archive.Has("data/weights/model.pt") ||
      archive.Has("data/constants/model.pt")) {
    return NotSupported(
        "NS Model archive: PyTorch before 2.9 saved weights as a Python pickle; save it again with ",
        "a newer one, torch.export.save(torch.export.load(\"old.pt2\"), \"new.pt2\"), or ", kOnnxAdvice);
  }
  if (archive.Has("constants.pkl")) {
    return NotSupported("NS Model TorchScript: the file is a TorchScript archive; ", kOnnxAdvice);
  }
  if (archive.Has("data.pkl")) {
    return NotSupported("NS Model checkpoint: the file holds weights without a program, as a Python pickle; ",
                        kOnnxAdvice);
  }
  if (!archive.Has("archive_format"))
    return InvalidInput("the zip archive is not an exported PyTorch program");
  ASSIGN_OR_RETURN(const std::string format, archive.Read("archive_format", 64));
  if (format != "pt2") return InvalidInput("the archive says that its format is '", format, "', not pt2");
  return absl::OkStatus();
}

// The program's name in the archive; torch.export.save uses "model".
absl::StatusOr<std::string> ChooseModel(const Archive& archive) {
  constexpr std::string_view kFolder = "models/";
  constexpr std::string_view kEnding = ".json";
  std::vector<std::string> models;
  for (const std::string& name : archive.NamesUnder(kFolder)) {
    if (!name.ends_with(kEnding)) continue;
    models.push_back(name.substr(kFolder.size(), name.size() - kFolder.size() - kEnding.size()));
    if (models.back() == "model") return models.back();
  }
  if (models.size() == 1) return models[0];
  if (!models.empty()) {
    return NotSupported("NS Model archive: it holds ", models.size(), " programs, none named 'model'");
  }
  if (!archive.NamesUnder("data/aotinductor/").empty()) {
    return NotSupported("NS Model archive: it holds code that AOTInductor has compiled, and no program; ",
                        kOnnxAdvice);
  }
  return InvalidInput("the archive holds no program");
}

// Throws ImportFailure, like the next two functions.
Json ReadProgram(const Archive& archive, const std::string& model) {
  return ParseJson(OrThrow(archive.Read(absl::StrCat("models/", model, ".json"), kMaxProgramBytes)),
                   "the program");
}

std::unique_ptr<Graph> ImportProgram(const Archive& archive, const std::string& model,
                                     const PytorchImportOptions& options) {
  const Json program = ReadProgram(archive, model);
  return OrThrow(Importer(&program, &archive, model, options).Run());
}

PytorchModelInfo DescribeProgram(const Archive& archive, const std::string& model) {
  const Json program = ReadProgram(archive, model);
  PytorchModelInfo info;
  const Json& version = Field(program, "schema_version");
  info.schema_version = absl::StrCat(IntField(version, "major"), ".", IntField(version, "minor"));
  if (OptionalField(program, "torch_version") != nullptr)
    info.torch_version = TextField(program, "torch_version");
  for (const UserInput& input : ReadUserInputs(program)) {
    if (input.meta) info.inputs.push_back(Describe(input.name, *input.meta));
  }
  const Json& module = Field(program, "graph_module");
  const Json& tensor_values = Field(Field(module, "graph"), "tensor_values");
  for (const Json& spec : ListField(Field(module, "signature"), "output_specs")) {
    const auto [kind, held] = ReadUnion(spec);
    if (kind != "user_output") continue;
    const Argument argument = ReadArgument(Field(*held, "arg"));
    if (argument.kind != Argument::Kind::kTensor) continue;
    const std::string& name = argument.items[0].name;
    info.outputs.push_back(Describe(name, ReadTensorMeta(Field(tensor_values, name))));
  }
  return info;
}

// The result of `read` for the program in the archive.
template <typename T, typename Read>
absl::StatusOr<T> FromArchive(const Archive& archive, const Read& read) {
  RETURN_IF_ERROR(CheckKind(archive));
  ASSIGN_OR_RETURN(const std::string model, ChooseModel(archive));
  try {
    return read(model);
  } catch (const ImportFailure& failure) {
    return failure.status;
  }
}

absl::StatusOr<std::unique_ptr<Graph>> ImportArchive(const Archive& archive,
                                                     const PytorchImportOptions& options) {
  return FromArchive<std::unique_ptr<Graph>>(
      archive, [&](const std::string& model) { return ImportProgram(archive, model, options); });
}

absl::StatusOr<PytorchModelInfo> ReadArchiveInfo(const Archive& archive) {
  return FromArchive<PytorchModelInfo>(
      archive, [&](const std::string& model) { return DescribeProgram(archive, model); });
}

absl::StatusOr<Archive> OpenFile(const std::string& path) {
  const absl::StatusOr<std::string> head = ReadFileHead(path, 8);
  if (!head.ok()) return absl::Status(head.status().code(), "the file cannot be opened");
  RETURN_IF_ERROR(CheckHead(*head));
  return Archive::Open(path);
}

// The lines of an NS list are complete without the path.
absl::Status Named(const absl::Status& status, const std::string& path) {
  return absl::IsUnimplemented(status) ? status : Annotate(status, path);
}

}  // namespace

bool LooksLikePytorch(std::string_view head) { return head.starts_with(kZipMagic) || IsPickle(head); }

absl::StatusOr<PytorchModelInfo> ReadPytorchInfo(const std::string& path) {
  const absl::StatusOr<Archive> archive = OpenFile(path);
  if (!archive.ok()) return Named(archive.status(), path);
  absl::StatusOr<PytorchModelInfo> info = ReadArchiveInfo(*archive);
  if (!info.ok()) return Named(info.status(), path);
  return info;
}

absl::StatusOr<std::unique_ptr<Graph>> ImportPytorch(const std::string& path,
                                                     const PytorchImportOptions& options) {
  const absl::StatusOr<Archive> archive = OpenFile(path);
  if (!archive.ok()) return Named(archive.status(), path);
  absl::StatusOr<std::unique_ptr<Graph>> graph = ImportArchive(*archive, options);
  if (!graph.ok()) return Named(graph.status(), path);
  return graph;
}

absl::StatusOr<std::unique_ptr<Graph>> ImportPytorchBytes(std::string_view bytes,
                                                          const PytorchImportOptions& options) {
  RETURN_IF_ERROR(CheckHead(bytes.substr(0, 8)));
  ASSIGN_OR_RETURN(const Archive archive, Archive::OpenBytes(bytes));
  return ImportArchive(archive, options);
}

}  // namespace attune
