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
inline constexpr std::size_t kBusMatches = 9;
inline constexpr std::size_t kBusMessages = 32;
inline constexpr std::size_t kUnitQuestions = 16;
inline constexpr std::size_t kLeavingClients = 64;
inline constexpr std::size_t kQuestions = 64;
inline constexpr std::size_t kQuestionsOfUser = 4;
inline constexpr std::size_t kOthersKnown = 4096;
inline constexpr std::size_t kPropertyBytes = 256 * kKiB;
inline constexpr std::chrono::seconds kBusCall{3};

// Jobs.
inline constexpr std::size_t kLooks = 2;
inline constexpr std::size_t kLooksOfUser = 1;
inline constexpr std::size_t kRootLooks = 1;
inline constexpr std::size_t kStuckLooks = 8;
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
inline constexpr std::size_t kUserMountBytes = 16 * kMiB;

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
     "all files of a document together; escaped, they must fit into a generation's record (4 MiB)"},
    {"kDocumentFiles", kDocumentFiles, "files", "validate: error, exit 1; bus: LimitsExceeded",
     "main file and drop-ins of a document"},
    {"kNesting", kNesting, "levels", "validate: error, exit 1",
     "nested tables and lists; the parser recurses, and the language needs four levels"},
    {"kErrors", kErrors, "errors", "the rest is counted", "errors reported for one document"},
    {"kEntries", kEntries, "entries", "validate: error, exit 1", "sections of a document in total"},
    {"kEntriesOfKind", kEntriesOfKind, "entries", "validate: error, exit 1",
     "sections with the same name; ten times the largest host tested"},
    {"kListItems", kListItems, "items", "validate: error, exit 1",
     "items of one list; a partition may list every port of a large fabric"},
    {"kStringBytes", kStringBytes, "bytes", "validate: error, exit 1",
     "one string; PATH_MAX, and the page that a kernel setting holds"},
    {"kTableBytes", kTableBytes, "bytes", "validate: error, exit 1",
     "one table of host values, or /etc/hosts; a host keeps only its own lines"},
    {"kTableRows", kTableRows, "hosts", "validate: error, exit 1",
     "rows of one table; ten times a large fleet"},
    {"kTableColumns", kTableColumns, "columns", "validate: error, exit 1", "columns of one table"},
    {"kTables", kTables, "tables", "validate: error, exit 1", "tables of one document"},
    {"kFleetHosts", kFleetHosts, "hosts", "fleet: error, exit 1",
     "hosts of one list or folder; ten times a large fleet"},
    {"kFleetFileBytes", kFleetFileBytes, "bytes", "fleet: error for that file, exit 1",
     "one host's JSON, a host list or a grouping; rdma-configctl writes no larger report"},
    {"kReportBytes", kReportBytes, "bytes", "query: error, exit 1; apply: a report without resources",
     "the report of one job; a D-Bus message (32 MiB) holds three times as much"},
    {"kSummaryBytes", kSummaryBytes, "bytes", "the job counts as lost",
     "a worker's summary, which the main process parses"},
    {"kSummaryText", kSummaryText, "bytes", "cut", "one string of that summary"},
    {"kPlanChanges", kPlanChanges, "changes", "diff, apply: error, exit 1",
     "changes of one plan; the journal holds the whole plan before the first change"},
    {"kParsedBytes", kParsedBytes, "bytes", "error, exit 1",
     "a parsed document on its way out of the sandbox"},
    {"kOptions", kOptions, "options", "bus: LimitsExceeded", "options of one call"},
    {"kOptionBytes", kOptionBytes, "bytes", "bus: LimitsExceeded", "name or value of an option"},
    {"kBusMatches", kBusMatches, "matches", "cannot happen: the number is fixed",
     "match rules of the daemon; the bus allows a client 512"},
    {"kBusMessages", kBusMessages, "messages", "the rest waits for the next turn",
     "messages per turn of the daemon's loop; the turn stays below WatchdogSec=180 even if each of them "
     "makes the daemon ask the bus about its sender"},
    {"kUnitQuestions", kUnitQuestions, "calls", "the next call waits",
     "pending calls to systemd; the bus limits the replies that a client may wait for"},
    {"kLeavingClients", kLeavingClients, "clients", "bus: LimitsExceeded",
     "clients whose queries are running or queued"},
    {"kQuestions", kQuestions, "questions", "bus: LimitsExceeded",
     "callers whose authorization is being checked"},
    {"kQuestionsOfUser", kQuestionsOfUser, "questions", "bus: LimitsExceeded", "the same, per user"},
    {"kOthersKnown", kOthersKnown, "connections", "the daemon asks the bus about them again",
     "connections known not to be root's; a bus has at most 2,048 (dbus-daemon(1), "
     "max_completed_connections)"},
    {"kPropertyBytes", kPropertyBytes, "bytes", "the rest is counted",
     "a list among the properties, which everybody on the bus may read"},
    {"kBusCall", kBusCall.count(), "seconds", "the call fails; the daemon retries later",
     "synchronous calls of the daemon, made only when it connects; far below WatchdogSec=180"},
    {"kLooks", kLooks, "jobs", "the next query waits", "concurrent queries"},
    {"kLooksOfUser", kLooksOfUser, "job", "the next query waits",
     "concurrent queries per user; root has no such limit"},
    {"kRootLooks", kRootLooks, "job", "the next query waits", "an extra slot, reserved for root's queries"},
    {"kStuckLooks", kStuckLooks, "jobs", "the next query waits; users' queries already wait at half",
     "killed queries whose process has not ended, since a device or server does not answer"},
    {"kQueue", kQueue, "jobs", "bus: LimitsExceeded",
     "queued queries of all users, and as many queued changes; root has a queue of the same size"},
    {"kQueueOfUser", kQueueOfUser, "jobs", "bus: LimitsExceeded", "queued jobs per user"},
    {"kResults", kResults, "results", "the oldest of the user with the most is dropped",
     "results of changes kept for Result"},
    {"kResultBytes", kResultBytes, "bytes", "the oldest of the user with the most is dropped",
     "these results in total, except the newest"},
    {"kLookCpu", kLookCpu.count(), "seconds", "the query is killed: error, exit 1", "CPU time of a query"},
    {"kLookTime", kLookTime.count(), "seconds", "the query is killed: error, exit 1",
     "duration of a query; a device that hangs does not block other queries"},
    {"kChangeCpu", kChangeCpu.count(), "seconds", "the worker is killed; its journal is recovered",
     "CPU time of a change"},
    {"kChangeTime", kChangeTime.count(), "seconds", "cancelled: its changes are undone",
     "duration of a change; rebuilding an initramfs may take 900 s"},
    {"kUndoTime", kUndoTime.count(), "seconds", "the worker is killed; its journal is recovered",
     "undoing a cancelled change"},
    {"kParseCpu", kParseCpu.count(), "seconds", "error, exit 1",
     "CPU time of the sandbox for a document from the bus"},
    {"kLookMemory", kLookMemory, "bytes", "the query ends: error, exit 1", "address space of a query"},
    {"kParseMemory", kParseMemory, "bytes", "error, exit 1", "address space of the sandbox"},
    {"kLookDescriptors", kLookDescriptors, "descriptors", "the query fails: error, exit 1",
     "file descriptors of a query"},
    {"kDescriptors", kDescriptors, "descriptors", "the daemon reports which devices it cannot watch",
     "file descriptors of the daemon: one per interface, two per verbs device"},
    {"kGenerations", kGenerations, "generations", "the oldest is dropped",
     "generations that history shows and rollback can restore"},
    {"kRecordBytes", kRecordBytes, "bytes", "apply: error, exit 1; read: set aside as damaged",
     "one file directly in /var/lib/rdma-configd or /run/rdma-configd, or the kernel's table of mounts; a "
     "journal contains all changes and the state before them"},
    {"kCounterSeries", kCounterSeries, "counters", "the growth of the rest is unknown",
     "port counters whose growth is watched; one file of at most 2 MiB in /run"},
    {"kCounterReadings", kCounterReadings, "readings", "a reading from the middle is dropped",
     "readings kept per counter"},
    {"kMountOptions", kMountOptions, "options", "validate: error, exit 1",
     "options per [[nfs_mount]]; nfs(5) lists about 60"},
    {"kMountOptionBytes", kMountOptionBytes, "bytes", "validate: error, exit 1", "one mount option"},
    {"kUserMountBytes", kUserMountBytes, "bytes",
     "the rest is not read; a driver or disk in use still refuses removal",
     "mount tables of users' namespaces, searched for disks that are to be removed"},
    {"kSrpOptionBytes", kSrpOptionBytes, "bytes", "validate: error, exit 1",
     "login options of a [[srp_rule]]; srp_daemon skips targets whose login string exceeds 254 bytes"},
    {"kOpensmConfs", kOpensmConfs, "files", "validate: error, exit 1",
     "[[opensm]] entries with their own options or files"},
    {"kOpensmConfOptions", kOpensmConfOptions, "options", "validate: error, exit 1",
     "options of one such entry, including those of all subnet managers; OpenSM has 160"},
    {"kImportFiles", kImportFiles, "files", "import: the rest is reported as not understood",
     "files of one format in one folder"},
    {"kImportLines", kImportLines, "lines", "import: the file is reported as not understood",
     "one file; the search for repeated lines is quadratic"},
    {"kImportEntries", kImportEntries, "entries", "import: the rest is reported as not understood",
     "entries made from all files; a file of the document holds at most 1 MiB"},
    {"kMetricReasons", kMetricReasons, "series", "the rest is counted as \"other\"",
     "reasons in metrics; each is one time series per host"},
    {"kMetricText", kMetricText, "bytes", "cut", "one reason in metrics"},
    {"kServiceMemory", kServiceMemory, "bytes", "the kernel kills a worker",
     "MemoryMax= of the service: three queries and a change"},
    {"kServiceTasks", kServiceTasks, "tasks", "fork fails: the job ends with an error",
     "TasksMax= of the service"},
});

}  // namespace rdmacfg::model::limits
