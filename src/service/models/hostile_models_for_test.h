// Importers that a model file has taken over: what the file says is done within the sandbox.
#ifndef ATTUNE_SERVICE_MODELS_HOSTILE_MODELS_FOR_TEST_H_
#define ATTUNE_SERVICE_MODELS_HOSTILE_MODELS_FOR_TEST_H_

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/process/worker_process.h"
#include "service/models/import_worker.h"

namespace attune {

// A model file that begins so has its next word carried out.
inline constexpr char kHostileMark[] = "hostile ";

inline ImportAnswer Says(const std::string& text) { return {.status = absl::InvalidArgumentError(text)}; }

// Nothing if the file is none of these.
inline std::optional<ImportAnswer> CarryOut(const ImportRequest& request) {
  const absl::StatusOr<std::string> content = ReadFile(request.model, 1000);
  if (!content.ok() || !content->starts_with(kHostileMark)) return std::nullopt;
  const std::string word = content->substr(sizeof(kHostileMark) - 1);
  if (word == "crash") std::abort();
  if (word == "exit") _exit(0);
  if (word == "hang") {
    for (volatile int i = 0;; i = i + 1) {
    }
  }
  if (word == "eat") {
    for (std::vector<char*> eaten;;) eaten.push_back(new char[size_t{256} << 20]);
  }
  if (word == "lie") return ImportAnswer{.facts = "{\"format\": \"onnx\", \"network\": 7}"};
  if (word == "chatter") {
    const std::string much(kMostAnswerBytes + 1, 'x');
    return Says(much);
  }
  if (word == "read") return Says(open("/etc/passwd", O_RDONLY) < 0 ? "sees nothing" : "sees files");
  if (word == "leave")
    return Says(open("../escaped", O_WRONLY | O_CREAT, 0600) < 0 ? "sees nothing" : "leaves");
  if (word == "write")
    return Says(open("mine", O_WRONLY | O_CREAT, 0600) < 0 ? "changes nothing" : "changes");
  if (word == "connect") return Says(socket(AF_INET, SOCK_STREAM, 0) < 0 ? "no network" : "network");
  if (word == "start") return Says(fork() < 0 ? "starts nothing" : "starts processes");
  if (word == "kill") kill(getppid(), SIGKILL);
  return Says(request.model + ": is \033[31mred\033[0m");
}

}  // namespace attune

#endif  // ATTUNE_SERVICE_MODELS_HOSTILE_MODELS_FOR_TEST_H_
