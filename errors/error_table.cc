#include <array>

#include "errors/error_code.h"

namespace leadline {
namespace {

constexpr std::array<ErrorRow, 30> kTable = {{
    {ErrorCode::kConflict, "conflict", 1,
     "what was asked for does not fit the state of things: the sweep has "
     "ended, "
     "a request's id was used for another request",
     "`leadline show` tells the state; the message says what would fit"},
    {ErrorCode::kCancelled, "cancelled", 1,
     "the sweep ended because it was cancelled, or the call was",
     "`leadline retry SWEEP --cancelled` queues again what was cancelled"},
    {ErrorCode::kTooLarge, "too_large", 1,
     "a message, a list or a value is above a limit",
     "ask for less at once; the message names the limit"},
    {ErrorCode::kUnsupported, "unsupported", 1,
     "the coordinator does not know the request: it is older than the command",
     "use the same version on both sides: `leadline version`"},
    {ErrorCode::kDamaged, "damaged", 1,
     "stored data cannot be read back: the database or a checkpoint is damaged",
     "keep a copy of the files, and restore a backup; see "
     "`docs/operations.md`"},
    {ErrorCode::kInternal, "internal", 1, "a fault in Leadline itself",
     "please report it, with the message and the end of the log"},
    {ErrorCode::kOutput, "output", 1,
     "standard output could not be written: a full disk, a pipe that was "
     "closed",
     "make room, or write elsewhere; what was printed is not complete"},
    {ErrorCode::kFile, "file", 1,
     "a file that a command reads or writes cannot be read or written",
     "the message names the file and the reason of the system"},
    {ErrorCode::kNodeAway, "node_away", 1,
     "the node that has what was asked for is not connected, or went away "
     "before it answered",
     "start its agent again, with the same state folder; `leadline explain` "
     "names the nodes"},
    {ErrorCode::kDiskFull, "disk_full", 1,
     "there is no room on a disk, or a file may not grow",
     "make room; nothing that was acknowledged is lost, and work goes on by "
     "itself"},
    {ErrorCode::kStoreRefused, "store_refused", 1,
     "the database takes nothing at present: another program holds it, or its "
     "disk fails",
     "end what holds it (`fuser STATE/leadline.db`), or look at the disk; "
     "nothing is lost, and work goes on by itself"},
    {ErrorCode::kStateInUse, "state_in_use", 1,
     "another process has the state folder",
     "end that process, which the message names, or choose another folder with "
     "`--state`"},
    {ErrorCode::kStateUnusable, "state_unusable", 1,
     "the state folder cannot be made, read or written, or holds what is not "
     "ours",
     "give the folder to the user that runs the program (mode 0700), or choose "
     "another with `--state`"},
    {ErrorCode::kAddressInUse, "address_in_use", 1,
     "another program listens on the address, or it may not be bound",
     "stop that program, or choose another with `--listen`; port 0 is any free "
     "one"},
    {ErrorCode::kAddressUnusable, "address_unusable", 1,
     "an address cannot be used at all: a folder of the socket that is not "
     "there, a name that is too long",
     "the message says what is wrong with it; choose another with `--listen`"},
    {ErrorCode::kNewerSchema, "newer_schema", 1,
     "the database was written by a newer version; it is left as it is",
     "use that version, or restore a backup made before the upgrade"},
    {ErrorCode::kForeignDatabase, "foreign_database", 1,
     "the file is no database, or another program's; it is left as it is",
     "choose another folder with `--state`"},
    {ErrorCode::kNameTaken, "name_taken", 1,
     "another live agent is registered under the node's name",
     "give this one a name of its own with `--node`"},
    {ErrorCode::kVersionMismatch, "version_mismatch", 1,
     "coordinator and agent have no version of the protocol in common",
     "use versions next to each other; the message names both"},
    {ErrorCode::kLeftovers, "leftovers", 1,
     "trainers of an earlier agent could not be ended",
     "look at the processes that the log names, and end them by hand"},
    {ErrorCode::kMisuse, "misuse", 2,
     "an argument, a flag or a line of a settings file is wrong",
     "`--help` of the command or program tells what there is"},
    {ErrorCode::kSweepFile, "sweep_file", 2,
     "the sweep file has faults; nothing was stored",
     "mend what each `file:line:column` says; all faults come at once"},
    {ErrorCode::kTrialsFailed, "trials_failed", 3,
     "the sweep ended and some trials failed; with `--strict`, or diverged",
     "`leadline explain SWEEP` tells why, `leadline logs TRIAL` what a trainer "
     "wrote, `leadline retry SWEEP` tries again"},
    {ErrorCode::kUnreachable, "unreachable", 4,
     "no coordinator answers there, or it is ending",
     "look at the address, and whether the coordinator runs"},
    {ErrorCode::kNoAnswer, "no_answer", 4,
     "the coordinator did not answer in time",
     "try again; what changes something is done once however often it is asked "
     "for"},
    {ErrorCode::kUnauthenticated, "unauthenticated", 5,
     "no token was given, or none that is known and valid",
     "give a token that is valid"},
    {ErrorCode::kForbidden, "forbidden", 5,
     "the token's role does not allow it", "use a token of a role that does"},
    {ErrorCode::kNotFound, "not_found", 6,
     "there is no such sweep, cell, trial, attempt, setting or method, or its "
     "files were removed by age or size",
     "`leadline ls` and `leadline show` list what there is"},
    {ErrorCode::kNothingCanRun, "nothing_can_run", 7,
     "nothing of the sweep could run while it was waited for: no live agent, "
     "or no device that fits",
     "`leadline explain SWEEP` names what is missing; the sweep is kept"},
    {ErrorCode::kInterrupted, "interrupted", 130,
     "Ctrl-C, or a signal that ends a program",
     "the same command goes on with what is left"},
}};

}  // namespace

std::span<const ErrorRow> ErrorTable() { return kTable; }

}  // namespace leadline
