#include "tests/cli/lab.hpp"

#include <doctest/doctest.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

using tests::cli::Json;
using tests::cli::Lab;

namespace {

/// When `weigh` fails, its other half waits for ever.
Json half_a_join() {
    return *base::parse_json(R"({
      "net": "half-a-join", "version": "1.0.0",
      "places": {"inbox": {}, "heavy": {}, "long": {}, "weighed": {}, "measured": {}, "done": {},
                 "failed": {}},
      "transitions": {
        "split": {"in": {"x": "inbox"}, "out": {"heavy": "${x}", "long": "${x}"}},
        "weigh": {"in": {"x": "heavy"}, "call": {"toolId": "weigh"}, "out": {"weighed": "${result}"},
                  "fail": {"failed": "${x}"}},
        "measure": {"in": {"x": "long"}, "out": {"measured": "${x}"}},
        "join": {"in": {"a": "weighed", "b": "measured"}, "out": {"done": "${a}"}}},
      "start": "inbox", "end": ["done", "failed"]})");
}

constexpr std::string_view ring =
    R"(<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
  <net id="ring" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
  <place id="a"><initialMarking><text>1</text></initialMarking></place><place id="b"/>
  <transition id="t"/><transition id="u"/>
  <arc id="1" source="a" target="t"/><arc id="2" source="t" target="b"/>
  <arc id="3" source="b" target="u"/><arc id="4" source="u" target="a"/>
  </page></net></pnml>)";

}  // namespace

TEST_CASE("net check ends with 1 and the way into the trouble where a case can get stuck") {
    Lab lab;
    const auto file = lab.write("net.json", half_a_join().dump());
    const auto said = lab.run({"net", "check", file});
    CHECK(said.exit == 1);
    CHECK(said.out.contains("fire: split, measure, weigh (fail: failed)"));
    const auto json = lab.run({"net", "check", file, "--json"});
    CHECK(json.exit == 1);
    const auto report = *base::parse_json(json.out);
    CHECK(report.at("ok") == false);
    CHECK(report.at("bounded") == true);
    CHECK(report.at("findings")[0].at("code") == "stuck");
    CHECK(report.at("findings")[0].at("trace").at("certain") == true);
}

TEST_CASE("net check reads PNML from a file and from stdin, and keeps its limits") {
    Lab lab;
    const auto file = lab.write("ring.pnml", ring);
    const auto report = lab.json({"net", "check", "--pnml", file});
    CHECK(report.at("states") == 2);
    CHECK(report.at("live") == true);
    CHECK(lab.run({"net", "check", "-", "--pnml"}, ring).exit == 0);
    const auto limited = lab.json({"net", "check", "--pnml", file, "--max-states", "1"});
    CHECK(limited.at("stopped") == "states");
    CHECK_FALSE(limited.contains("states"));
    CHECK_FALSE(limited.contains("edges"));
    for (const std::vector<std::string>& limits : std::vector<std::vector<std::string>>{
             {"--max-states", "0"}, {"--time", "0s"}, {"--max-memory", "0"}
         }) {
        auto arguments = std::vector<std::string>{"net", "check", "--pnml", file};
        arguments.insert(arguments.end(), limits.begin(), limits.end());
        CHECK_MESSAGE(lab.run(arguments).exit == 0, limits[0]);
    }
    CHECK(lab.run({"net", "check", "--pnml", file, "--time", "soon"}).exit == 2);
    CHECK(lab.run({"net", "check", "--pnml", file, "--max-states", "-1"}).exit == 2);
    CHECK(lab.run({"net", "check", "--pnml", lab.write("no.pnml", "<pnml>")}).exit == 1);
}

TEST_CASE("a net document that is written as PNML is the same net when it is read back") {
    Lab lab;
    const auto written = lab.run({"net", "pnml", "-"}, half_a_join().dump());
    REQUIRE(written.exit == 0);
    const auto report = lab.json({"net", "check", "--pnml", "-"}, written.out);
    const auto document =
        *base::parse_json(lab.run({"net", "check", "-", "--json"}, half_a_join().dump()).out);
    CHECK(report.at("states") == document.at("states"));
    CHECK(report.at("edges") == document.at("edges"));
}

