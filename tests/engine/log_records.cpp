#include "tests/engine/log_records.hpp"

#include <fmt/format.h>

namespace engine::testing {

void render_record(
    RecordBatch& batch, Seq seq, Epoch epoch, std::string_view text, base::Timestamp ts
) {
    const std::size_t start = batch.bytes.size();
    fmt::format_to(
        std::back_inserter(batch.bytes),
        R"({{"actor":"admin","cause":"test","data":{{"text":"{}"}},"epoch":{},"prev":")",
        text,
        epoch
    );
    const auto prev_offset = static_cast<std::uint32_t>(batch.bytes.size() - start);
    fmt::format_to(
        std::back_inserter(batch.bytes),
        R"({}","seq":{},"ts":{},"type":"tokens.put","v":1}})",
        unchained_prev,
        seq,
        ts.us
    );
    batch.records.push_back(
        {.seq = seq,
         .ts = ts,
         .prev_offset = prev_offset,
         .size = static_cast<std::uint32_t>(batch.bytes.size() - start)}
    );
}

RecordBatch records(Seq first, std::size_t count, Epoch epoch, std::size_t text_bytes) {
    RecordBatch batch;
    for (std::size_t i = 0; i < count; ++i) {
        const Seq seq = first + i;
        std::string text = fmt::format("text of {} ", seq);
        // Not the same byte over and over: damage must not be hidden by compression.
        while (text.size() < text_bytes)
            text += fmt::format("{} ", (seq * 31 + text.size()) * 7919);
        render_record(
            batch, seq, epoch, text, base::Timestamp{static_cast<std::int64_t>(seq) * 1000}
        );
    }
    return batch;
}

AppendOutcome append_records(
    EventLog& log, std::string_view model, Epoch epoch, std::size_t count, std::size_t text_bytes
) {
    const auto head = log.head(model);
    if (!head) return {AppendStatus::unknown, 0, head.error().message};
    LogHead end = *head;
    const ChainedBatch batch = chain(records(head->seq + 1, count, epoch, text_bytes), end);
    const Append request{
        .model = model, .epoch = epoch, .expected_seq = head->seq, .batches = {&batch, 1}
    };
    return log.append({&request, 1}).front();
}

std::vector<std::string> all_records(EventLog& log, std::string_view model, Seq from) {
    std::vector<std::string> found;
    for (;;) {
        const auto page = log.read(model, from + found.size(), {.records_max = 1000});
        if (!page || page->records.empty()) return found;
        for (const StoredRecord& record : page->records)
            found.emplace_back(record.bytes);
    }
}

bool chained_up_to(EventLog& log, std::string_view model, Seq last) {
    LogHead head = empty_head(model);
    while (head.seq < last) {
        const auto page = log.read(model, head.seq + 1, {});
        if (!page || page->records.empty()) return false;
        for (const StoredRecord& record : page->records) {
            if (record.seq != head.seq + 1) return false;
            if (record.hash != record_hash(head.hash, record.bytes)) return false;
            head = {.seq = record.seq, .hash = record.hash};
        }
    }
    return true;
}

std::string told(const LogAudit& audit) {
    std::string text;
    for (const auto& report : audit.models) {
        for (const auto& finding : report.findings) {
            text += fmt::format(
                "{} {}-{} {}; ", report.model, finding.first, finding.last, name(finding.fault)
            );
        }
    }
    for (const auto& fault : audit.unexplained)
        text += "storage: " + fault.message + "; ";
    return text;
}

}  // namespace engine::testing
