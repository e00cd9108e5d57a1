// attune backup FILE, attune restore FILE
#include "process/backup/backup.h"

#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/private_file.h"
#include "base/sql/sql_database.h"
#include "base/status.h"
#include "cli/common/output.h"
#include "cli/common/passphrase.h"
#include "cli/common/server_commands.h"
#include "fleet/identity/member_folders.h"
#include "process/commands/command.h"
#include "process/setup/container_backup.h"
#include "process/setup/installation.h"
#include "service/identity/local_tokens.h"

namespace attune {
namespace {

struct BackupFlags {
  std::string file, state, database, passphrase_file;
};

// The installation of attune up in the folder, or in the default one, if its server runs in a container and
// no database is named.
std::optional<Installation> FindContainers(const BackupFlags& flags) {
  if (!flags.database.empty()) return std::nullopt;
  const absl::StatusOr<std::string> folder = InstallationFolder(flags.state);
  if (!folder.ok()) return std::nullopt;
  absl::StatusOr<Installation> installation = LoadInstallation(*folder);
  if (!installation.ok() || !installation->UsesContainers()) return std::nullopt;
  return *std::move(installation);
}

// The server of attune up, if there is one on this machine; with the database that is named, if one is.
absl::StatusOr<ServerState> StateOf(const BackupFlags& flags) {
  std::string folder = flags.state, database = flags.database;
  if (const auto up = InstallationFolder(""); folder.empty() && up.ok()) {
    const absl::StatusOr<Installation> installation = LoadInstallation(*up);
    if (!installation.ok() && !absl::IsNotFound(installation.status())) return installation.status();
    if (installation.ok()) folder = installation->ServerFolder();
    if (installation.ok() && database.empty()) database = installation->database;
  }
  ServerState state = {.folder = folder};
  if (folder.empty()) {
    ASSIGN_OR_RETURN(state.folder, DefaultServerFolder());
  }
  if (!database.empty()) {
    ASSIGN_OR_RETURN(state.database, SqlLocation::Postgres(database));
  }
  return state;
}

// "FOLDER" or "FOLDER and postgresql://…".
std::string NameOf(const ServerState& state) {
  return state.database ? absl::StrCat(state.folder, " and ", state.database->name()) : state.folder;
}

// "12 files", and the rows if there is a database.
std::string SizeOf(const BackupReport& report, const ServerState& state) {
  const std::string files = absl::StrCat(report.files, " files");
  return state.database ? absl::StrCat(report.rows, " rows and ", files) : files;
}

std::string TimeText(int64_t ms) {
  return absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", absl::FromUnixMillis(ms), absl::UTCTimeZone());
}

absl::Status RunBackup(const BackupFlags& flags) {
  ASSIGN_OR_RETURN(const std::string passphrase, NewPassphrase(flags.passphrase_file));
  Progress progress;
  progress.Show("backing up");
  if (const std::optional<Installation> containers = FindContainers(flags)) {
    ASSIGN_OR_RETURN(const std::string said, BackUpContainer(*containers, flags.file, passphrase));
    PrintResult(said);
  } else {
    ASSIGN_OR_RETURN(const ServerState state, StateOf(flags));
    ASSIGN_OR_RETURN(const BackupReport report, BackUp(state, flags.file, passphrase, ATTUNE_VERSION));
    PrintResult(absl::StrCat(flags.file, ": the state of ", NameOf(state), " at ", TimeText(report.time_ms),
                             ", ", SizeOf(report, state), " with ",
                             FormatBytes(static_cast<uint64_t>(report.bytes)), "\n"));
  }
  PrintNote("only the passphrase opens it; keep the passphrase elsewhere");
  return absl::OkStatus();
}

// Returns the text of a new token.
absl::StatusOr<std::string> RestoreState(const BackupFlags& flags, const std::string& passphrase) {
  ASSIGN_OR_RETURN(const ServerState state, StateOf(flags));
  ASSIGN_OR_RETURN(const RestoreReport report, Restore(flags.file, state, passphrase));
  ASSIGN_OR_RETURN(const std::string token, MakeLocalToken(state.database.value_or(SqlLocation(state.folder)),
                                                           {.name = "restored", .role = AccessRole::kAdmin}));
  PrintNote(absl::StrCat("the state of ", NameOf(state), " is as it was at ", TimeText(report.backup.time_ms),
                         " (", SizeOf(report.backup, state), ", by attune ", report.version,
                         "); the fleet's epoch is ", report.epoch));
  return token;
}

absl::Status RunRestore(const BackupFlags& flags) {
  const std::optional<Installation> containers = FindContainers(flags);
  ASSIGN_OR_RETURN(const std::string passphrase, KnownPassphrase(flags.passphrase_file));
  Progress progress;
  progress.Show("restoring");
  ASSIGN_OR_RETURN(const std::string token, containers ? RestoreContainer(*containers, flags.file, passphrase)
                                                       : RestoreState(flags, passphrase));
  PrintNote(
      "earlier tokens, sessions and invitations no longer count, nor do certificates issued after the "
      "backup; revoke again every member that you have revoked since then (attune fleet revoke)");
  PrintNote(
      absl::StrCat("a new administrator token, shown only once, counts for ", kUsualTokenDays, " days:"));
  PrintResult(token + "\n");
  return absl::OkStatus();
}

void AddCommonOptions(CLI::App& command, BackupFlags& flags, const char* file_help) {
  command.add_option("FILE", flags.file, file_help)->required();
  command.add_option("--state", flags.state,
                     "the folder of the server's state, or that of attune up --containers (default: that of "
                     "attune up, else of attune server)");
  command
      .add_option("--database", flags.database,
                  "postgresql://USER@HOST/DATABASE of the server's state (default: $ATTUNE_DATABASE, or that "
                  "of attune up)")
      ->envname(kDatabaseVariable);
  command
      .add_option("--passphrase-file", flags.passphrase_file,
                  "read the passphrase from this file, which only you may read (default: ask for it)")
      ->type_name("FILE");
}

}  // namespace

void AddBackupCommands(CLI::App& app, Action& action) {
  auto flags = std::make_shared<BackupFlags>();
  CLI::App* backup = app.add_subcommand(kBackupCommand.name, kBackupCommand.help);
  AddCommonOptions(*backup, *flags, "the file to write");
  backup->callback([flags, &action] { action = [flags] { return RunBackup(*flags); }; });
  CLI::App* restore = app.add_subcommand(kRestoreCommand.name, kRestoreCommand.help);
  AddCommonOptions(*restore, *flags, "a file that attune backup has written");
  restore->callback([flags, &action] { action = [flags] { return RunRestore(*flags); }; });
}

}  // namespace attune
