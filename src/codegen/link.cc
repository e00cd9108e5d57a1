// Linking. lld works in this process: one archive in, one shared object out, whose code and constants are
// then taken as they lie. Anything that would need a loader is refused.
//
// Problem: lld reads and writes files by name, and a named file outlives a process that is interrupted.
// Idea: the archive is a file in memory and the shared object goes through a pipe, both named by their
// descriptors. The output must be a pipe: beside a regular file, lld makes another file to see whether it
// can.
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <string_view>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/checked.h"
#include "base/file_descriptor.h"
#include "base/output_file.h"
#include "base/status.h"
#include "base/threads.h"
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

// How this process names an open file.
std::string PathOf(const FileDescriptor& file) { return absl::StrCat("/proc/self/fd/", file.get()); }

absl::Status NoMeans(const char* what) {
  return absl::ResourceExhaustedError(absl::StrCat("no ", what, " to link with: ", std::strerror(errno)));
}

// A file of these bytes that has no name.
absl::StatusOr<FileDescriptor> FileInMemory(llvm::StringRef bytes) {
  FileDescriptor file(memfd_create("kernels", MFD_CLOEXEC));
  if (file.get() < 0) return NoMeans("file");
  if (!WriteAll(file, bytes)) return NoMeans("memory");
  return file;
}

// A pipe that lld writes to by its path, and a thread that collects what is written.
class Collector {
 public:
  static absl::StatusOr<std::unique_ptr<Collector>> Start() {
    std::unique_ptr<Collector> collector(new Collector);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return NoMeans("pipe");
    collector->from_ = FileDescriptor(ends[0]);
    collector->to_ = FileDescriptor(ends[1]);
    collector->is_over_ = FileDescriptor(eventfd(0, EFD_CLOEXEC));
    if (collector->is_over_.get() < 0) return NoMeans("event");
    if (!StartThread(collector->thread_, [c = collector.get()] { c->Collect(); })) {
      return absl::ResourceExhaustedError("the system has no thread to link with");
    }
    return collector;
  }
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;
  ~Collector() { Join(); }

  std::string path() const { return PathOf(to_); }

  // All that was written. Nothing may write any more, but a descriptor that a crash left open does not
  // matter.
  absl::StatusOr<std::string> Finish() {
    Join();
    if (is_out_of_memory_) return absl::ResourceExhaustedError("no memory for the linked code");
    return std::move(bytes_);
  }

 private:
  Collector() = default;

  void Join() {
    if (!thread_.joinable()) return;
    eventfd_write(is_over_.get(), 1);
    thread_.join();
  }

  void Collect() {
    std::array<char, 1 << 16> buffer;
    for (;;) {
      pollfd files[] = {{from_.get(), POLLIN, 0}, {is_over_.get(), POLLIN, 0}};
      if (poll(files, std::size(files), -1) < 0) continue;
      if ((files[0].revents & POLLIN) == 0) return;
      const ssize_t count = read(from_.get(), buffer.data(), buffer.size());
      // The linker waits until all is read, so bytes that cannot be kept are read too.
      if (count > 0 && !is_out_of_memory_) Keep({buffer.data(), static_cast<size_t>(count)});
    }
  }

  void Keep(std::string_view bytes) {
    try {
      bytes_.append(bytes);
    } catch (const std::bad_alloc&) {
      is_out_of_memory_ = true;
    }
  }

  FileDescriptor from_, to_, is_over_;
  std::thread thread_;
  std::string bytes_;
  bool is_out_of_memory_ = false;
};

std::string Message(llvm::Error error) { return llvm::toString(std::move(error)); }

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
  // Flat: no tables for lazy binding, no padding between segments; constants before code. With threads, lld
  // would unlink what is at the output's path.
  const char* const arguments[] = {"ld.lld", "-shared", "-zdefs", "-Bsymbolic", "-znorelro",
                                   "-znoseparate-code", "--no-rosegment", "-zmax-page-size=4096",
                                   "--build-id=none", "--threads=1",
                                   // The names come last.
                                   "-o", output.c_str(), "--whole-archive", input.c_str()};
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  std::string out, err;
  llvm::raw_string_ostream out_stream(out), err_stream(err);
  // Without recovery, an error that lld calls fatal would end this process.
  llvm::CrashRecoveryContext::Enable();
  const lld::Result result = lld::lldMain(arguments, out_stream, err_stream, {{lld::Gnu, &lld::elf::link}});
  llvm::CrashRecoveryContext::Disable();
  if (result.retCode != 0) return InternalError("generated code does not link: ", err_stream.str());
  return absl::OkStatus();
}

// Whether a section belongs to the kernels, and is not a table that the linker made for the loader.
bool IsContent(const ELF64LEFile::Elf_Shdr& section) {
  return (section.sh_flags & llvm::ELF::SHF_ALLOC) != 0 && section.sh_type == llvm::ELF::SHT_PROGBITS;
}

absl::Status CheckSection(const ELF64LEFile::Elf_Shdr& section, llvm::StringRef name) {
  if (section.sh_size == 0 || (section.sh_flags & llvm::ELF::SHF_ALLOC) == 0) return absl::OkStatus();
  if (section.sh_type == llvm::ELF::SHT_RELA || section.sh_type == llvm::ELF::SHT_REL ||
      section.sh_type == llvm::ELF::SHT_RELR) {
    return InternalError("generated code needs a relocation at load time (", name.str(), ")");
  }
  if (section.sh_type == llvm::ELF::SHT_DYNAMIC) return absl::OkStatus();
  if ((section.sh_flags & (llvm::ELF::SHF_WRITE | llvm::ELF::SHF_TLS)) != 0) {
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
  ASSIGN_OR_RETURN(const FileDescriptor input, FileInMemory(archive->getBuffer()));
  ASSIGN_OR_RETURN(const std::unique_ptr<Collector> output, Collector::Start());
  RETURN_IF_ERROR(RunLinker(PathOf(input), output->path()));
  ASSIGN_OR_RETURN(const std::string linked, output->Finish());
  return Flatten(llvm::MemoryBufferRef(linked, "kernels"));
}

}  // namespace attune
