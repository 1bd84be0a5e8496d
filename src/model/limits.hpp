// SPDX-License-Identifier: Apache-2.0
// The limits of everything that comes in from outside or costs a shared resource; those of fabrics are in
// fabric/limits.hpp, those of reports in ctl/bundle/limits.hpp. docs/RELIABILITY.md lists the same tables;
// tests/unit/daemon/limits_test.cpp compares them.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace rdmacfg::model::limits {

inline constexpr std::size_t kKiB = 1024, kMiB = 1024 * kKiB;

// Documents: read from files, or sent over the bus.
inline constexpr std::size_t kFileBytes = kMiB;
inline constexpr std::size_t kDocumentBytes = 2 * kMiB;
inline constexpr std::size_t kDocumentFiles = 256;
inline constexpr int kNesting = 32;
inline constexpr std::size_t kErrors = 50;
inline constexpr std::size_t kEntries = 20'000;
inline constexpr std::size_t kEntriesOfKind = 10'000;
inline constexpr std::size_t kListItems = 16'384;
inline constexpr std::size_t kStringBytes = 4096;
inline constexpr std::size_t kTableBytes = 16 * kMiB;
inline constexpr std::size_t kTableRows = 100'000;
inline constexpr std::size_t kTableColumns = 256;
inline constexpr std::size_t kTables = 16;

// Fleets: hosts, and files about them, that rdma-configctl reads.
inline constexpr std::size_t kFleetHosts = 100'000;
inline constexpr std::size_t kFleetFileBytes = 8 * kMiB;

// Results of workers.
inline constexpr std::size_t kReportBytes = 8 * kMiB;
inline constexpr std::size_t kSummaryBytes = 4 * kMiB;
inline constexpr std::size_t kSummaryText = 512;
inline constexpr std::size_t kPlanChanges = 50'000;
inline constexpr std::size_t kParsedBytes = 16 * kMiB;

// The bus.
inline constexpr std::size_t kOptions = 16;
inline constexpr std::size_t kOptionBytes = 4096;
inline constexpr std::size_t kBusMatches = 8;
inline constexpr std::size_t kBusMessages = 32;
inline constexpr std::size_t kUnitQuestions = 16;
inline constexpr std::size_t kLeavingClients = 64;
inline constexpr std::size_t kQuestions = 64;
inline constexpr std::size_t kQuestionsOfUser = 4;
inline constexpr std::size_t kOthersKnown = 4096;
inline constexpr std::chrono::seconds kBusCall{3};

// Jobs.
inline constexpr std::size_t kLooks = 2;
inline constexpr std::size_t kLooksOfUser = 1;
inline constexpr std::size_t kRootLooks = 1;
inline constexpr std::size_t kQueue = 16;
inline constexpr std::size_t kQueueOfUser = 8;
inline constexpr std::size_t kResults = 16;
inline constexpr std::size_t kResultBytes = 16 * kMiB;
inline constexpr std::chrono::seconds kLookCpu{20};
inline constexpr std::chrono::seconds kLookTime{30};
inline constexpr std::chrono::seconds kChangeCpu{900};
inline constexpr std::chrono::seconds kChangeTime{1800};
inline constexpr std::chrono::seconds kUndoTime{300};
inline constexpr std::chrono::seconds kParseCpu{10};
inline constexpr std::size_t kLookMemory = 512 * kMiB;
inline constexpr std::size_t kParseMemory = 256 * kMiB;
inline constexpr std::size_t kLookDescriptors = 1024;
inline constexpr std::size_t kDescriptors = 65'536;

// State.
inline constexpr std::size_t kGenerations = 32;
inline constexpr std::size_t kRecordBytes = 64 * kMiB;

// Expectations.
inline constexpr std::size_t kCounterSeries = 4096;
inline constexpr std::size_t kCounterReadings = 16;

// Mounts.
inline constexpr std::size_t kMountOptions = 32;
inline constexpr std::size_t kMountOptionBytes = 128;

// Rules of srp_daemon.
inline constexpr std::size_t kSrpOptionBytes = 72;

// Subnet managers with an opensm.conf of their own: no OpenSM has as many options, no host as many ports.
inline constexpr std::size_t kOpensmConfs = 64;
inline constexpr std::size_t kOpensmConfOptions = 400;

// Files of other tools, for import.
inline constexpr std::size_t kImportFiles = 2000;
inline constexpr std::size_t kImportLines = 20'000;
inline constexpr std::size_t kImportEntries = 5000;

// Metrics.
inline constexpr std::size_t kMetricReasons = 32;
inline constexpr std::size_t kMetricText = 120;

