// Which of several servers on one database schedules and serves the fleet.
//
// Problem: servers' clocks differ, each may stop or be cut off at any moment, and one that wakes again does
// not know that another has taken its place. Idea: a row has the holder's token and a number that it raises
// all the time. A server that sees the number rest for long, by its own clock, takes the row with the next
// token. Every writing transaction of the holder looks at the token and keeps it from changing until it ends;
// so what a server has lost it cannot write. Price: a row is locked, for reading, with each transaction.
#ifndef ATTUNE_PROCESS_SERVER_SERVER_LEASE_H_
#define ATTUNE_PROCESS_SERVER_SERVER_LEASE_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/background_loop.h"
#include "base/sql/sql_database.h"

namespace attune {

const SqlSchema& ServerLeaseSchema();

struct ServerLeaseOptions {
  std::string holder = {};  // for people; names this server
  double seconds = 10;      // without a sign of life, after which another server takes the lease
  double look_seconds = 0;  // between two signs of life, and two looks at those of others; 0: a fifth of that
};

// Thread safe. Only for a location in PostgreSQL.
class ServerLease {
 public:
  static absl::StatusOr<std::unique_ptr<ServerLease>> Open(const SqlLocation& location,
                                                           const ServerLeaseOptions& options);
  // Gives the lease back, if it is this server's.
  ~ServerLease();

  // Waits until this server has the lease (true), or until Wake().
  bool AwaitHeld();
  // Waits until it has lost it, or until Wake().
  void AwaitLost();
  // Ends both waits, from now on.
  void Wake();
  // Gives it to another server, which is not to be this one for a while.
  void GiveUp();

  // Fails in a transaction of a server that has the lease no more. For SqlLocation::Fenced(), while it is
  // held.
  SqlFence Fence() const;

  // Tells where the holder's REST is reached, "host:port".
  void Announce(const std::string& address);
  // The holder's name; empty if the lease is free, or its holder has not announced it yet.
  std::string Leader() const;

 private:
  struct Row {
    int64_t token = 0, beat = 0;
    std::string holder, address;
    bool operator==(const Row&) const = default;
  };
  ServerLease(std::unique_ptr<SqlDatabase> database, const ServerLeaseOptions& options);
  static absl::StatusOr<Row> ReadLease(const SqlRow& row);

  // Renews the lease, or looks at how its holder does.
  void Look();
  absl::StatusOr<Row> Find();
  // Takes it if it is still as it was seen. Returns whether it has.
  absl::StatusOr<bool> Take(const Row& seen);
  absl::StatusOr<bool> Renew();
  void Lose(std::string_view reason);

  const std::unique_ptr<SqlDatabase> database_;
  const ServerLeaseOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_woken_ = false;
  std::optional<int64_t> held_;  // the token, while this server has the lease
  Row seen_;                     // as it was seen last
  double seen_since_ = 0;        // on the clock; likewise
  bool is_blind_ = false;        // the database has not answered at the latest look
  double renewed_ = 0;           // when the latest renewal began
  double waits_until_ = 0;       // after GiveUp()
  std::string address_;
  BackgroundLoop loop_;
};

}  // namespace attune

#endif  // ATTUNE_PROCESS_SERVER_SERVER_LEASE_H_
