#pragma once

#include "base/json.hpp"
#include "engine/log.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

enum class AuditFault : std::uint8_t {
    /// The bytes do not hash to the stored hash, or cannot be read.
    tampered,
    /// `prev` is not the hash of the record before, or the anchor names another hash.
    broken_chain,
    /// Not a record: no object, a field missing, unknown or of the wrong kind, another seq, a ts
    /// that
    /// goes back, or one that the fold refuses.
    invalid_record,
    /// The log ends before the head kept apart, or before the anchor.
    missing_tail,
};
std::string_view name(AuditFault fault);

/// The records `first` to `last` are at fault.
struct AuditFinding {
    Seq first = 0;
    Seq last = 0;
    AuditFault fault = AuditFault::tampered;
    std::string message;
};

/// A head that was kept elsewhere, `SEQ:HASH`.
base::Result<LogHead> parse_anchor(std::string_view text);
std::string anchor_text(const LogHead& head);

struct AuditOptions {
    std::optional<LogHead> anchor;
    /// Sees every record that has no fault of its own, in order; what it returns is an
    /// invalid_record. For re-folding the state.
    std::function<std::optional<std::string>(const StoredRecord&, const base::Json&)> visit;
    /// Told from time to time how far the walk is.
    std::function<void(Seq done, Seq of)> progress;
};

struct AuditReport {
    std::string model;
    /// The log's last record, as found.
    LogHead head;
    /// In the order of the log.
    std::vector<AuditFinding> findings;
    /// More faults than `audit_findings_max`: the rest was counted, not listed.
    std::size_t unlisted = 0;

    [[nodiscard]] bool ok() const { return findings.empty(); }
};
inline constexpr std::size_t audit_findings_max = 10'000;

/// Walks the whole chain of a model. Never stops at the first fault. An error is returned only when
/// the log cannot be asked at all. On a running log it checks up to the head at the start.
base::Result<AuditReport> verify(
    EventLog& log, std::string_view model, const AuditOptions& options = {}
);

struct LogAudit {
    std::vector<AuditReport> models;
    /// Damage of the storage that no finding accounts for: every record is whole, but a file is
    /// not.
    std::vector<StorageFault> unexplained;

    [[nodiscard]] bool ok() const;
};
/// Verifies every model and what they are stored in. `options` gives each model's.
base::Result<LogAudit> verify_all(
    EventLog& log, const std::function<AuditOptions(std::string_view model)>& options
);

}  // namespace engine