// The service (units/rdma-configd.service).
inline constexpr std::size_t kServiceMemory = 2048 * kMiB;
inline constexpr std::size_t kServiceTasks = 64;

/// A line of the table.
struct Row {
  std::string_view name;  ///< of the constant
  std::uint64_t value;
  std::string_view unit;
  std::string_view beyond;  ///< what becomes of more than that, and where
  std::string_view reason;
};

inline constexpr auto kTable = std::to_array<Row>({
    {"kFileBytes", kFileBytes, "bytes", "validate: error, exit 1",
     "one file of the document; 1,000 interfaces take 100 KiB"},
    {"kDocumentBytes", kDocumentBytes, "bytes", "validate: error, exit 1; bus: LimitsExceeded",
     "all files together; must fit a generation's record after escaping (4 MiB)"},
    {"kDocumentFiles", kDocumentFiles, "files", "validate: error, exit 1; bus: LimitsExceeded",
     "main file and drop-ins"},
    {"kNesting", kNesting, "levels", "validate: error, exit 1",
     "the parser recurses; the language needs four"},
    {"kErrors", kErrors, "errors", "the rest is counted", "errors reported for one document"},
    {"kEntries", kEntries, "entries", "validate: error, exit 1", "sections of the document in all"},
    {"kEntriesOfKind", kEntriesOfKind, "entries", "validate: error, exit 1",
     "sections of one name; ten times the largest host tested"},
    {"kListItems", kListItems, "items", "validate: error, exit 1",
     "one list; a partition may name every port of a large fabric"},
    {"kStringBytes", kStringBytes, "bytes", "validate: error, exit 1",
     "one text; PATH_MAX and a page, the most that a kernel setting takes"},
    {"kTableBytes", kTableBytes, "bytes", "validate: error, exit 1",
     "one table of values for hosts, or /etc/hosts; a host keeps its own lines only"},
    {"kTableRows", kTableRows, "hosts", "validate: error, exit 1",
     "rows of one table; ten times the size of a large fleet"},
    {"kTableColumns", kTableColumns, "columns", "validate: error, exit 1", "columns of one table"},
    {"kTables", kTables, "tables", "validate: error, exit 1", "tables of one document"},
    {"kFleetHosts", kFleetHosts, "hosts", "fleet: error, exit 1",
     "hosts of one list or folder; ten times the size of a large fleet"},
    {"kFleetFileBytes", kFleetFileBytes, "bytes", "fleet: error for that file, exit 1",
     "one host's JSON, a list of hosts or a grouping; no report of ours is larger"},
    {"kReportBytes", kReportBytes, "bytes", "look: error, exit 1; apply: the report without its resources",
     "a reply must fit a D-Bus message (32 MiB), escaped"},
    {"kSummaryBytes", kSummaryBytes, "bytes", "the job counts as lost",
     "what the main process parses of a run"},
    {"kSummaryText", kSummaryText, "bytes", "cut", "one text of it"},
    {"kPlanChanges", kPlanChanges, "changes", "diff, apply: error, exit 1",
     "one plan; it is journalled whole before the first change"},
    {"kParsedBytes", kParsedBytes, "bytes", "error, exit 1", "a parsed document that leaves the sandbox"},
    {"kOptions", kOptions, "options", "bus: LimitsExceeded", "one call"},
    {"kOptionBytes", kOptionBytes, "bytes", "bus: LimitsExceeded", "name or value of an option"},
    {"kBusMatches", kBusMatches, "matches", "not reached: their number is fixed",
     "the bus gives one client 512"},
    {"kBusMessages", kBusMessages, "messages", "the rest has the next turn",
     "one turn of the daemon's loop; all of them asking the bus about their sender stay below "
     "WatchdogSec=180"},
    {"kUnitQuestions", kUnitQuestions, "calls", "the next one waits",
     "calls to systemd under way; the bus bounds the replies a client awaits"},
    {"kLeavingClients", kLeavingClients, "clients", "bus: LimitsExceeded",
     "clients with a look of theirs under way or waiting"},
    {"kQuestions", kQuestions, "questions", "bus: LimitsExceeded",
     "callers whose authorisation is being checked"},
    {"kQuestionsOfUser", kQuestionsOfUser, "questions", "bus: LimitsExceeded", "the same, of one user"},
    {"kOthersKnown", kOthersKnown, "connections", "they are asked about again",
     "connections known not to be root's; a bus has at most 2,048 (dbus-daemon(1), "
     "max_completed_connections)"},
    {"kBusCall", kBusCall.count(), "seconds", "the call fails; the bus is tried again later",
     "synchronous calls of the daemon, at connecting only; far below WatchdogSec=180"},
    {"kLooks", kLooks, "jobs", "the next one waits", "looks at once"},
    {"kLooksOfUser", kLooksOfUser, "jobs", "the next one waits", "of them, of one user but root"},
    {"kRootLooks", kRootLooks, "jobs", "the next one waits",
     "a slot beside them that only root's looks take"},
    {"kQueue", kQueue, "jobs", "bus: LimitsExceeded",
     "waiting looks of all users; likewise changes; root has as many of its own"},
    {"kQueueOfUser", kQueueOfUser, "jobs", "bus: LimitsExceeded", "of them, of one user"},
    {"kResults", kResults, "results", "the oldest goes", "results of changes kept for Result"},
    {"kResultBytes", kResultBytes, "bytes", "the oldest goes", "all of them together, but for the newest"},
    {"kLookCpu", kLookCpu.count(), "seconds", "the look is killed: error, exit 1",
     "processor time of a look"},
    {"kLookTime", kLookTime.count(), "seconds", "the look is killed: error, exit 1",
     "a look from its start to its end; a device that hangs blocks no others"},
    {"kChangeCpu", kChangeCpu.count(), "seconds", "the worker is killed; its journal is recovered",
     "processor time of a change"},
    {"kChangeTime", kChangeTime.count(), "seconds", "cancelled: its changes are undone",
     "a change from its start; rebuilding an initramfs may take 900"},
    {"kUndoTime", kUndoTime.count(), "seconds", "the worker is killed; its journal is recovered",
     "undoing what a cancelled change did"},
    {"kParseCpu", kParseCpu.count(), "seconds", "error, exit 1",
     "processor time of the sandbox for a document from the bus"},
    {"kLookMemory", kLookMemory, "bytes", "the look ends: error, exit 1", "address space of a look"},
    {"kParseMemory", kParseMemory, "bytes", "error, exit 1", "address space of the sandbox"},
    {"kLookDescriptors", kLookDescriptors, "descriptors", "the look fails: error, exit 1",
     "descriptors of a look"},
    {"kDescriptors", kDescriptors, "descriptors", "what cannot be listened to is reported",
     "of the daemon: one for each interface, two for each verbs device"},
    {"kGenerations", kGenerations, "generations", "the oldest goes",
     "what history shows and rollback reaches"},
    {"kRecordBytes", kRecordBytes, "bytes", "apply: error, exit 1; read: set aside as damaged",
     "one file in /var/lib/rdma-configd itself; a journal has all changes and the state before them"},
    {"kCounterSeries", kCounterSeries, "counters", "the growth of the rest is not known",
     "counters of ports whose growth is watched; one file of at most 2 MiB in /run"},
    {"kCounterReadings", kCounterReadings, "readings", "a reading from the middle is dropped",
     "readings kept per counter"},
    {"kMountOptions", kMountOptions, "options", "validate: error, exit 1",
     "per [[nfs_mount]]; nfs(5) lists about 60"},
    {"kMountOptionBytes", kMountOptionBytes, "bytes", "validate: error, exit 1", "one of them"},
    {"kSrpOptionBytes", kSrpOptionBytes, "bytes", "validate: error, exit 1",
     "options of a [[srp_rule]] as a login has them; srp_daemon leaves targets out whose login is over 254"},
    {"kOpensmConfs", kOpensmConfs, "files", "validate: error, exit 1",
     "[[opensm]] entries with options or files of their own"},
    {"kOpensmConfOptions", kOpensmConfOptions, "options", "validate: error, exit 1",
     "options in one of these files, with those of all; OpenSM has 160"},
    {"kImportFiles", kImportFiles, "files", "import: the rest is reported as not understood",
     "files of one format in one folder"},
    {"kImportLines", kImportLines, "lines", "import: the file is reported as not understood",
     "one file; the search for repetitions is quadratic"},
    {"kImportEntries", kImportEntries, "entries", "import: the rest is reported as not understood",
     "entries that are made of all files; a file of the document has at most 1 MiB"},
    {"kMetricReasons", kMetricReasons, "series", "the rest is counted as \"other\"",
     "reasons in metrics; each is a time series for every host"},
    {"kMetricText", kMetricText, "bytes", "cut", "one reason in metrics"},
    {"kServiceMemory", kServiceMemory, "bytes", "the kernel kills a worker",
     "MemoryMax= of the service: three looks and a change"},
    {"kServiceTasks", kServiceTasks, "tasks", "fork fails: the job is an error", "TasksMax= of the service"},
});

}  // namespace rdmacfg::model::limits
