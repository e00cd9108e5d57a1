// Runs a fuzz target once on each file of a folder, in the order of their names, without search or
// sanitizer.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
    return 2;
  }
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const auto& path : paths) {
    std::printf("%s\n", path.filename().c_str());
    std::fflush(stdout);  // so that a crash shows which file caused it
    std::ifstream file(path, std::ios::binary);
    const std::string content{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(content.data()), content.size());
  }
  return paths.empty() ? 1 : 0;  // no files: the corpus is lost
}
