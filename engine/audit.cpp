#include "engine/audit.hpp"

#include "base/limits.hpp"
#include "engine/chain.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>

namespace engine {

namespace {

// A record wraps its data a few times.
constexpr base::JsonLimits record_limits{
    .bytes_max = base::limits::stored.bytes_max,
    .depth_max = base::limits::stored.depth_max + 16,
};
constexpr Seq progress_every = 10'000;

bool positive_integer(const base::Json& value) {
    return value.is_number_integer() && value.get<std::int64_t>() > 0;
}

/// Why `record` does not have the shape of a record with this seq; nothing when it has.
std::optional<std::string> misshapen(const base::Json& record, Seq seq) {
    constexpr std::array fields{
        "actor", "cause", "data", "epoch", "prev", "seq", "ts", "type", "v"
    };
    if (!record.is_object()) return "it is not an object";
    for (const char* const field : fields) {
        if (!record.contains(field)) return fmt::format("it has no '{}'", field);
    }
    for (const auto& [key, value] : record.items()) {
        if (std::ranges::find(fields, std::string_view(key)) == fields.end()) {
            return fmt::format("it has an unknown field '{}'", key);
        }
    }
    for (const char* const field : {"actor", "prev", "type"}) {
        if (!record[field].is_string()) return fmt::format("'{}' is not a string", field);
    }
    for (const char* const field : {"epoch", "seq", "v"}) {
        if (!positive_integer(record[field])) {
            return fmt::format("'{}' is not a positive integer", field);
        }
    }
    if (!record["ts"].is_number_integer()) return "'ts' is not an integer";
    if (!record["data"].is_object()) return "'data' is not an object";
    if (record["seq"].get<Seq>() != seq)
        return fmt::format("its 'seq' is {}", record["seq"].dump());
    return std::nullopt;
}

class Walk {
public:
    Walk(EventLog& log, std::string_view model, const AuditOptions& options)
        : log_(log), options_(options), previous_(Link{first_prev(model), first_prev(model)}) {
        report_.model = model;
    }

    AuditReport run() {
        const LogHead kept = head_kept_apart();
        const std::optional<LogHead> head = log_head();
        end_ = head ? head->seq : kept.seq;
        if (head) mark(*head, "the log's own head");
        if (kept.seq > 0) mark(kept, "the head kept apart");
        if (options_.anchor) mark(*options_.anchor, "the anchor");
        for (Seq seq = 1; seq <= end_;)
            seq = walk_page(seq);
        check_end();
        if (options_.progress) options_.progress(end_, end_);
        return std::move(report_);
    }

private:
    /// A record's hash as stored, and as computed: the same unless it was tampered with.
    struct Link {
        base::Digest stored;
        base::Digest computed;
        bool operator==(const base::Digest& hash) const {
            return hash == stored || hash == computed;
        }
    };
    struct Mark {
        LogHead head;
        std::string_view what;
    };

    void add(Seq first, Seq last, AuditFault fault, std::string message) {
        if (report_.findings.size() >= audit_findings_max) {
            ++report_.unlisted;
            return;
        }
        report_.findings.push_back({first, last, fault, std::move(message)});
    }

    LogHead head_kept_apart() {
        auto kept = log_.head_kept_apart(report_.model);
        if (kept) return *kept;
        add(0, 0, AuditFault::tampered, kept.error().message);
        return {};
    }

    std::optional<LogHead> log_head() {
        auto head = log_.head(report_.model);
        if (head) return *head;
        add(0, 0, AuditFault::tampered, head.error().message);
        return std::nullopt;
    }

    void mark(const LogHead& head, std::string_view what) { marks_.push_back({head, what}); }

    void check_end() {
        const auto last =
            std::ranges::max_element(marks_, {}, [](const Mark& each) { return each.head.seq; });
        if (last == marks_.end() || last->head.seq <= end_) return;
        add(end_ + 1,
            last->head.seq,
            AuditFault::missing_tail,
            fmt::format("the log ends with {}, but {} is {}", end_, last->what, last->head.seq));
    }

    /// Checks what can be read from `seq` on and returns where to go on.
    Seq walk_page(Seq seq) {
        const auto page = log_.read(report_.model, seq, {});
        if (!page || page->records.empty()) return skip(seq, page);
        for (const StoredRecord& record : page->records) {
            if (record.seq > end_) break;
            check_record(record);
            if (options_.progress && record.seq % progress_every == 0) {
                options_.progress(record.seq, end_);
            }
        }
        return page->records.back().seq + 1;
    }

    Seq skip(Seq seq, const base::Result<RecordPage>& page) {
        const auto next = log_.next_readable(report_.model, seq);
        // What answers "it can be read" and then does not read is not asked twice.
        const Seq resume = next && *next > seq ? std::min(*next, end_ + 1) : end_ + 1;
        add(seq,
            resume - 1,
            AuditFault::tampered,
            page ? "the records are missing" : page.error().message);
        previous_.reset();
        return resume;
    }

