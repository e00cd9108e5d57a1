// A bidirectional gRPC stream as a Link, with what comes from the peer handed to callbacks.
#ifndef ATTUNE_FLEET_SERVING_SERVER_STREAM_H_
#define ATTUNE_FLEET_SERVING_SERVER_STREAM_H_

#include <grpcpp/grpcpp.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/guarded.h"
#include "base/log.h"
#include "fleet/identity/certificate.h"
#include "fleet/serving/link.h"
#include "fleet/wire/rpc_status.h"

namespace attune {

// Owns itself until the stream is done; other holders may still call Send() and Close() afterwards. Messages
// of the peer are not read once the stream is being closed.
template <typename In, typename Out>
class ServerStream final : public grpc::ServerBidiReactor<In, Out>, public Link<Out> {
 public:
  struct Handlers {
    std::function<void(const In&)> received;
    std::function<void()> gone;  // the last call: nothing more will be received
  };

  // Call Begin() once the handlers may be called.
  static std::shared_ptr<ServerStream> Create(std::string peer) {
    auto stream = std::make_shared<ServerStream>();
    stream->self_ = stream;
    stream->peer_ = std::move(peer);
    return stream;
  }
  void Begin(Handlers handlers) {
    handlers_ = std::move(handlers);
    this->StartRead(&in_);
  }

  void Send(const Out& message) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (is_closing_) return;
      const size_t bytes = message.ByteSizeLong();
      if (waiting_.size() >= kMostWaiting || waiting_bytes_ + bytes > kMostWaitingBytes) {
        is_closing_ = true;
        why_ = grpc::Status(grpc::StatusCode::RESOURCE_EXHAUSTED, "messages are not read fast enough");
        waiting_.clear();
      } else {
        waiting_.push_back(message);
        waiting_bytes_ += bytes;
      }
    }
    GoOn();
  }

  void Close(const absl::Status& why) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (is_closing_) return;
      is_closing_ = true;
      why_ = ToRpc(why);
    }
    GoOn();
  }

  void OnReadDone(bool ok) override {
    if (!ok) return Close(absl::OkStatus());
    if (handlers_.received == nullptr) return;  // refused, and being closed
    // gRPC would swallow an exception, and the stream would never be read again.
    if (const absl::Status received = Guarded([&] { handlers_.received(in_); }); !received.ok()) {
      Log(LogLevel::kError, "a message cannot be worked on", "peer", peer_, "reason", received.message());
      return Close(received);
    }
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (is_closing_) return;
    }
    this->StartRead(&in_);
  }
  void OnWriteDone(bool ok) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_writing_ = false;
      if (!ok) {
        is_closing_ = true;
        waiting_.clear();
      }
    }
    GoOn();
  }
  std::string peer() const override { return peer_; }

  void OnCancel() override { Close(absl::CancelledError("the peer is gone")); }
  void OnDone() override {
    if (handlers_.gone) handlers_.gone();
    self_.reset();
  }

 private:
  // So that a peer that reads nothing costs no more.
  static constexpr size_t kMostWaiting = 10'000;  // messages
  static constexpr size_t kMostWaitingBytes = size_t{256} << 20;

  // Starts the next write, or finishes, if it is time.
  void GoOn() {
    bool finishes = false;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (is_writing_ || is_finished_) return;
      if (!waiting_.empty()) {
        out_ = std::move(waiting_.front());
        waiting_.pop_front();
        waiting_bytes_ -= out_.ByteSizeLong();
        is_writing_ = true;
      } else if (is_closing_) {
        finishes = is_finished_ = true;
      } else {
        return;
      }
    }
    if (finishes) {
      this->Finish(why_);
    } else {
      this->StartWrite(&out_);
    }
  }

  Handlers handlers_;
  In in_;
  std::shared_ptr<ServerStream> self_;
  std::string peer_;

  std::mutex mutex_;
  std::deque<Out> waiting_;
  size_t waiting_bytes_ = 0;
  Out out_;  // being written
  bool is_writing_ = false, is_closing_ = false, is_finished_ = false;
  grpc::Status why_;
};

// Begins a stream whose messages `logic` receives: from add(), which returns the stream's number for the
// other calls, until remove(). Closes it if the caller, who may be unknown, is refused. `peer` is the
// caller's address.
template <typename In, typename Out, typename Logic>
grpc::ServerBidiReactor<In, Out>* BeginStream(const absl::StatusOr<CertificateFacts>& who, std::string peer,
                                              Logic& logic,
                                              int64_t (Logic::*add)(const CertificateFacts&,
                                                                    std::shared_ptr<Link<Out>>),
                                              void (Logic::*remove)(int64_t)) {
  const auto stream = ServerStream<In, Out>::Create(std::move(peer));
  if (!who.ok()) {
    stream->Begin({});
    stream->Close(who.status());
    return stream.get();
  }
  const int64_t number = (logic.*add)(*who, stream);
  stream->Begin({.received = [&logic, number](const In& in) { logic.Receive(number, in); },
                 .gone = [&logic, number, remove] { (logic.*remove)(number); }});
  return stream.get();
}

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVING_SERVER_STREAM_H_
