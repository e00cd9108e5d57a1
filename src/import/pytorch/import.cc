#include "import/pytorch/import.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/status.h"
#include "import/pytorch/archive.h"
#include "import/pytorch/importer.h"
#include "import/pytorch/inputs.h"
#include "import/pytorch/program.h"
#include "import/pytorch/vocabulary.h"
#include "import/pytorch/weights.h"

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
        kNotSupportedMark,
        "Model checkpoint: the file is a Python pickle, which holds weights without a program; ",
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
        kNotSupportedMark,
        "Model archive: PyTorch before 2.9 saved weights as a Python pickle; save it again with ",
        "a newer one, torch.export.save(torch.export.load(\"old.pt2\"), \"new.pt2\"), or ", kOnnxAdvice);
  }
  if (archive.Has("constants.pkl")) {
    return NotSupported(kNotSupportedMark, "Model TorchScript: the file is a TorchScript archive; ",
                        kOnnxAdvice);
  }
  if (archive.Has("data.pkl")) {
    return NotSupported(kNotSupportedMark,
                        "Model checkpoint: the file holds weights without a program, as a Python pickle; ",
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
    return NotSupported(kNotSupportedMark, "Model archive: it holds ", models.size(),
                        " programs, none named 'model'");
  }
  if (!archive.NamesUnder("data/aotinductor/").empty()) {
    return NotSupported(kNotSupportedMark,
                        "Model archive: it holds code that AOTInductor has compiled, and no program; ",
                        kOnnxAdvice);
  }
  return InvalidInput("the archive holds no program");
}

// Throws ImportFailure.
Json ReadProgram(const Archive& archive, const std::string& model) {
  return ParseJson(OrThrow(archive.Read(absl::StrCat("models/", model, ".json"), kMaxProgramBytes)),
                   "the program");
}

class ParsedProgram final : public ParsedModel {
 public:
  static absl::StatusOr<std::unique_ptr<ParsedModel>> Parse(std::string bytes) {
    RETURN_IF_ERROR(CheckHead(std::string_view(bytes).substr(0, 8)));
    std::unique_ptr<ParsedProgram> parsed(new ParsedProgram(std::move(bytes)));
    ASSIGN_OR_RETURN(parsed->archive_, Archive::Open(parsed->bytes_));
    RETURN_IF_ERROR(CheckKind(*parsed->archive_));
    ASSIGN_OR_RETURN(parsed->name_, ChooseModel(*parsed->archive_));
    try {
      parsed->program_ = ReadProgram(*parsed->archive_, parsed->name_);
    } catch (const ImportFailure& failure) {
      return failure.status;
    }
    return parsed;
  }

  absl::StatusOr<DeclaredModel> Declare(const std::string& /*signature*/) const override {
    try {
      DeclaredModel declared;
      for (const UserInput& input : ReadUserInputs(program_)) {
        if (input.meta) declared.inputs.push_back(Describe(input.name, *input.meta));
      }
      return declared;
    } catch (const ImportFailure& failure) {
      return failure.status;
    }
  }

  absl::StatusOr<std::unique_ptr<Graph>> Import(const ImportOptions& options) override {
    try {
      if (!weights_.has_value()) weights_.emplace(&*archive_, name_);
      return Importer(&program_, archive_->num_bytes(), name_, &*weights_, options).Run();
    } catch (const ImportFailure& failure) {
      return failure.status;
    }
  }

 private:
  explicit ParsedProgram(std::string bytes) : bytes_(std::move(bytes)) {}

  const std::string bytes_;
  std::optional<Archive> archive_;  // of the bytes
  std::string name_;                // of the program in the archive
  Json program_;
  std::optional<Weights> weights_;
};

}  // namespace

bool LooksLikePytorch(std::string_view head) { return head.starts_with(kZipMagic) || IsPickle(head); }

absl::StatusOr<std::unique_ptr<ParsedModel>> ParsePytorch(std::string bytes) {
  return ParsedProgram::Parse(std::move(bytes));
}

}  // namespace attune
