// Linking. lld works in this process on two temporary files: one archive in, one shared object out, whose
// code and constants are then taken as they lie. What would need a loader is refused.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <utility>

#include "base/checked.h"
#include "base/status.h"
#include "codegen/codegen.h"
#include "lld/Common/Driver.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace attune {
namespace {

using llvm::object::ELF64LEFile;
using llvm::object::ELF64LEObjectFile;

constexpr int64_t kPage = 4096;

// A private folder for the linker's files, gone with this object.
class TemporaryFolder {
 public:
  static absl::StatusOr<TemporaryFolder> Make() {
    std::error_code error;
    std::string path = std::filesystem::temp_directory_path(error) / "attune-link-XXXXXX";
    if (error || mkdtemp(path.data()) == nullptr) {
      return absl::FailedPreconditionError(absl::StrCat("cannot make a temporary folder ", path));
    }
    return TemporaryFolder(std::move(path));
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  std::string File(const char* name) const { return absl::StrCat(path_, "/", name); }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

std::string Message(llvm::Error error) { return llvm::toString(std::move(error)); }

absl::Status WriteFile(const std::string& path, llvm::StringRef bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (!error) {
    stream << bytes;
    stream.close();
    error = stream.error();
    stream.clear_error();
  }
  if (error) return absl::ResourceExhaustedError(absl::StrCat("cannot write ", path, ": ", error.message()));
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<llvm::MemoryBuffer>> MakeArchive(
    const std::vector<const std::string*>& objects) {
  std::vector<std::string> names(objects.size());
  std::vector<llvm::NewArchiveMember> members;
  for (size_t i = 0; i < objects.size(); ++i) {
    names[i] = absl::StrCat(i, ".o");
    members.emplace_back(llvm::MemoryBufferRef(*objects[i], names[i]));
  }
  auto archive = llvm::writeArchiveToBuffer(members, llvm::SymtabWritingMode::NoSymtab,
                                            llvm::object::Archive::K_GNU, /*Deterministic=*/true,
                                            /*Thin=*/false);
  if (!archive) return InternalError("cannot gather objects: ", Message(archive.takeError()));
  return std::move(*archive);
}

absl::Status RunLinker(const std::string& input, const std::string& output) {
  // Flat: no tables for lazy binding, no padding between segments; constants before code. The output is
  // written, not mapped, so that a full disk is an error and not a signal.
  const char* const arguments[] = {"ld.lld", "-shared", "-zdefs", "-Bsymbolic", "-znorelro",
                                   "-znoseparate-code", "--no-rosegment", "-zmax-page-size=4096",
                                   "--build-id=none", "--threads=1", "--no-mmap-output-file",
                                   // The names come last.
                                   "-o", output.c_str(), "--whole-archive", input.c_str()};
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  std::string out, err;
  llvm::raw_string_ostream out_stream(out), err_stream(err);
  // Without recovery, an error that lld calls fatal (a full disk) would end this process.
  llvm::CrashRecoveryContext::Enable();
  const lld::Result result = lld::lldMain(arguments, out_stream, err_stream, {{lld::Gnu, &lld::elf::link}});
  llvm::CrashRecoveryContext::Disable();
  if (result.retCode != 0) return InternalError("generated code does not link: ", err_stream.str());
  return absl::OkStatus();
}

// Whether a section is of the kernels, rather than a table of the linker for the loader.
bool IsContent(const ELF64LEFile::Elf_Shdr& section) {
  return (section.sh_flags & llvm::ELF::SHF_ALLOC) != 0 && section.sh_type == llvm::ELF::SHT_PROGBITS;
}

absl::Status CheckSection(const ELF64LEFile::Elf_Shdr& section, llvm::StringRef name) {
  using namespace llvm::ELF;
  if (section.sh_size == 0 || (section.sh_flags & SHF_ALLOC) == 0) return absl::OkStatus();
  if (section.sh_type == SHT_RELA || section.sh_type == SHT_REL || section.sh_type == SHT_RELR) {
    return InternalError("generated code needs a relocation at load time (", name.str(), ")");
  }
  if (section.sh_type == SHT_DYNAMIC) return absl::OkStatus();
  if ((section.sh_flags & (SHF_WRITE | SHF_TLS)) != 0) {
    return InternalError("generated code has writable data (", name.str(), ")");
  }
  return absl::OkStatus();
}

absl::StatusOr<LinkedCode> Flatten(llvm::MemoryBufferRef file) {
  auto object = ELF64LEObjectFile::create(file);
  if (!object) return InternalError("unreadable linker output: ", Message(object.takeError()));
  const ELF64LEFile& elf = object->getELFFile();
  auto sections = elf.sections();
  if (!sections) return InternalError("unreadable linker output: ", Message(sections.takeError()));

  uint64_t begin = UINT64_MAX, end = 0;
  for (const auto& section : *sections) {
    auto name = elf.getSectionName(section);
    if (!name) return InternalError("unreadable linker output: ", Message(name.takeError()));
    RETURN_IF_ERROR(CheckSection(section, *name));
    if (!IsContent(section)) continue;
    begin = std::min<uint64_t>(begin, section.sh_addr);
    end = std::max<uint64_t>(end, section.sh_addr + section.sh_size);
  }
  if (begin >= end) return InternalError("the linker made no code");
  begin = begin / kPage * kPage;  // keeps the alignment of everything within

  LinkedCode code;
  code.bytes.assign(static_cast<size_t>(RoundUp(static_cast<int64_t>(end - begin), kPage)), '\0');
  for (const auto& section : *sections) {
    if (!IsContent(section)) continue;
    auto bytes = elf.getSectionContents(section);
    if (!bytes) return InternalError("unreadable linker output: ", Message(bytes.takeError()));
    std::copy(bytes->begin(), bytes->end(),
              code.bytes.begin() + static_cast<int64_t>(section.sh_addr - begin));
  }
  for (const llvm::object::ELFSymbolRef symbol : object->symbols()) {
    auto name = symbol.getName();
    auto address = symbol.getAddress();
    if (!name || !address) return InternalError("unreadable linker output: a symbol");
    const bool is_phase =
        symbol.getELFType() == llvm::ELF::STT_FUNC && symbol.getBinding() == llvm::ELF::STB_GLOBAL;
    if (is_phase) code.symbols[name->str()] = static_cast<int64_t>(*address - begin);
  }
  return code;
}

}  // namespace

absl::StatusOr<LinkedCode> Link(const std::vector<const std::string*>& objects) {
  if (objects.empty()) return LinkedCode{};
  ASSIGN_OR_RETURN(const std::unique_ptr<llvm::MemoryBuffer> archive, MakeArchive(objects));
  ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  const std::string input = folder.File("kernels.a"), output = folder.File("kernels.so");
  RETURN_IF_ERROR(WriteFile(input, archive->getBuffer()));
  RETURN_IF_ERROR(RunLinker(input, output));
  auto linked = llvm::MemoryBuffer::getFile(output);
  if (!linked) return InternalError("the linker's output cannot be read: ", linked.getError().message());
  return Flatten((*linked)->getMemBufferRef());
}

}  // namespace attune
