#include "engine/audit.hpp"

#include "engine/chain.hpp"
#include "engine/memory_log.hpp"
#include "tests/engine/log_records.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

using engine::AuditFault;
using engine::MemoryLog;
using engine::Seq;
using engine::testing::append_records;

namespace {

/// "4-6 tampered" for each finding.
std::vector<std::string> findings(const engine::AuditReport& report) {
    std::vector<std::string> lines;
    for (const auto& finding : report.findings) {
        std::string line = std::to_string(finding.first);
        if (finding.last != finding.first) line += "-" + std::to_string(finding.last);
        lines.push_back(line + " " + std::string(engine::name(finding.fault)));
    }
    return lines;
}

using Lines = std::vector<std::string>;

/// A log of ten records of model m.
struct Ten {
    MemoryLog log;
    Ten() { append_records(log, "m", log.own("m").value(), 10); }
    [[nodiscard]] std::string bytes(Seq seq) {
        return std::string(log.read("m", seq, {.records_max = 1}).value().records.front().bytes);
    }
    Lines verify(const engine::AuditOptions& options = {}) {
        return findings(engine::verify(log, "m", options).value());
    }
};

/// A model whose third record is `bytes`, chained as if it were one.
Lines with_third_record(const std::function<std::string(std::string)>& change) {
    MemoryLog log;
    append_records(log, "m", log.own("m").value(), 2);
    auto head = log.head("m").value();
    auto batch = engine::chain(engine::testing::records(3, 1, 1), head);
    batch.batch.bytes = change(batch.batch.bytes);
    batch.batch.records[0].size = static_cast<std::uint32_t>(batch.batch.bytes.size());
    // Of what has no `prev` of its own the true one is hashed.
    const auto tail = engine::record_tail(batch.batch.bytes);
    const auto prev = tail ? base::Digest::from_hex(tail->prev).value() : log.head("m")->hash;
    batch.hashes[0] = engine::record_hash(prev, batch.batch.bytes);
    const engine::Append request{
        .model = "m", .epoch = 1, .expected_seq = 2, .batches = {&batch, 1}
    };
    log.append({&request, 1});
    return findings(engine::verify(log, "m").value());
}

}  // namespace

TEST_CASE("an untouched log has no faults") {
    Ten ten;
    const auto report = engine::verify(ten.log, "m").value();
    CHECK(report.ok());
    CHECK(report.head == ten.log.head("m").value());
    CHECK_FALSE(engine::verify(ten.log, "nobody"));
}

TEST_CASE("any byte of a record or of its hash that is changed names that record and no other") {
    Ten ten;
    const std::string whole = ten.bytes(4);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x01);
        ten.log.overwrite("m", 4, damaged);
        const auto found = ten.verify();
        REQUIRE(found == Lines{"4 tampered"});
    }
    ten.log.overwrite("m", 4, whole);
    CHECK(ten.verify().empty());
    for (const Seq seq : {1U, 5U, 10U}) {
        Ten other;
        other.log.overwrite_hash("m", seq, base::sha256("another"));
        auto expected = Lines{std::to_string(seq) + " tampered"};
        CHECK(other.verify() == expected);
    }
}

TEST_CASE("every fault is listed, not only the first") {
    Ten ten;
    ten.log.overwrite("m", 2, "[]");
    ten.log.make_unreadable("m", 4);
    ten.log.make_unreadable("m", 5);
    ten.log.overwrite("m", 7, "");
    ten.log.make_unreadable("m", 10);
    CHECK(ten.verify() == Lines{"2 tampered", "4-5 tampered", "7 tampered", "10 tampered"});
}

TEST_CASE("a record rewritten together with its hash breaks the chain behind it") {
    Ten ten;
    std::string forged = ten.bytes(4);
    forged.replace(forged.find("text of 4"), 9, "text of 9");
    const auto prev = base::Digest::from_hex(engine::record_tail(forged)->prev).value();
    ten.log.overwrite("m", 4, forged);
    ten.log.overwrite_hash("m", 4, engine::record_hash(prev, forged));
    CHECK(ten.verify() == Lines{"5 broken_chain"});
}

TEST_CASE("records that were exchanged are found") {
    Ten ten;
    const auto third = ten.bytes(3);
    const auto fourth = ten.bytes(4);
    ten.log.overwrite("m", 3, fourth);
    ten.log.overwrite("m", 4, third);
    CHECK(ten.verify() == Lines{"3 tampered", "4 tampered"});
}

TEST_CASE("a cut tail is missing") {
    Ten ten;
    ten.log.cut_tail("m", 7);
    CHECK(ten.verify() == Lines{"8-10 missing_tail"});
    ten.log.cut_tail("m", 0);
    CHECK(ten.verify() == Lines{"1-10 missing_tail"});
    const auto owned = ten.log.own("m");
    REQUIRE_FALSE(owned);
    CHECK(owned.error().code == base::ErrorCode::tamper);
}

