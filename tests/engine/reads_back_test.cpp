// Whatever is accepted reads back: at and beyond each limit, also after a restart.
#include "base/limits.hpp"
#include "tests/engine/small_net.hpp"

#include <fmt/format.h>

namespace {

namespace limits = base::limits;

std::string nested(std::size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
}

// A text that is `bytes` long as JSON.
std::string text_of(std::size_t bytes) {
    return '"' + std::string(bytes - 2, 'x') + '"';
}

// Puts what a person could put: refused before there is a record, or read back.
base::Result<base::Seq> try_put(TestModel& m, const char* place, std::vector<std::string> data) {
    std::vector<engine::PutToken> tokens;
    for (auto& one : data)
        tokens.push_back({std::move(one), {}});
    return engine::put_tokens(m.model, {"n", place}, std::move(tokens), m.asker());
}

// The one token of the place, as JSON.
base::Json only(const TestModel& m, const char* place) {
    const auto tokens = m.in("n", place);
    REQUIRE(tokens.size() == 1);
    return *base::parse_json(tokens.front(), limits::stored);
}

void dead_letters_read_back(const TestModel& m) {
    for (const auto& letter : m.in("", "p-dead-letter"))
        CHECK(base::parse_json(letter, limits::stored).has_value());
}

// As the log would have it if an older or broken writer had written it.
void replace_in_records(TestModel& m, std::string_view what, std::string_view by) {
    m.keep();
    std::size_t replaced = 0;
    for (auto& record : m.records) {
        for (auto at = record.find(what); at != std::string::npos; at = record.find(what, at)) {
            record.replace(at, what.size(), by);
            at += by.size();
            ++replaced;
        }
    }
    REQUIRE(replaced != 0);
}

std::vector<std::string> in(const engine::Model& model, const char* net, const char* place) {
    std::vector<std::string> data;
    const auto id = model.state().place({net, place});
    REQUIRE(id);
    for (auto slot = model.state().store.first_in(*id); slot != places::no_slot;
         slot = model.state().store.next_in_place(slot)) {
        data.emplace_back(model.state().store.token(slot).data.view());
    }
    return data;
}

}  // namespace

TEST_CASE("a template that wraps data of the full depth is a limit on the fail outputs") {
    TestModel m;
    m.deploy(
        net(R"("bad":{},"late":{})",
            R"("wrap":{"in":{"x":"s"},"out":[{"to":"late","token":{"w":"${x}"},"delay":"5s"}],
                   "fail":{"bad":"${error.code}"}},
           "use":{"in":{"y":"late"},"out":{"o":"${y.w}"}})")
    );
    m.put("n", "s", nested(127));
    m.run();
    CHECK(m.in("n", "bad").empty());
    m.put("n", "s", nested(128));
    m.run();
    CHECK(m.in("n", "bad") == Tokens{R"("limit")"});
    m.now = m.now + base::seconds(6);
    m.run();
    CHECK(m.in("n", "o") == Tokens{nested(127)});
    m.check_fold();
    Reopened later(m);
}

TEST_CASE("read arcs of more bytes than an operation may keep are a limit on the fail outputs") {
    TestModel m;
    m.deploy(
        net(R"("bad":{},"big":{})",
            R"("call":{"in":{"x":"s","all":{"place":"big","arc":"read","take":"all"}},
                   "call":{"toolId":"tool","args":{}},"out":{"o":"${size(all)}"},
                   "fail":{"bad":"${error.code}"}})")
    );
    const std::string big = text_of(limits::token_bytes_max);
    REQUIRE(try_put(m, "big", std::vector<std::string>(127, big)));
    m.put("n", "s", "1");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 1);
    m.check_snapshot();
    answer(m, begun.front());
    CHECK(m.in("n", "o") == Tokens{"127"});
    m.put("n", "big", big);
    m.put("n", "s", "1");
    CHECK(invoke(m).empty());
    CHECK(m.in("n", "bad") == Tokens{R"("limit")"});
    m.check_fold();
    Reopened later(m);
}

