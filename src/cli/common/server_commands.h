// The commands of attune-server, as people type them after `attune`.
#ifndef ATTUNE_CLI_COMMON_SERVER_COMMANDS_H_
#define ATTUNE_CLI_COMMON_SERVER_COMMANDS_H_

namespace attune {

struct ServerCommand {
  const char* name;
  const char* help;
};

inline constexpr ServerCommand kServerCommand = {"server",
                                                 "Serve a fleet: lease its devices to clients and jobs"};
inline constexpr ServerCommand kBackupCommand = {
    "backup", "Write a server's state, while it runs, to an encrypted file"};
inline constexpr ServerCommand kRestoreCommand = {
    "restore", "Restore a server's state from a backup, and print a new token"};
inline constexpr ServerCommand kUpCommand = {"up",
                                             "Set up the service on this machine: a server, an agent and a "
                                             "runner that keep running after the command"};
inline constexpr ServerCommand kDownCommand = {"down",
                                               "End what attune up has started, and remove its state"};

inline constexpr ServerCommand kServerCommands[] = {kServerCommand, kBackupCommand, kRestoreCommand,
                                                    kUpCommand, kDownCommand};

}  // namespace attune

#endif  // ATTUNE_CLI_COMMON_SERVER_COMMANDS_H_
