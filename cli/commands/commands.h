// Every command: a declaration here, a line in the registry, a file of its own.

#pragma once

#include <vector>

#include "cli/command.h"

namespace leadline::cli {

Command RunCommand();
Command SubmitCommand();
Command PlanCommand();
Command LsCommand();
Command ShowCommand();
Command WatchCommand();
Command ResultsCommand();
Command LogsCommand();
Command ExplainCommand();
Command NodesCommand();
Command PauseCommand();
Command ResumeCommand();
Command RetryCommand();
Command CancelCommand();
Command ArchiveCommand();
Command NoteCommand();
Command TagCommand();
Command RmCommand();
Command BackupCommand();
Command RestoreCommand();
Command FsckCommand();
Command CheckpointsCommand();
Command ExportCommand();
Command SampleCommand();
Command EvalCommand();
Command ConvertCommand();
Command SettingsCommand();
Command MethodsCommand();
Command DatasetsCommand();
Command Text8FilterCommand();
Command VersionCommand();

/// In the order of the help.
std::vector<Command> Registry();

}  // namespace leadline::cli
