#include "base/process/message.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/status.h"

namespace attune {
namespace {

constexpr uint32_t kMagic = 0x4D545441;  // "ATTM"

struct Header {
  uint32_t magic;
  uint32_t bytes;
};

constexpr size_t kReceiveBytes = size_t{1} << 20;  // memory grows as bytes arrive, not with promises

absl::Status Gone() { return absl::UnavailableError("the other process is gone"); }

absl::Status SendAll(int socket, const char* data, size_t size, Deadline deadline) {
  while (size > 0) {
    const ssize_t sent = send(socket, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      data += sent;
      size -= static_cast<size_t>(sent);
    } else if (errno == EAGAIN) {
      RETURN_IF_ERROR(AwaitSocket(socket, POLLOUT, deadline));
    } else if (errno != EINTR) {
      return Gone();
    }
  }
  return absl::OkStatus();
}

absl::Status ReceiveAll(int socket, char* data, size_t size, Deadline deadline) {
  while (size > 0) {
    const ssize_t received = recv(socket, data, size, MSG_DONTWAIT);
    if (received > 0) {
      data += received;
      size -= static_cast<size_t>(received);
    } else if (received < 0 && errno == EAGAIN) {
      RETURN_IF_ERROR(AwaitSocket(socket, POLLIN, deadline));
    } else if (received == 0 || errno != EINTR) {
      return Gone();
    }
  }
  return absl::OkStatus();
}

}  // namespace

Deadline After(double seconds) {
  constexpr double kCentury = 3e9;
  const std::chrono::duration<double> span(std::clamp(seconds, 0.0, kCentury));
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(span);
}

int PollTimeout(Deadline deadline) {
  if (deadline == kNoDeadline) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1 << 30));
}

absl::Status AwaitSocket(int socket, int16_t events, Deadline deadline) {
  for (;;) {
    pollfd entry = {socket, events, 0};
    const int ready = poll(&entry, 1, PollTimeout(deadline));
    if (ready > 0) return absl::OkStatus();
    if (ready == 0) return absl::DeadlineExceededError("no answer in time");
    if (errno != EINTR) return absl::InternalError(absl::StrCat("poll: ", std::strerror(errno)));
  }
}

void MessageReader::Take(void* to, size_t size) {
  if (failed_ || rest_.size() < size) {
    failed_ = true;
    std::memset(to, 0, size);
    return;
  }
  std::memcpy(to, rest_.data(), size);
  rest_.remove_prefix(size);
}

int64_t MessageReader::Int(int64_t least, int64_t most) {
  int64_t value = 0;
  Take(&value, sizeof(value));
  if (value < least || value > most) failed_ = true;
  return failed_ ? 0 : value;
}

double MessageReader::Double() {
  double value = 0;
  Take(&value, sizeof(value));
  if (!std::isfinite(value)) failed_ = true;
  return failed_ ? 0 : value;
}

std::string MessageReader::Bytes(size_t most) {
  const auto size = static_cast<size_t>(Int(0, static_cast<int64_t>(most)));
  if (failed_ || rest_.size() < size) {
    failed_ = true;
    return "";
  }
  std::string bytes(rest_.substr(0, size));
  rest_.remove_prefix(size);
  return bytes;
}

size_t MessageReader::Count(size_t most) {
  const auto count = static_cast<size_t>(Int(0, static_cast<int64_t>(most)));
  if (count > rest_.size() / sizeof(int64_t)) failed_ = true;
  return failed_ ? 0 : count;
}

absl::Status MessageReader::Finish() const {
  if (failed_ || !rest_.empty()) return absl::DataLossError("a damaged message");
  return absl::OkStatus();
}

absl::Status SendMessage(int socket, std::string_view payload, Deadline deadline) {
  if (payload.size() > kMaxMessageBytes)
    return absl::ResourceExhaustedError(absl::StrCat("a message of ", payload.size(), " bytes is too long"));
  const Header header = {kMagic, static_cast<uint32_t>(payload.size())};
  RETURN_IF_ERROR(SendAll(socket, reinterpret_cast<const char*>(&header), sizeof(header), deadline));
  return SendAll(socket, payload.data(), payload.size(), deadline);
}

absl::StatusOr<std::string> ReceiveMessage(int socket, Deadline deadline, size_t max_bytes) {
  Header header;
  RETURN_IF_ERROR(ReceiveAll(socket, reinterpret_cast<char*>(&header), sizeof(header), deadline));
  if (header.magic != kMagic || header.bytes > max_bytes)
    return absl::DataLossError("the other process sent something that is not a message");
  std::string payload;
  while (payload.size() < header.bytes) {
    const size_t old = payload.size();
    payload.resize(std::min<size_t>(header.bytes, old + kReceiveBytes));
    RETURN_IF_ERROR(ReceiveAll(socket, payload.data() + old, payload.size() - old, deadline));
  }
  return payload;
}

namespace {

// A message of one byte, with room for one open file beside it.
struct FileMessage {
  char byte = 'F';
  iovec data = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header = {};

  FileMessage() {
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof(control);
  }
  FileMessage(const FileMessage&) = delete;
  FileMessage& operator=(const FileMessage&) = delete;
};

}  // namespace

absl::Status SendFile(int socket, int file, Deadline deadline) {
  FileMessage message;
  cmsghdr* control = CMSG_FIRSTHDR(&message.header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(control), &file, sizeof(file));
  for (;;) {
    if (sendmsg(socket, &message.header, MSG_DONTWAIT | MSG_NOSIGNAL) == 1) return absl::OkStatus();
    if (errno == EAGAIN) {
      RETURN_IF_ERROR(AwaitSocket(socket, POLLOUT, deadline));
    } else if (errno != EINTR) {
      return Gone();
    }
  }
}

absl::StatusOr<FileDescriptor> ReceiveFile(int socket, Deadline deadline) {
  for (;;) {
    FileMessage message;
    const ssize_t received = recvmsg(socket, &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (received < 0 && errno == EAGAIN) {
      RETURN_IF_ERROR(AwaitSocket(socket, POLLIN, deadline));
    } else if (received < 0 && errno == EINTR) {
      continue;
    } else if (received <= 0) {
      return Gone();
    } else {
      const cmsghdr* control = CMSG_FIRSTHDR(&message.header);
      const bool has_file = control != nullptr && control->cmsg_type == SCM_RIGHTS &&
                            control->cmsg_len == CMSG_LEN(sizeof(int));
      if (!has_file) return absl::DataLossError("the other process sent something that is not a file");
      int file = -1;
      std::memcpy(&file, CMSG_DATA(control), sizeof(file));
      return FileDescriptor(file);
    }
  }
}

}  // namespace attune
