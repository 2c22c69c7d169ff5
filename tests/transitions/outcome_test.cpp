#include "base/utf8.hpp"
#include "transitions/call.hpp"
#include "transitions/contract.hpp"
#include "transitions/streams.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

// What a job printed, on its way to a result: nothing is left out without a word.

namespace {

using base::Json;
using transitions::OutcomeContext;
using Kind = engine::Outcome::Kind;

jobs::Output inline_output(std::string text) {
    jobs::Output output;
    output.bytes_total = output.bytes_kept = text.size();
    output.text = std::move(text);
    return output;
}

/// As an executor tells of `text` under a cap.
jobs::Output capped(const std::string& text, std::size_t cap) {
    if (text.size() <= cap) return inline_output(text);
    const auto tail = cap / 2;
    jobs::Output output;
    output.bytes_total = text.size();
    output.bytes_kept = cap;
    output.bytes_head = cap - tail;
    output.text = text.substr(0, cap - tail) + text.substr(text.size() - tail);
    return output;
}

jobs::Output uploaded(const std::string& bytes) {
    jobs::Output output;
    output.bytes_total = output.bytes_kept = bytes.size();
    output.sha256 = base::sha256(bytes);
    output.text = base::preview_head(bytes, jobs::output_preview_bytes);
    output.tail = base::preview_tail(bytes, jobs::output_preview_bytes);
    return output;
}

jobs::Outcome done(jobs::Output standard_output) {
    jobs::Outcome outcome;
    outcome.exit_code = 0;
    outcome.standard_output = std::move(standard_output);
    outcome.usage = {120, 80, 5'000'000, 4};
    outcome.sandbox.backend = "bwrap";
    return outcome;
}

OutcomeContext context(std::string_view reply = transitions::call_reply) {
    OutcomeContext context;
    context.attempt = {{7}, 1};
    context.reply = reply;
    return context;
}

Json result_of(const engine::Outcome& outcome) {
    CHECK(outcome.kind == Kind::returned);
    return *base::parse_json(outcome.result);
}

std::string urn(std::string_view bytes) {
    return base::blob_urn(base::sha256(bytes));
}

/// Sizes on both sides of every boundary between them.
std::vector<std::size_t> sizes_around(std::initializer_list<std::size_t> boundaries) {
    std::vector<std::size_t> sizes{0, 1, 2, 100};
    for (const auto boundary : boundaries) {
        for (std::size_t size = boundary - std::min<std::size_t>(boundary, 3); size <= boundary + 3;
             ++size)
            sizes.push_back(size);
    }
    return sizes;
}

std::string repeated(std::string_view piece, std::size_t bytes) {
    std::string text;
    while (text.size() + piece.size() <= bytes)
        text += piece;
    return text;
}

jobs::Outcome ended(jobs::OutcomeClass outcome_class, base::ErrorCode code) {
    jobs::Outcome made;
    made.outcome_class = outcome_class;
    made.error = jobs::OutcomeError{code, "why"};
    return made;
}

}  // namespace

TEST_CASE("an answer of any size becomes a result that fits a token, or names all its bytes") {
    // Pieces that render in one byte, in two, in six, and characters.
    for (const std::string_view piece : {"x", "\n", "\x01", "\u20ac", "\"a"}) {
        for (const auto size : sizes_around(
                 {transitions::result_bytes_max / 6,
                  transitions::result_bytes_max / 2,
                  transitions::result_bytes_max,
                  engine::token_bytes_max - 11,
                  jobs::output_inline_bytes_max}
             )) {
            const auto text = repeated(piece, size);
            CAPTURE(piece);
            CAPTURE(size);
            const bool fits_wire = text.size() <= jobs::output_inline_bytes_max;
            const auto outcome = done(fits_wire ? inline_output(text) : uploaded(text));
            const auto made = transitions::to_engine(outcome, context());
            REQUIRE(made.result.size() <= transitions::result_bytes_max);
            const auto result = result_of(made);
            if (result.contains("text")) {
                REQUIRE(result.at("text") == text);
                continue;
            }
            REQUIRE(result.at("size") == text.size());
            REQUIRE(result.at("urn") == urn(text));
            REQUIRE(text.starts_with(result.at("preview").get<std::string>()));
            // Bytes that came inline are named only where they are put.
            REQUIRE((!fits_wire || transitions::to_be_kept(outcome).standard_output));
        }
    }
}