TEST_CASE("a child case starts with an input of the full depth, also after a restart") {
    TestModel m;
    m.deploy(R"({"net":"c","version":"1","places":{"in":{},"go":{},"done":{}},
        "transitions":{"t":{"in":{"x":"in","go":"go"},"out":{"done":"${x}"}}},
        "start":"in","end":"done"})");
    m.deploy(net(
        R"("bad":{})", R"("run":{"in":{"x":"s"},"net":{"name":"c"},"out":{"o":"${result[0]}"}})"
    ));
    m.start("n", nested(128));
    m.run();
    CHECK(m.in("c", "in") == Tokens{nested(128)});
    m.check_fold();
    m.check_snapshot();
    Reopened later(m);
    later.model.pump(m.now, 100);
    CHECK(in(later.model, "c", "in").size() == 1);
}

TEST_CASE("an answer of the full depth waits for capacity, and is read back when there is some") {
    TestModel m;
    m.deploy(
        net(R"("p":{"capacity":1},"go":{})",
            R"("call":{"in":{"x":"s"},"call":{"toolId":"tool","args":{}},
                   "out":[{"to":"p","each":"[result]","token":"${each}"}]},
           "eat":{"in":{"x":"p","go":"go"},"out":{"o":"${x}"}})")
    );
    m.put("n", "p", "1");
    m.put("n", "s", "1");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 1);
    engine::settle(
        m.model, {.operation = begun.front(), .result = nested(128), .meta = "{}"}, m.asker()
    );
    m.run();
    REQUIRE(m.model.state().operations.size() == 1);
    m.check_snapshot();
    Reopened later(m);
    REQUIRE(engine::put_tokens(later.model, {"n", "go"}, {{"1", {}}}, m.asker()));
    later.model.pump(m.now, 100);
    CHECK(later.model.state().operations.empty());
    CHECK(in(later.model, "n", "p") == Tokens{nested(128)});
}

TEST_CASE("the tokens of one firing, and of one request, have a limit together") {
    TestModel m;
    m.deploy(
        net(R"("bad":{})",
            R"("many":{"in":{"x":"s"},"out":[{"to":"o","each":"x.n","token":"${x.text}"}],
                   "fail":{"bad":"${error.code}"}})")
    );
    const auto input = [](std::size_t copies) {
        base::Json list = base::Json::array();
        for (std::size_t i = 0; i < copies; ++i)
            list.push_back(0);
        return base::Json{{"n", std::move(list)}, {"text", std::string(100'000, 'x')}}.dump();
    };
    m.put("n", "s", input(335));
    m.put("n", "s", input(336));
    m.run();
    CHECK(m.in("n", "o").size() == 335);
    CHECK(m.in("n", "bad") == Tokens{R"("limit")"});
    const std::string big = text_of(limits::token_bytes_max);
    CHECK(try_put(m, "bad", std::vector<std::string>(256, big)));
    const auto refused = try_put(m, "bad", std::vector<std::string>(257, big));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::ErrorCode::too_large);
    m.check_fold();
}

TEST_CASE("a dead letter quotes what can be read back, names the rest, and says so on a redrive") {
    TestModel m;
    m.deploy(
        net(R"("p":{},"q":{},"go":{})",
            R"("deep":{"in":{"x":"p"},"out":{"o":"${x.none}"}},
           "all":{"in":{"xs":{"place":"q","take":"all"},"go":"go"},"out":{"o":"${1 / 0}"}})")
    );
    m.put("n", "p", nested(128));
    m.run();
    REQUIRE(m.in("", "p-dead-letter").size() == 1);
    dead_letters_read_back(m);
    m.check_fold();
    const std::string big = text_of(limits::token_bytes_max);
    REQUIRE(try_put(m, "q", std::vector<std::string>(256, big)));
    m.put("n", "q", big);
    m.put("n", "go", "1");
    m.run();
    REQUIRE(m.in("", "p-dead-letter").size() == 2);
    dead_letters_read_back(m);
    const auto letter = *base::parse_json(m.in("", "p-dead-letter").back(), limits::stored);
    CHECK(letter.at("tokens").size() == 258);
    CHECK(letter.at("tokens").at(256).at("omittedBytes") == big.size());
    CHECK_FALSE(letter.at("tokens").at(256).contains("data"));
    const auto& store = m.model.state().store;
    auto slot = store.first_in(m.model.state().dead_letter());
    const auto first = store.token(slot).id;
    const auto second = store.token(store.next_in_place(slot)).id;
    CHECK(engine::redrive(m.model, first, m.asker()));
    const auto refused = engine::redrive(m.model, second, m.asker());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::ErrorCode::conflict);
    m.run();
    m.check_fold();
}

