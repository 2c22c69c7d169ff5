#include "tests/cli/lab.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fstream>

using tests::cli::Json;
using tests::cli::Lab;

namespace {

namespace fs = std::filesystem;

Json counting_net() {
    return {
        {"net", "counter"},
        {"version", "1.0.0"},
        {"places", {{"in", Json::object()}, {"kept", Json::object()}}},
        {"transitions", {{"keep", {{"in", {{"n", "in"}}}, {"out", {{"kept", "${n}"}}}}}}},
    };
}

fs::path log_file(const Lab& lab) {
    fs::path newest;
    for (const auto& entry : fs::recursive_directory_iterator(lab.data() / "log")) {
        if (entry.path().extension() == ".log" && entry.file_size() > 0) newest = entry.path();
    }
    REQUIRE(!newest.empty());
    return newest;
}

}  // namespace

TEST_CASE("a second master on the same directory refuses to start and says who has it") {
    Lab lab;
    lab.start_master();
    tests::cli::Process second(
        {{"serve", "--data", lab.data().string(), "--listen", "127.0.0.1:0"},
         {},
         lab.path("second.out"),
         lab.path("second.err")}
    );
    CHECK(second.wait() == 3);
    const auto said = tests::cli::text_of(lab.path("second.err"));
    CHECK_MESSAGE(said.contains(std::to_string(lab.master().pid())), said);
    CHECK(lab.run({"net", "list"}).exit == 0);
}

TEST_CASE("as of an earlier seq the marking is what was seen then, also after a restart") {
    Lab lab;
    lab.start_master();
    lab.deploy(counting_net());
    std::vector<std::pair<std::uint64_t, Json>> seen;
    for (int i = 0; i < 5; ++i) {
        lab.json({"token", "put", "counter/in", "--value", std::to_string(i)});
        const auto seq = lab.get("/api/models/default").at("seq").get<std::uint64_t>();
        seen.emplace_back(seq, lab.json({"token", "list", "counter/kept"}));
    }
    for (const bool killed : {false, true}) {
        if (killed) {
            lab.kill_master();
            lab.start_master();
        }
        for (const auto& [seq, marking] : seen) {
            const auto then =
                lab.json({"token", "list", "counter/kept", "--as-of", std::to_string(seq)});
            CHECK_MESSAGE(then == marking, "as of ", seq);
        }
    }
    CHECK(lab.run({"token", "list", "counter/kept", "--as-of", "99999"}).exit == 3);
}

TEST_CASE("a byte flipped in the log is found, and the record named") {
    Lab lab;
    lab.start_master();
    lab.deploy(counting_net());
    for (int i = 0; i < 5; ++i)
        lab.json({"token", "put", "counter/in", "--value", "\"flip-me-" + std::to_string(i) + "\""}
        );
    const auto good = lab.json({"audit", "verify", "--state"});
    lab.kill_master();
    const auto file = log_file(lab);
    auto bytes = tests::cli::text_of(file);
    const auto at = bytes.find("flip-me-2");
    REQUIRE(at != std::string::npos);
    bytes[at] = 'F';
    std::ofstream(file, std::ios::binary) << bytes;
    const auto said = lab.run({"audit", "verify", "--data", lab.data().string(), "--json"});
    CHECK(said.exit == 1);
    const auto report = base::parse_json(said.out);
    REQUIRE_MESSAGE(report, said.out, said.err);
    CHECK(report->at("ok") == false);
    CHECK_MESSAGE(!report->at("models")[0].at("findings").empty(), said.out);
    const auto words = lab.run({"audit", "verify", "--data", lab.data().string()});
    CHECK(words.exit == 1);
    CHECK_MESSAGE(words.out.contains("seq"), words.out);
    CHECK(!words.out.contains("OK\n"));
}

TEST_CASE("a log whose tail was cut off is found out, also by an anchor kept elsewhere") {
    Lab lab;
    lab.start_master();
    lab.deploy(counting_net());
    for (int i = 0; i < 5; ++i)
        lab.json({"token", "put", "counter/in", "--value", std::to_string(i)});
    const auto head = lab.json({"audit", "anchor"}).at("default").get<std::string>();
    CHECK(lab.run({"audit", "anchor"}).out.contains(head));
    CHECK(lab.run({"audit", "verify", "--anchor", head}).exit == 0);
    lab.kill_master();
    const auto file = log_file(lab);
    fs::resize_file(file, fs::file_size(file) * 2 / 3);
    const auto said = lab.run({"audit", "verify", "--data", lab.data().string(), "--anchor", head});
    CHECK(said.exit == 1);
    CHECK_MESSAGE(said.out.contains("missing_tail"), said.out);
    // And a master does not go on as if nothing were.
    auto& master = lab.launch_master();
    tests::cli::await("the refusal", [&] {
        if (!master.running()) return true;
        return lab.run({"net", "list"}).exit != 0 && lab.diary("master").contains("error");
    });
}