TEST_CASE("a command's streams of any sizes fit together, or name all their bytes") {
    constexpr auto limit = transitions::result_bytes_max;
    for (const auto out_size : {0UZ, 10UZ, limit / 2 - 100, limit / 2 + 100, limit, 131'072UZ}) {
        for (const auto err_size : {0UZ, 10UZ, limit / 2 - 100, limit / 2 + 100, 131'072UZ}) {
            CAPTURE(out_size);
            CAPTURE(err_size);
            auto outcome = done(inline_output(std::string(out_size, 'o')));
            outcome.standard_error = inline_output(std::string(err_size, 'e'));
            const auto made = transitions::to_engine(outcome, context(transitions::command_reply));
            CHECK(made.result.size() <= limit);
            const auto result = result_of(made);
            CHECK(result.at("truncated") == false);
            const auto kept = transitions::to_be_kept(outcome);
            const auto told = [&](const std::string& name, const std::string& text, bool put) {
                if (result.at(name) == text) return;
                CHECK(result.at(name + "Urn") == urn(text));
                CHECK(result.at(name + "Bytes") == text.size());
                CHECK(text.ends_with(result.at(name + "Tail").get<std::string>()));
                CHECK(put);
            };
            told("stdout", outcome.standard_output.text, kept.standard_output);
            told("stderr", outcome.standard_error.text, kept.standard_error);
        }
    }
}

TEST_CASE("an answer that was cut is bad_output, with or without a contract") {
    const auto text = std::string(20'000, 'x');
    for (const std::size_t cap : {0UZ, 1UZ, 2UZ, 5000UZ, 19'999UZ}) {
        CAPTURE(cap);
        const auto outcome = done(capped(text, cap));
        const transitions::Contract none;
        for (const auto* contract : {static_cast<const transitions::Contract*>(nullptr), &none}) {
            auto with = context();
            with.contract = contract;
            const auto made = transitions::to_engine(outcome, with);
            CHECK(made.kind == Kind::error);
            CHECK(made.error.code == base::ErrorCode::bad_output);
            CHECK(made.error.message.contains("20000 bytes, " + std::to_string(cap) + " were"));
            CHECK(made.result.empty());
            const auto details = *base::parse_json(made.details);
            CHECK(details.at("truncated") == true);
            CHECK(details.at("stdoutBytesTotal") == text.size());
            CHECK(details.at("stdoutBytesHead") == cap - cap / 2);
            CHECK(transitions::to_be_kept(outcome).standard_output);
        }
    }
    const auto whole = transitions::to_engine(done(capped(text, text.size())), context());
    CHECK(result_of(whole).at("text") == text);
}

TEST_CASE("an answer that may be cut is marked, its two ends apart") {
    transitions::Contract contract;
    contract.allow_truncated = true;
    auto with = context();
    with.contract = &contract;
    std::string text;
    for (int i = 0; i < 2000; ++i)
        text += "\u20ac" + std::to_string(i);
    for (std::size_t cap = 5000; cap < 5012; ++cap) {
        const auto output = capped(text, cap);
        const auto result = result_of(transitions::to_engine(done(output), with));
        CHECK(result.at("truncated") == true);
        CHECK(result.at("bytesTotal") == text.size());
        CHECK(result.at("size") == cap);
        CHECK(result.at("bytesHead") == output.bytes_head);
        CHECK(result.at("urn") == urn(output.text));
        // No character was cut: what is shown is what was printed.
        CHECK(text.starts_with(result.at("preview").get<std::string>()));
        CHECK(text.ends_with(result.at("tail").get<std::string>()));
    }
    const auto whole = transitions::to_engine(done(inline_output("short")), with);
    CHECK(result_of(whole) == Json{{"text", "short"}});
}

TEST_CASE("where bytes were replaced, the exact ones are kept and named") {
    const std::string bytes = "caf\xE9 \xff";
    const auto outcome = done(inline_output(bytes));
    CHECK(transitions::to_be_kept(outcome).standard_output);
    const auto call = result_of(transitions::to_engine(outcome, context()));
    CHECK(call.at("text") == "caf\uFFFD \uFFFD");
    CHECK(call.at("replaced") == true);
    CHECK(call.at("urn") == urn(bytes));
    const auto command =
        result_of(transitions::to_engine(outcome, context(transitions::command_reply)));
    CHECK(command.at("stdout") == "caf\uFFFD \uFFFD");
    CHECK(command.at("stdoutReplaced") == true);
    CHECK(command.at("stdoutUrn") == urn(bytes));
    CHECK(command.at("stdoutBytes") == bytes.size());
}

TEST_CASE("a long answer that says that the tool failed is an error as a short one is") {
    const auto failing = Json{
        {"ok", false},
        {"status", "failed"},
        {"data", std::string(200'000, 'd')},
        {"error", {{"message", "no such forum"}}}
    }.dump();
    const auto outcome = done(uploaded(failing));
    auto with = context();
    REQUIRE(transitions::reads_upload(outcome, with));
    with.uploaded = &failing;
    const auto made = transitions::to_engine(outcome, with);
    CHECK(made.kind == Kind::error);
    CHECK(made.error.message == "no such forum");
    CHECK_FALSE(transitions::reads_upload(done(uploaded(std::string(200'000, 'x'))), with));
}

TEST_CASE("every failure of an attempt that ran tells what it used") {
    auto outcome = done(inline_output("half\n"));
    outcome.outcome_class = jobs::OutcomeClass::limit;
    outcome.limits = {jobs::LimitKind::memory};
    outcome.error = {base::ErrorCode::limit, "memoryMb = 64 reached"};
    const auto made = transitions::to_engine(outcome, context());
    CHECK(
        *base::parse_json(made.usage) ==
        Json{
            {"wallMs", 120},
            {"cpuMs", 80},
            {"memoryPeakBytes", 5'000'000},
            {"pidsPeak", 4},
            {"limits", {"memory"}}
        }
    );
    outcome.outcome_class = jobs::OutcomeClass::rejected;
    CHECK(transitions::to_engine(outcome, context()).usage.empty());
}

TEST_CASE("the record of a run holds short streams and names long ones") {
    for (const auto size : sizes_around({transitions::recorded_stream_bytes_max})) {
        const std::string text(size, 'r');
        const auto outcome = done(inline_output(text));
        const auto run = *base::parse_json(transitions::to_engine(outcome, context()).output);
        CAPTURE(size);
        if (run.at("stdout") != text) {
            CHECK(run.at("stdoutUrn") == urn(text));
            CHECK(transitions::to_be_kept(outcome).standard_output);
        }
        CHECK(run.at("stdout").get<std::string>().size() <= transitions::recorded_stream_bytes_max);
        CHECK(run.at("usage").at("cpuMs") == 80);
    }
}

TEST_CASE("an error's message and details leave room for a token around them") {
    jobs::Outcome outcome = done(inline_output(std::string(131'072, '\x01')));
    outcome.standard_error = inline_output(std::string(131'072, '\x02'));
    outcome.outcome_class = jobs::OutcomeClass::job;
    outcome.exit_code.reset();
    outcome.error = {base::ErrorCode::exit_nonzero, std::string(60'000, '\x03')};
    const auto made = transitions::to_engine(outcome, context());
    CHECK(made.details.size() <= transitions::details_bytes_max);
    CHECK(made.error.message.contains("60000 bytes in all"));
    CHECK(
        engine::error_json(made.error, 1, made.details, made.usage).size() <
        transitions::result_bytes_max
    );
}

TEST_CASE("an attempt that its executor stopped for its own reasons is lost, not an error") {
    using jobs::OutcomeClass;
    const transitions::OutcomeContext context{.attempt = {{7}, 1}, .reply = "call"};
    for (const auto outcome_class : {OutcomeClass::interrupted, OutcomeClass::cancelled}) {
        const auto outcome = ended(outcome_class, base::ErrorCode::uncertain);
        const auto made = transitions::to_engine(outcome, context);
        CHECK(made.kind == Kind::lost);
        CHECK_FALSE(made.digest.empty());
    }
    const auto refused = ended(OutcomeClass::rejected, base::ErrorCode::unsupported);
    CHECK(transitions::to_engine(refused, context).kind == Kind::never_started);
    const auto failed = ended(OutcomeClass::job, base::ErrorCode::exit_nonzero);
    CHECK(transitions::to_engine(failed, context).kind == Kind::error);
}
