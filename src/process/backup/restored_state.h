// Takes out of a restored state what must not count again.
//
// Problem: a backup knows nothing of the time after it. Leases that were given out then must not meet their
// own numbers, and what was revoked then must not count again. Idea: the fleet's epoch rises beyond all that
// it can have reached; leases, invitations, tokens and sessions of the backup end; and certificates that were
// issued between the backup and now are refused, since they may have been revoked. Members that the backup
// knows stay, so that they come back by themselves. Price: people get new tokens, members that have joined or
// renewed their certificates since then join again, and members that were revoked since then must be revoked
// again.
#ifndef ATTUNE_PROCESS_BACKUP_RESTORED_STATE_H_
#define ATTUNE_PROCESS_BACKUP_RESTORED_STATE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "base/sql/sql_session.h"

namespace attune {

// In the server's folder, before a server has it. Times are ms since 1970, UTC. Returns the fleet's epoch.
absl::StatusOr<int64_t> EndWhatMustNotCount(const std::string& folder, int64_t backup_ms, int64_t now_ms);
// The same in PostgreSQL, as a part of the session's transaction. The tables of all stores must be up to
// date.
absl::StatusOr<int64_t> EndWhatMustNotCount(SqlSession& session, int64_t backup_ms, int64_t now_ms);

}  // namespace attune

#endif  // ATTUNE_PROCESS_BACKUP_RESTORED_STATE_H_
