#include "cli/commands/access_commands.h"
#include "cli/commands/commands.h"

namespace leadline::cli {

std::vector<Command> Registry() {
  return {
      RunCommand(),      //
      SubmitCommand(),   //
      PlanCommand(),     //
      LsCommand(),       //
      ShowCommand(),     //
      WatchCommand(),    //
      ResultsCommand(),  //
      LogsCommand(),     //
      ExplainCommand(),  //
      NodesCommand(),    //
      PauseCommand(),    //
      ResumeCommand(),   //
      RetryCommand(),    //
      CancelCommand(),   //
      NoteCommand(),     //
      TagCommand(),      //
      ArchiveCommand(),  //
      RmCommand(),       //
      BackupCommand(),   //
      RestoreCommand(),  //
      FsckCommand(),     //
      CheckpointsCommand(),
      ExportCommand(),    //
      SampleCommand(),    //
      EvalCommand(),      //
      ConvertCommand(),   //
      TokenCommand(),     //
      AuditCommand(),     //
      SettingsCommand(),  //
      MethodsCommand(),   //
      DatasetsCommand(),  //
      Text8FilterCommand(),
      VersionCommand(),  //
  };
}

}  // namespace leadline::cli
