// A server for tests of its clients: keeps what it is sent, and breaks calls when it is told to.
#ifndef ATTUNE_SERVICE_CLIENT_FAKE_SERVER_FOR_TEST_H_
#define ATTUNE_SERVICE_CLIENT_FAKE_SERVER_FOR_TEST_H_

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "fleet/identity/authority_files.h"
#include "fleet/identity/credentials.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/fleet.grpc.pb.h"
#include "service/wire/jobs.grpc.pb.h"

namespace attune {

inline grpc::Status BrokenOfTest() { return {grpc::StatusCode::UNAVAILABLE, "the connection broke"}; }

// Takes one of the faults that are left; false if there is none.
inline bool TakeFault(std::atomic<int>& left) {
  int now = left;
  while (now > 0 && !left.compare_exchange_weak(now, now - 1)) {
  }
  return now > 0;
}

// The blobs that were sent, by their digests.
class FakeBlobs final : public fleet_proto::Fleet::Service {
 public:
  std::atomic<int> breaks = 0;  // so many uploads break after their first piece

  std::map<std::string, std::string> complete() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return complete_;
  }
  int64_t received() const { return received_; }

  grpc::Status SendBlob(grpc::ServerContext*, grpc::ServerReader<fleet_proto::BlobPiece>* pieces,
                        fleet_proto::BlobState*) override {
    fleet_proto::BlobPiece piece;
    std::string digest;
    while (pieces->Read(&piece)) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (digest.empty()) digest = piece.digest();
      if (complete_.contains(digest)) return grpc::Status::OK;
      std::string& bytes = partial_[digest];
      if (piece.offset() != std::ssize(bytes)) return {grpc::StatusCode::OUT_OF_RANGE, "not there"};
      bytes += piece.bytes();
      received_ += std::ssize(piece.bytes());
      if (TakeFault(breaks)) return BrokenOfTest();
      if (!piece.is_last()) continue;
      const std::string all = std::move(bytes);
      partial_.erase(digest);
      if (Sha256Hex(all) != digest) return {grpc::StatusCode::DATA_LOSS, "another digest"};
      complete_[digest] = all;
    }
    return grpc::Status::OK;
  }
  grpc::Status StateOfBlob(grpc::ServerContext*, const fleet_proto::BlobName* name,
                           fleet_proto::BlobState* state) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    state->set_is_complete(complete_.contains(name->digest()));
    state->set_sent_bytes(std::ssize(partial_[name->digest()]));
    return grpc::Status::OK;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> complete_, partial_;
  std::atomic<int64_t> received_ = 0;
};

// Jobs that wait until the test says otherwise, and one file, which each of them has.
class FakeJobs final : public jobs_service_proto::Jobs::Service {
 public:
  std::atomic<int> lost_answers = 0;  // so many answers to Submit are lost
  // A stream of the file ends after so many bytes, as if the connection broke; 0: none does.
  std::atomic<int64_t> breaks_after = 0;

