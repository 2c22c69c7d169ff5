#include "executor/script_cache.hpp"

#include "tests/executor/rig.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <unistd.h>

namespace {

void overwrite(const std::filesystem::path& path, std::string_view bytes) {
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    std::ofstream(path, std::ios::trunc) << bytes;
}

}  // namespace

TEST_CASE("a cached script that was altered is written anew and the right code runs") {
    rig::Rig rig;
    const auto lease = rig::script(jobs::Runtime::sh, "echo right");
    CHECK(rig.run(lease).outcome.standard_output.text == "right\n");
    const auto pin = std::get<jobs::Script>(lease.job.binding).sha256;
    const auto cached = rig.work() / "cache" / pin.hex();
    overwrite(cached, "echo wrong");
    CHECK(rig.run(lease).outcome.standard_output.text == "right\n");
    CHECK(base::read_file(cached, 100) == "echo right");
}

TEST_CASE("content that does not hash to its pin is rejected and never runs") {
    rig::Rig rig;
    auto lease = rig::script(jobs::Runtime::sh, "echo right");
    std::get<jobs::Script>(lease.job.binding).content = "echo wrong";
    const auto outcome = rig.run(lease).outcome;
    CHECK(outcome.outcome_class == jobs::OutcomeClass::rejected);
    CHECK(outcome.error->code == base::ErrorCode::tamper);
    CHECK(outcome.standard_output.bytes_total == 0);
    CHECK_FALSE(outcome.exit_code);
    CHECK(std::filesystem::is_empty(rig.work() / "cache"));
}

TEST_CASE("a size other than the pinned one is rejected") {
    rig::Rig rig;
    auto lease = rig::script(jobs::Runtime::sh, "echo right");
    std::get<jobs::Script>(lease.job.binding).size += 1;
    CHECK(rig.run(lease).outcome.error->code == base::ErrorCode::tamper);
}

TEST_CASE("content that is not inline is asked for once, and again when the cache was altered") {
    const base::TemporaryFolder folder;
    auto cache = executor::ScriptCache::open(folder.path() / "cache").value();
    int asked = 0;
    const auto content = [&]() -> base::Result<std::string> {
        ++asked;
        return "body";
    };
    const auto pin = base::sha256("body");
    CHECK(cache.verified(pin, 4, content) == "body");
    CHECK(cache.verified(pin, 4, content) == "body");
    CHECK(asked == 1);
    overwrite(folder.path() / "cache" / pin.hex(), "b0dy");
    CHECK(cache.verified(pin, 4, content) == "body");
    CHECK(asked == 2);
}

TEST_CASE("a link or a second name in the cache is not trusted") {
    const base::TemporaryFolder folder;
    auto cache = executor::ScriptCache::open(folder.path() / "cache").value();
    const auto pin = base::sha256("body");
    const auto path = folder.path() / "cache" / pin.hex();
    const auto elsewhere = folder.path() / "elsewhere";
    std::ofstream(elsewhere) << "body";
    int asked = 0;
    const auto content = [&]() -> base::Result<std::string> {
        ++asked;
        return "body";
    };
    std::filesystem::create_symlink(elsewhere, path);
    CHECK(cache.verified(pin, 4, content) == "body");
    CHECK(asked == 1);
    CHECK_FALSE(std::filesystem::is_symlink(path));
    std::filesystem::remove(path);
    std::filesystem::create_hard_link(elsewhere, path);
    CHECK(cache.verified(pin, 4, content) == "body");
    CHECK(asked == 2);
}
