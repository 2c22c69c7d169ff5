#include "server/answers.hpp"

#include "base/files.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>
#include <fstream>
#include <future>
#include <map>
#include <random>

using server::Answer;
using server::Answers;
using server::Question;

namespace {

Answers::Reply asked(Answers& answers, const Question& question) {
    std::promise<Answers::Reply> told;
    answers.ask(question, [&](Answers::Reply reply) { told.set_value(std::move(reply)); });
    return told.get_future().get();
}

void give(Answers& answers, const Question& question, Answer answer) {
    std::promise<void> kept;
    answers.give(question, std::move(answer), [&] { kept.set_value(); });
    kept.get_future().get();
}

std::unique_ptr<Answers> opened(
    const std::filesystem::path& folder, const Answers::Limits& limits
) {
    auto answers = Answers::open(folder, limits);
    REQUIRE(answers);
    return std::move(*answers);
}

std::uint64_t bytes_in(const std::filesystem::path& folder) {
    std::uint64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        bytes += entry.file_size();
    return bytes;
}

}  // namespace

TEST_CASE("an answer that is told again is the first one, or is forgotten, over any restarts") {
    const base::TemporaryFolder folder;
    const auto path = folder.path() / "answers";
    const Answers::Limits limits{
        .file_bytes_max = 4000, .file_answers_max = 15, .answer_bytes_max = 1000
    };
    std::mt19937 random(7);
    std::map<std::string, Answer> first;
    auto answers = opened(path, limits);
    std::size_t told_again = 0;
    for (int i = 0; i < 2000; ++i) {
        const auto key = fmt::format("k{}", random() % 40);
        const Question question{key, base::sha256(key)};
        const auto reply = asked(*answers, question);
        if (reply) {
            REQUIRE(*reply);
            CHECK(**reply == first.at(key));
            ++told_again;
        } else {
            const Answer answer{
                201, "/at", fmt::format("{} {}", i, std::string(random() % 300, 'x'))
            };
            first[key] = answer;
            give(*answers, question, answer);
            // The newest is never the one that is forgotten.
            CHECK(asked(*answers, question).has_value());
        }
        CHECK(bytes_in(path) <= 2 * limits.file_bytes_max);
        CHECK(answers->kept() <= 2 * limits.file_answers_max);
        if (random() % 20 == 0) {
            answers.reset();
            answers = opened(path, limits);
        }
    }
    CHECK(told_again > 200);
}

TEST_CASE("what a crash left behind in the file costs the answer it was, and no other") {
    const base::TemporaryFolder folder;
    const auto path = folder.path() / "answers";
    const Question one{"one", base::sha256("1")};
    const Question two{"two", base::sha256("2")};
    const Question three{"three", base::sha256("3")};
    {
        auto answers = opened(path, {});
        give(*answers, one, {200, "", "first"});
        give(*answers, two, {200, "", "second"});
    }
    const auto file = path / "answers.newer";
    for (std::size_t cut = 1; cut < 30; ++cut) {
        std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
        auto answers = opened(path, {});
        CHECK((*asked(*answers, one))->body == "first");
        CHECK_FALSE(asked(*answers, two).has_value());
        give(*answers, two, {200, "", fmt::format("after {}", cut)});
        CHECK((*asked(*answers, two))->body == fmt::format("after {}", cut));
    }
    std::ofstream(file, std::ios::app) << std::string(100, '\0') << "\n{\"key\":1}\n";
    auto answers = opened(path, {});
    CHECK((*asked(*answers, one))->body == "first");
    give(*answers, three, {200, "", "third"});
    answers.reset();
    answers = opened(path, {});
    CHECK((*asked(*answers, three))->body == "third");
}

TEST_CASE("who asks while the first is answered waits for that answer, and shares its refusal") {
    const base::TemporaryFolder folder;
    const auto answers = opened(folder.path() / "answers", {.waiting_max = 2});
    const Question question{"k", base::sha256("q")};
    CHECK_FALSE(asked(*answers, question).has_value());
    std::vector<std::promise<Answers::Reply>> told(3);
    for (auto& one : told)
        answers->ask(question, [&](Answers::Reply reply) { one.set_value(std::move(reply)); });
    CHECK((*told[2].get_future().get()).error().code == base::ErrorCode::overloaded);
    answers->give_up("k", base::fail(base::ErrorCode::not_found, "no such net"));
    for (std::size_t i = 0; i < 2; ++i)
        CHECK((*told[i].get_future().get()).error().code == base::ErrorCode::not_found);
    CHECK_FALSE(asked(*answers, question).has_value());
    give(*answers, question, {200, "", "done"});
    CHECK(
        (*asked(*answers, {"k", base::sha256("other")})).error().code == base::ErrorCode::conflict
    );
}

TEST_CASE("kept answers are for their owner alone") {
    const base::TemporaryFolder folder;
    const auto path = folder.path() / "answers";
    const auto answers = opened(path, {});
    CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms(0700));
    CHECK(
        std::filesystem::status(path / "answers.newer").permissions() ==
        std::filesystem::perms(0600)
    );
}
