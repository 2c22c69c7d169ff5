#include "base/files.hpp"
#include "engine/engine.hpp"
#include "engine/memory_log.hpp"
#include "engine/open_model.hpp"
#include "engine/snapshot.hpp"

#include <doctest/doctest.h>

#include <future>
#include <string>
#include <vector>

using base::Seq;

namespace {

class NoHandler final : public engine::TransitionHandler {
public:
    void opened(const engine::Model& /*model*/) override {}
    void prepare(
        std::string_view /*model*/,
        const engine::Prepare& /*request*/,
        std::move_only_function<void(base::Result<engine::Prepared>)> done
    ) override {
        done(base::fail(base::ErrorCode::unsupported, "nothing is called here"));
    }
    void perform(const engine::Performance& /*performance*/) override {}
    void cancel(std::string_view /*model*/, base::OperationId /*operation*/) override {}
    void recover(const engine::Performance& /*performance*/) override {}
};

/// Records that put these tokens, and the snapshot that a clean stop leaves.
void write(
    engine::MemoryLog& log, engine::SnapshotStore& snapshots, const std::vector<std::string>& tokens
) {
    NoHandler handler;
    engine::Engine live{
        {.log = log,
         .snapshots = snapshots,
         .handler = handler,
         .clock = base::system_clock(),
         .threads = 2}
    };
    for (const auto& token : tokens) {
        std::promise<base::Result<Seq>> done;
        live.write<Seq>(
            "m",
            {},
            [&](engine::Model& model, const engine::Asker& asker) -> base::Result<Seq> {
                return engine::write(model, {.produced = {{"p-tool-catalog", token}}}, asker);
            },
            {},
            [&](base::Result<Seq> seq) { done.set_value(std::move(seq)); }
        );
        REQUIRE(done.get_future().get());
    }
    live.stop();
}

base::Digest folded(
    engine::MemoryLog& log, engine::SnapshotStore& snapshots, engine::FoldInfo& info
) {
    const auto model =
        engine::fold(log, snapshots, "m", log.head("m")->seq, engine::CaseIndex::as_it_is, &info);
    REQUIRE_MESSAGE(model, (model ? "" : model.error().message));
    return engine::state_hash((*model)->state());
}

}  // namespace

TEST_CASE("a snapshot whose head is not the record of the log is skipped for the one before it") {
    const base::TemporaryFolder folder;
    engine::SnapshotStore snapshots(folder.path() / "own");
    engine::SnapshotStore none(folder.path() / "none");
    engine::MemoryLog log;
    engine::MemoryLog other;
    write(log, snapshots, {"1", "2"});
    engine::SnapshotStore elsewhere(folder.path() / "elsewhere");
    write(other, elsewhere, {"8", "9", "7", "6"});
    engine::FoldInfo info;
    const auto expected = folded(log, none, info);
    CHECK(info.snapshot_seq == 0);
    folded(log, snapshots, info);
    CHECK(info.snapshot_seq == 2);

    // Whole, and of the same name: only its head tells.
    write(log, snapshots, {"3", "4"});
    const auto now = folded(log, none, info = {});
    CHECK(now != expected);
    const auto path = [&](std::string_view store) {
        for (const auto& entry : std::filesystem::directory_iterator(folder.path() / store / "m"))
            if (entry.path().filename().string().starts_with("00000000000000000004-"))
                return entry.path();
        return std::filesystem::path();
    };
    std::filesystem::copy_file(
        path("elsewhere"), path("own"), std::filesystem::copy_options::overwrite_existing
    );
    CHECK(folded(log, snapshots, info = {}) == now);
    CHECK(info.snapshot_seq == 2);
    CHECK(info.bad_snapshots == std::vector<Seq>{4});
}