TEST_CASE("a net with errors is deployed only when forced, and the log tells that and who") {
    Lab lab;
    lab.start_master();
    const auto refused = lab.run({"net", "deploy", "-"}, half_a_join().dump());
    CHECK(refused.exit == 3);
    CHECK(refused.err.contains("stuck"));
    CHECK(refused.err.contains("weigh (fail: failed)"));
    CHECK(refused.err.contains("--force"));
    CHECK(lab.json({"net", "list"}).at("items").empty());

    const auto forced = lab.run({"net", "deploy", "-", "--force"}, half_a_join().dump());
    CHECK_MESSAGE(forced.exit == 0, forced.err);
    CHECK(forced.out.contains("stuck"));
    const auto log = lab.events();
    const auto& record = log.back();
    CHECK(record.at("type") == "net.deployed");
    CHECK(record.at("data").at("info").at("forced") == true);
    CHECK(record.at("actor") == "admin");
}

TEST_CASE("forcing what has no errors leaves no mark in the log") {
    Lab lab;
    lab.start_master();
    auto net = half_a_join();
    net["transitions"]["weigh"].erase("fail");
    CHECK(lab.run({"net", "deploy", "-", "--force"}, net.dump()).exit == 0);
    CHECK_FALSE(lab.events().back().at("data").at("info").contains("forced"));
}

namespace {

/// So many places that each hold a token or not, one for itself: two to the power of that states.
std::string switches(int count) {
    std::string text =
        R"(<pnml xmlns="http://www.pnml.org/version-2009/grammar/pnml">
  <net id="switches" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">)";
    const std::string one =
        R"(<place id="aN"><initialMarking><text>1</text></initialMarking></place><place id="bN"/>
  <transition id="tN"/><transition id="uN"/>
  <arc id="1N" source="aN" target="tN"/><arc id="2N" source="tN" target="bN"/>
  <arc id="3N" source="bN" target="uN"/><arc id="4N" source="uN" target="aN"/>)";
    for (int n = 0; n < count; ++n) {
        for (const char c : one)
            text += c == 'N' ? std::to_string(n) : std::string(1, c);
    }
    return text + "</page></net></pnml>";
}

}  // namespace

TEST_CASE("a long net check shows how far it is and ends at once when it is interrupted") {
    Lab lab;
    const auto file = lab.write("switches.pnml", switches(40));
    // Progress is shown on a terminal only.
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
    REQUIRE(terminal >= 0);
    REQUIRE(::grantpt(terminal) == 0);
    REQUIRE(::unlockpt(terminal) == 0);
    std::array<char, 128> name{};
    REQUIRE(::ptsname_r(terminal, name.data(), name.size()) == 0);
    tests::cli::Process check(
        {.arguments =
             {"net", "check", "--pnml", file, "--max-states", "4000000000", "--max-memory", "1000"},
         .environment = {},
         .out = lab.path("out"),
         .err = name.data()}
    );
    std::string shown;
    tests::cli::await("progress on the terminal", [&] {
        std::array<char, 4096> more{};
        const auto read = ::read(terminal, more.data(), more.size());
        if (read > 0) shown.append(more.data(), static_cast<std::size_t>(read));
        return shown.contains("states (states)");
    });
    CHECK(check.running());
    check.send(SIGINT);
    CHECK(check.wait() == 128 + SIGINT);
    ::close(terminal);
}

TEST_CASE("a net check whose time is over answers with what it knows") {
    Lab lab;
    const auto file = lab.write("switches.pnml", switches(40));
    const auto report =
        lab.json({"net", "check", "--pnml", file, "--time", "300ms", "--max-states", "4000000000"});
    CHECK(report.at("stopped") == "time");
    CHECK(report.at("bounded") == true);
}