  void SetFile(std::string content) {
    const std::lock_guard<std::mutex> lock(mutex_);
    content_ = std::move(content);
  }
  // Adds it, or replaces what is known of it.
  void SetJob(const jobs_service_proto::JobDetail& detail) {
    const std::lock_guard<std::mutex> lock(mutex_);
    jobs_[detail.job().id()] = detail;
  }
  std::vector<jobs_service_proto::Submission> taken() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return taken_;
  }
  // How often List or Show was called.
  int questions() const { return questions_; }
  // That files were asked for from.
  std::vector<int64_t> offsets() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return offsets_;
  }

  grpc::Status Submit(grpc::ServerContext*, const jobs_service_proto::Submission* submission,
                      jobs_service_proto::JobList* list) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (std::ranges::none_of(taken_, [&](const auto& known) { return known.key() == submission->key(); }))
      taken_.push_back(*submission);
    if (TakeFault(lost_answers)) return BrokenOfTest();
    for (const jobs_service_proto::SubmittedJob& submitted : submission->jobs()) {
      jobs_service_proto::Job& job = *jobs_[submitted.name()].mutable_job();
      job.set_id(submitted.name());
      job.set_state("waiting");
      *list->add_jobs() = job;
    }
    return grpc::Status::OK;
  }
  grpc::Status List(grpc::ServerContext*, const jobs_service_proto::ListRequest* request,
                    jobs_service_proto::JobList* list) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++questions_;
    for (const auto& [id, detail] : jobs_)
      if (!request->unfinished() || detail.job().ended_ms() == 0) *list->add_jobs() = detail.job();
    return grpc::Status::OK;
  }
  grpc::Status Show(grpc::ServerContext*, const jobs_service_proto::JobName* name,
                    jobs_service_proto::JobDetail* detail) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++questions_;
    if (!jobs_.contains(name->id())) return {grpc::StatusCode::NOT_FOUND, "there is no such job"};
    *detail = jobs_.at(name->id());
    return grpc::Status::OK;
  }
  grpc::Status Cancel(grpc::ServerContext*, const jobs_service_proto::JobName* name,
                      jobs_service_proto::Job* job) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!jobs_.contains(name->id())) return {grpc::StatusCode::NOT_FOUND, "there is no such job"};
    jobs_.at(name->id()).mutable_job()->set_state("cancelled");
    *job = jobs_.at(name->id()).job();
    return grpc::Status::OK;
  }
  grpc::Status ReadFile(grpc::ServerContext*, const jobs_service_proto::FileRequest* request,
                        grpc::ServerWriter<jobs_service_proto::FilePiece>* pieces) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    offsets_.push_back(request->offset());
    constexpr int64_t kPiece = 1000;
    const int64_t end = breaks_after > 0 ? std::min(request->offset() + breaks_after, std::ssize(content_))
                                         : std::ssize(content_);
    for (int64_t offset = request->offset(); offset < end; offset += kPiece) {
      jobs_service_proto::FilePiece piece;
      piece.set_offset(offset);
      piece.set_bytes(
          content_.substr(static_cast<size_t>(offset), static_cast<size_t>(std::min(kPiece, end - offset))));
      pieces->Write(piece);
    }
    return end < std::ssize(content_) ? BrokenOfTest() : grpc::Status::OK;
  }

 private:
  std::mutex mutex_;
  std::string content_;
  std::map<std::string, jobs_service_proto::JobDetail> jobs_;
  std::vector<jobs_service_proto::Submission> taken_;
  std::vector<int64_t> offsets_;
  std::atomic<int> questions_ = 0;
};

class FakeServer {
 public:
  FakeServer() {
    auto authorities = AuthorityFiles::OpenOrCreate(folder_ / "server");
    EXPECT_TRUE(authorities.ok()) << authorities.status();
    const auto tls = authorities->ServerTlsFor({kFleetServerName, "127.0.0.1"});
    EXPECT_TRUE(tls.ok()) << tls.status();
    grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    options.pem_root_certs = authorities->TrustedPem();
    options.pem_key_cert_pairs.push_back({.private_key = tls->key_pem, .cert_chain = tls->chain_pem});
    int port = 0;
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::SslServerCredentials(options), &port);
    builder.RegisterService(&blobs);
    builder.RegisterService(&jobs);
    server_ = builder.BuildAndStart();
    const auto key = PrivateKey::Generate();
    constexpr double kHour = 3600;
    credentials_ = {.server = "127.0.0.1:" + std::to_string(port),
                    .authorities_pem = authorities->TrustedPem(),
                    .certificate_pem = *authorities->signer().Sign(
                        *key->Request(), {FleetRole::kClient, "ann", "client"}, kHour),
                    .key_pem = *key->Pem()};
  }

  const FleetCredentials& credentials() const { return credentials_; }

  FakeBlobs blobs;
  FakeJobs jobs;

 private:
  const testing::TemporaryFolder folder_;
  FleetCredentials credentials_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_CLIENT_FAKE_SERVER_FOR_TEST_H_