TEST_CASE("what is chained but is no record is invalid, and never ends the walk") {
    CHECK(with_third_record([](std::string same) { return same; }).empty());
    const auto replaced = [](std::string_view what, std::string_view with) {
        return
            [=](std::string bytes) { return bytes.replace(bytes.find(what), what.size(), with); };
    };
    const std::vector<std::function<std::string(std::string)>> changes{
        [](const std::string&) { return std::string("[1,2]"); },
        [](const std::string&) { return std::string("17"); },
        [](const std::string&) { return std::string(); },
        [](const std::string&) { return std::string("\xff\xfe"); },
        [](const std::string&) { return std::string(5000, '['); },
        [](const std::string& bytes) { return bytes.substr(0, bytes.size() - 1); },
        replaced(R"("v":1)", R"("v":1,"x":1)"),
        replaced(R"("v":1)", R"("v":0)"),
        replaced(R"("actor":"admin",)", ""),
        replaced(R"("actor":"admin")", R"("actor":7)"),
        replaced(R"("data":{)", R"("data":7,"d":{)"),
        replaced(R"("epoch":1)", R"("epoch":"1")"),
        replaced(R"("seq":3)", R"("seq":4)"),
        replaced(R"("ts":3000)", R"("ts":1)"),
        replaced(R"("ts":3000)", R"("ts":1.5)"),
        replaced(R"("type":")", R"("type":"\ud800)"),
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
        CAPTURE(i);
        CHECK(with_third_record(changes[i]) == Lines{"3 invalid_record"});
    }
}

TEST_CASE("an anchor betrays a consistent rewrite and a rollback") {
    Ten ten;
    const auto anchor = ten.log.head("m").value();
    CHECK(ten.verify({.anchor = anchor}).empty());
    MemoryLog rewritten;
    append_records(rewritten, "m", rewritten.own("m").value(), 12, 30);
    CHECK(engine::verify(rewritten, "m").value().ok());
    CHECK(
        findings(engine::verify(rewritten, "m", {.anchor = anchor}).value()) ==
        Lines{"10 broken_chain"}
    );
    MemoryLog rolled_back;
    append_records(rolled_back, "m", rolled_back.own("m").value(), 8);
    CHECK(
        findings(engine::verify(rolled_back, "m", {.anchor = anchor}).value()) ==
        Lines{"9-10 missing_tail"}
    );
}

TEST_CASE("an anchor is written as SEQ:HASH and read back") {
    Ten ten;
    const auto head = ten.log.head("m").value();
    CHECK(engine::parse_anchor(engine::anchor_text(head)).value() == head);
    const std::string hash = head.hash.hex();
    for (const std::string& wrong :
         {std::string(),
          std::string("10"),
          ":" + hash,
          "0:" + hash,
          "x:" + hash,
          "1x:" + hash,
          "10:" + hash.substr(1),
          "-1:" + hash}) {
        CHECK_FALSE(engine::parse_anchor(wrong));
    }
}

TEST_CASE("what re-folds the state sees every good record in order and may refuse one") {
    Ten ten;
    ten.log.overwrite("m", 3, "{}");
    std::vector<Seq> seen;
    const auto found = ten.verify({
        .visit = [&](const engine::StoredRecord& record,
                     const base::Json& json) -> std::optional<std::string> {
            CHECK(json["seq"] == record.seq);
            seen.push_back(record.seq);
            return record.seq == 6 ? std::optional<std::string>("refused") : std::nullopt;
        },
    });
    CHECK(seen == std::vector<Seq>{1, 2, 4, 5, 6, 7, 8, 9, 10});
    CHECK(found == Lines{"3 tampered", "6 invalid_record"});
}

TEST_CASE("more faults than are listed are counted") {
    MemoryLog log;
    const std::size_t count = engine::audit_findings_max + 5;
    append_records(log, "m", log.own("m").value(), count);
    for (Seq seq = 1; seq <= count; ++seq)
        log.overwrite("m", seq, "x");
    const auto report = engine::verify(log, "m").value();
    CHECK(report.findings.size() == engine::audit_findings_max);
    CHECK(report.unlisted == 5);
}

TEST_CASE("all models are verified, each with its own options") {
    MemoryLog log;
    for (const char* const model : {"a", "b", "c"}) {
        append_records(log, model, log.own(model).value(), 3);
    }
    log.overwrite("b", 2, "x");
    const auto audit = engine::verify_all(log, [](std::string_view model) {
                           engine::AuditOptions options;
                           if (model == "c") options.anchor = engine::LogHead{.seq = 5, .hash = {}};
                           return options;
                       }).value();
    CHECK_FALSE(audit.ok());
    REQUIRE(audit.models.size() == 3);
    CHECK(audit.models[0].ok());
    CHECK(findings(audit.models[1]) == Lines{"2 tampered"});
    CHECK(findings(audit.models[2]) == Lines{"4-5 missing_tail"});
}