TEST_CASE("an error's message is readable text of bounded length in the record") {
    TestModel m;
    m.deploy(
        net(R"("bad":{})",
            R"("call":{"in":{"x":"s"},"call":{"toolId":"tool","args":{}},"out":{"o":"${result}"},
                   "fail":{"bad":"${size(error.message)}"}})")
    );
    m.start("n");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 1);
    engine::settle(
        m.model,
        {.operation = begun.front(),
         .kind = engine::Outcome::Kind::error,
         .error = {base::ErrorCode::upstream, "\xFF cut \xC3" + std::string(1'000'000, 'x'), {}, {}}
        },
        m.asker()
    );
    m.run();
    CHECK(only(m, "bad").get<std::size_t>() < limits::error_message_bytes_max + 100);
    m.check_fold();
    for (const auto& record : m.records)
        CHECK(base::parse_json(record, limits::stored).has_value());
}

TEST_CASE("a stored answer that cannot be read ends its operation with that as the reason") {
    TestModel m;
    m.deploy(
        net(R"("p":{"capacity":1},"go":{},"bad":{})",
            R"("call":{"in":{"x":"s"},"call":{"toolId":"tool","args":{}},
                   "out":[{"to":"p","each":"[result]","token":"${each}"}],
                   "fail":{"bad":"${error.code}"}},
           "eat":{"in":{"x":"p","go":"go"},"out":{"o":"${x}"}})")
    );
    m.put("n", "p", "1");
    m.put("n", "s", "1");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 1);
    engine::settle(
        m.model, {.operation = begun.front(), .result = "12345", .meta = "{}"}, m.asker()
    );
    m.run();
    replace_in_records(m, R"("result":12345)", R"("result":)" + nested(400));
    Reopened later(m);
    REQUIRE(engine::put_tokens(later.model, {"n", "go"}, {{"1", {}}}, m.asker()));
    later.model.pump(m.now, 100);
    CHECK(later.model.state().operations.empty());
    CHECK(in(later.model, "n", "bad") == Tokens{R"("tamper")"});
}

TEST_CASE("stored values of read arcs that cannot be read end their operation with the reason") {
    TestModel m;
    m.deploy(
        net(R"("bad":{},"rate":{})",
            R"("call":{"in":{"x":"s","r":{"place":"rate","arc":"read"}},
                   "call":{"toolId":"tool","args":{}},"out":{"o":"${r}"}})")
    );
    m.put("n", "rate", "12345");
    m.put("n", "s", "1");
    const auto begun = invoke(m);
    REQUIRE(begun.size() == 1);
    replace_in_records(m, R"("values":{"r":12345})", R"("values":{"r":)" + nested(400) + "}");
    Reopened later(m);
    engine::settle(
        later.model, {.operation = begun.front(), .result = "1", .meta = "{}"}, m.asker()
    );
    CHECK(later.model.state().operations.empty());
    const auto letters = in(later.model, "", "p-dead-letter");
    REQUIRE(letters.size() == 1);
    CHECK(letters.front().find(R"("code":"tamper")") != std::string::npos);
}

