#include "engine/chain.hpp"

#include "tests/engine/log_records.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_CASE("the first record's prev is the sha256 of the model's id") {
    CHECK(
        engine::first_prev("default").hex() ==
        "37a8eec1ce19687d132fe29051dca629d164e2c4958ba141d5f4133a33f0688f"
    );
}

TEST_CASE("chaining writes each record's prev into it and hashes prev and record") {
    auto head = engine::empty_head("m");
    const auto chained = engine::chain(engine::testing::records(1, 3, 1), head);
    REQUIRE(chained.hashes.size() == 3);
    std::string_view rest = chained.batch.bytes;
    std::string prev = base::sha256("m").hex();
    for (std::size_t i = 0; i < 3; ++i) {
        const auto record = rest.substr(0, chained.batch.records[i].size);
        rest.remove_prefix(record.size());
        CHECK(record.find("\"prev\":\"" + prev + "\"") != std::string_view::npos);
        const auto hash = base::sha256(prev + std::string(record));
        CHECK(chained.hashes[i] == hash);
        prev = hash.hex();
    }
    CHECK(head == engine::LogHead{.seq = 3, .hash = chained.hashes.back()});
}

TEST_CASE("chaining in pieces gives the same hashes as chaining at once") {
    auto whole = engine::empty_head("m");
    engine::chain(engine::testing::records(1, 10, 1), whole);
    auto pieces = engine::empty_head("m");
    engine::chain(engine::testing::records(1, 4, 1), pieces);
    engine::chain(engine::testing::records(5, 6, 1), pieces);
    CHECK(whole == pieces);
}

TEST_CASE("the tail of a record is read without parsing its data") {
    engine::RecordBatch batch;
    engine::testing::render_record(
        batch, 42, 3, R"(a \",\"prev\":\"x\",\"seq\":9 trap)", base::Timestamp{1234567}
    );
    const auto tail = engine::record_tail(batch.bytes);
    REQUIRE(tail);
    CHECK(tail->seq == 42);
    CHECK(tail->ts.us == 1234567);
    CHECK(tail->type == "tokens.put");
    CHECK(tail->prev == engine::unchained_prev);
}

TEST_CASE("bytes that are no record have no tail") {
    engine::RecordBatch batch = engine::testing::records(1, 1, 1);
    // Cut behind `type`'s last quote it would still be readable.
    const std::size_t needed = batch.bytes.find(R"(,"v":1)");
    for (std::size_t size = 0; size < needed; ++size) {
        CHECK_FALSE(engine::record_tail(std::string_view(batch.bytes).substr(0, size)));
    }
    CHECK_FALSE(engine::record_tail("[1,2,3]"));
    CHECK_FALSE(engine::record_tail(R"(x,"prev":"0","seq":1)"));
}