    void check_record(const StoredRecord& record) {
        const auto tail = record_tail(record.bytes);
        const auto prev = tail ? base::Digest::from_hex(tail->prev) : std::nullopt;
        const base::Digest hash_on =
            prev ? *prev : (previous_ ? previous_->stored : base::Digest{});
        const Link link{.stored = record.hash, .computed = record_hash(hash_on, record.bytes)};
        const bool linked = !previous_ || !prev || *previous_ == *prev;
        previous_ = link;
        if (link.stored != link.computed) {
            add(record.seq, record.seq, AuditFault::tampered, "its bytes do not have its hash");
        } else if (!linked) {
            add(record.seq,
                record.seq,
                AuditFault::broken_chain,
                "its 'prev' is not the hash of the record before it");
        } else if (auto why = invalid(record)) {
            add(record.seq, record.seq, AuditFault::invalid_record, std::move(*why));
        }
        check_marks(record.seq, link);
    }

    std::optional<std::string> invalid(const StoredRecord& record) {
        const auto json = base::parse_json(record.bytes, record_limits);
        if (!json) return json.error().message;
        if (auto why = misshapen(*json, record.seq)) return why;
        const base::Timestamp ts{(*json)["ts"].get<std::int64_t>()};
        if (ts < last_ts_) return "its 'ts' is before that of an earlier record";
        last_ts_ = ts;
        return options_.visit ? options_.visit(record, *json) : std::nullopt;
    }

    void check_marks(Seq seq, const Link& link) {
        report_.head = {.seq = seq, .hash = link.stored};
        for (const auto& mark : marks_) {
            if (mark.head.seq != seq || link == mark.head.hash) continue;
            add(seq,
                seq,
                AuditFault::broken_chain,
                fmt::format("its hash is not the one that {} names", mark.what));
        }
    }

    EventLog& log_;
    const AuditOptions& options_;
    AuditReport report_;
    std::vector<Mark> marks_;
    Seq end_ = 0;
    /// Nothing when the record before cannot be read.
    std::optional<Link> previous_;
    base::Timestamp last_ts_;
};

bool accounts_for(const AuditReport& report, const StorageFault& fault) {
    if (!fault.model.empty() && fault.model != report.model) return false;
    return std::ranges::any_of(report.findings, [&](const AuditFinding& finding) {
        return fault.last == 0 || (finding.first <= fault.last && fault.first <= finding.last) ||
               finding.last == 0;
    });
}

}  // namespace

std::string_view name(AuditFault fault) {
    switch (fault) {
        case AuditFault::tampered:
            return "tampered";
        case AuditFault::broken_chain:
            return "broken_chain";
        case AuditFault::invalid_record:
            return "invalid_record";
        case AuditFault::missing_tail:
            return "missing_tail";
    }
    base::check(false, "an audit fault without a name");
    return {};
}

base::Result<LogHead> parse_anchor(std::string_view text) {
    const auto wrong = [&] {
        return base::fail(
            base::ErrorCode::validation,
            fmt::format("'{}' is not an anchor", text),
            "an anchor is SEQ:HASH, as `netwright audit anchor` prints it"
        );
    };
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) return wrong();
    LogHead head;
    const auto [end, error] = std::from_chars(text.data(), text.data() + colon, head.seq);
    const auto hash = base::Digest::from_hex(text.substr(colon + 1));
    if (error != std::errc{} || end != text.data() + colon || head.seq == 0 || !hash)
        return wrong();
    head.hash = *hash;
    return head;
}

std::string anchor_text(const LogHead& head) {
    return fmt::format("{}:{}", head.seq, head.hash.hex());
}

base::Result<AuditReport> verify(
    EventLog& log, std::string_view model, const AuditOptions& options
) {
    const auto models = log.models();
    if (!models) return base::fail(models.error());
    if (std::ranges::find(*models, model) == models->end()) {
        return base::fail(
            base::ErrorCode::not_found, fmt::format("there is no model '{}' in the log", model)
        );
    }
    return Walk(log, model, options).run();
}

bool LogAudit::ok() const {
    return unexplained.empty() && std::ranges::all_of(models, &AuditReport::ok);
}

base::Result<LogAudit> verify_all(
    EventLog& log, const std::function<AuditOptions(std::string_view model)>& options
) {
    const auto models = log.models();
    if (!models) return base::fail(models.error());
    LogAudit audit;
    for (const std::string& model : *models) {
        auto report = verify(log, model, options(model));
        if (!report) return base::fail(report.error());
        audit.models.push_back(std::move(*report));
    }
    auto faults = log.storage_faults();
    if (!faults) return base::fail(faults.error());
    for (StorageFault& fault : *faults) {
        const bool explained = std::ranges::any_of(audit.models, [&](const AuditReport& report) {
            return accounts_for(report, fault);
        });
        if (!explained) audit.unexplained.push_back(std::move(fault));
    }
    return audit;
}

}  // namespace engine