TEST_CASE("a stored call of a child that cannot be read ends its operation with the reason") {
    TestModel m;
    m.deploy(R"({"net":"c","version":"1","places":{"in":{},"done":{}},
        "transitions":{"t":{"in":{"x":"in"},"out":{"done":"${x}"}}},"start":"in","end":"done"})");
    m.deploy(
        net(R"("bad":{})",
            R"("run":{"in":{"x":"s"},"net":{"name":"c"},"out":{"o":"${result}"},
                  "fail":{"bad":"${error.code}"}})")
    );
    m.start("n", "12345");
    m.keep();
    // The master was killed between the operation's record and the child's.
    m.model.pump(m.now, 1);
    m.keep();
    std::erase_if(m.records, [](const std::string& record) {
        return record.find(R"("net":"c")") != std::string::npos &&
               record.find(R"("type":"case.started")") != std::string::npos;
    });
    while (m.records.back().find(R"("type":"operation.invoking")") == std::string::npos)
        m.records.pop_back();
    replace_in_records(m, R"("call":{"input":12345)", R"("call":{"input":)" + nested(400));
    Reopened later(m);
    later.model.pump(m.now, 100);
    CHECK(later.model.state().operations.empty());
    CHECK(in(later.model, "n", "bad") == Tokens{R"("tamper")"});
}

TEST_CASE("a stored token that cannot be read fails what asks for it, and is shown with the reason"
) {
    TestModel m;
    m.deploy(
        net(R"("p":{},"go":{},"bad":{})",
            R"("t":{"in":{"x":"p","go":"go"},"out":{"o":"${x}!"},"fail":{"bad":"${error.code}"}},
           "all":{"in":{"xs":{"place":"s","take":"all"}},"guard":"size(xs) > 1",
                  "call":{"toolId":"tool","args":"${xs}"},"out":{"o":1}})")
    );
    m.put("n", "p", "12345");
    m.put("n", "s", "12345");
    replace_in_records(m, "12345", nested(400));
    Reopened later(m);
    REQUIRE(engine::put_tokens(later.model, {"n", "go"}, {{"1", {}}}, m.asker()));
    REQUIRE(engine::put_tokens(later.model, {"n", "s"}, {{"1", {}}}, m.asker()));
    later.model.pump(m.now, 100);
    CHECK(in(later.model, "n", "o").empty());
    const auto letters = in(later.model, "", "p-dead-letter");
    REQUIRE(letters.size() == 2);
    for (const auto& letter : letters) {
        CHECK(letter.find(R"("code":"tamper")") != std::string::npos);
        CHECK(base::parse_json(letter, limits::stored).has_value());
        CHECK(letter.find(R"("omittedBytes":800)") != std::string::npos);
    }
}

TEST_CASE("an agent's result, its message and a reason have limits that are told at once") {
    TestModel m;
    m.deploy(
        net(R"("bad":{})",
            R"("ask":{"in":{"x":"s"},"agent":{"skill":"a"},"out":{"o":"${type(result) == string}"},
                  "fail":{"bad":"${error.code}"}})")
    );
    m.start("n", nested(128));
    m.start("n");
    m.run();
    const auto claim = [&] {
        const auto hold = engine::claim_work(m.model, {.agent = "ada"}, m.asker());
        REQUIRE(hold);
        return *hold;
    };
    const auto too_large = [](const base::Result<base::Seq>& done) {
        return !done && done.error().code == base::ErrorCode::too_large;
    };
    const auto hold = claim();
    const std::string whole = text_of(limits::rendered_bytes_max);
    CHECK(too_large(engine::finish_work(m.model, hold, {.result = whole + " "}, m.asker())));
    const base::Error error{base::ErrorCode::upstream, std::string(70'000, 'x'), {}, {}};
    CHECK(too_large(engine::finish_work(m.model, hold, {.error = error}, m.asker())));
    CHECK(too_large(engine::release_work(m.model, hold, std::string(5'000, 'x'), m.asker())));
    CHECK(engine::finish_work(m.model, hold, {.result = whole}, m.asker()));
    CHECK(engine::finish_work(m.model, claim(), {.result = nested(128)}, m.asker()));
    m.run();
    CHECK(m.in("n", "o").size() == 2);
    m.check_fold();
}
