// How long a model takes to be there again: from its records, and from a snapshot.
#include "base/files.hpp"
#include "base/log.hpp"
#include "bench/figure.hpp"
#include "bench/model_rig.hpp"
#include "engine/chain.hpp"
#include "engine/committer.hpp"
#include "engine/open_model.hpp"
#include "engine/rocks_log.hpp"
#include "engine/snapshot.hpp"
#include "server/master.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <semaphore>
#include <string>

namespace {

// Written without waiting for the disk, which is not what is measured.
constexpr engine::RocksLogOptions relaxed{.durability = engine::Durability::relaxed};

constexpr const char* cycle_net =
    R"({"net":"n","version":"1","places":{"a":{},"b":{}},"transitions":{
        "ab":{"in":{"x":"a"},"out":{"b":"${x}"}},"ba":{"in":{"x":"b"},"out":{"a":"${x}"}}}})";
constexpr const char* waiting_net =
    R"({"net":"n","version":"1","places":{"a":{},"b":{},"o":{}},"transitions":{"t":{
        "in":{"x":"a","y":"b"},"out":{"o":"${x}"}}}})";

std::unique_ptr<engine::EventLog> open_log(const std::filesystem::path& folder) {
    auto log = engine::open_rocks_log(folder, relaxed);
    base::check(log.has_value(), log ? "" : log.error().message);
    return std::move(*log);
}

/// A model that writes to a log, as the master's does.
class Writer {
public:
    explicit Writer(engine::EventLog& log) : committer_(log), thread_(committer_) {
        const auto opened = committer_.open("bench");
        base::check(opened.has_value(), "own the model");
        lane_ = opened->lane;
        model_.take_over(opened->epoch);
        model_.go_live(base::system_clock().now());
    }
    engine::Model& model() { return model_; }
    /// Returns once all is written.
    void write() {
        const auto submitted = committer_.submit(
            lane_,
            model_.take_records(),
            [this](const base::Result<engine::Seq>& seq) {
                base::check(seq.has_value(), seq ? "" : seq.error().message);
                written_.release();
            }
        );
        base::check(submitted.has_value(), "the log takes records");
        written_.acquire();
    }

private:
    engine::Committer committer_;
    engine::CommitThread thread_;
    engine::CommitLane lane_{};
    std::binary_semaphore written_{0};
    engine::Model model_{"bench"};
};

void write_firings(const std::filesystem::path& folder, std::size_t firings) {
    const auto log = open_log(folder);
    Writer writer(*log);
    bench::deploy(writer.model(), cycle_net);
    bench::put(writer.model(), {"n", "a"}, 10, bench::data_of_100_bytes);
    for (std::size_t fired = 0; fired < firings;) {
        fired += writer.model().pump(bench::asker().now, 5000);
        writer.write();
    }
}

void write_tokens(const std::filesystem::path& folder, std::size_t tokens) {
    const auto log = open_log(folder / "log");
    engine::SnapshotStore snapshots(folder / "snapshots");
    Writer writer(*log);
    bench::deploy(writer.model(), waiting_net);
    for (std::size_t put = 0; put < tokens; put += engine::tokens_put_max) {
        bench::put(
            writer.model(),
            {"n", "a"},
            std::min(engine::tokens_put_max, tokens - put),
            [put](std::size_t n) { return bench::data_of_100_bytes(put + n); }
        );
        writer.write();
    }
    const bench::Stopwatch freezing;
    const engine::FrozenState frozen(writer.model().state());
    const double held = freezing.seconds();
    const bench::Stopwatch writing;
    const auto written =
        engine::write_snapshot(snapshots, frozen, "bench", log->head("bench").value());
    base::check(written.has_value(), written ? "" : written.error().message);
    bench::print_figure(
        fmt::format("freeze {} tokens for a snapshot (holds the strand)", tokens), held, "s"
    );
    bench::print_figure(
        fmt::format("write a snapshot of {} tokens", tokens), writing.seconds(), "s"
    );
}

/// Reads and checks the chain, and does nothing else.
double read_seconds(engine::EventLog& log) {
    const bench::Stopwatch watch;
    auto head = engine::empty_head("bench");
    for (;;) {
        const auto page = log.read("bench", head.seq + 1, {});
        base::check(page.has_value(), "the log is read");
        if (page->records.empty()) return watch.seconds();
        for (const auto& record : page->records) {
            head = {record.seq, engine::record_hash(head.hash, record.bytes)};
            base::check(head.hash == record.hash, "the chain holds");
        }
    }
}

struct Folded {
    double seconds = 0;
    std::size_t tokens = 0;
};

Folded fold_seconds(const std::filesystem::path& log_folder, const std::filesystem::path& kept) {
    const auto log = open_log(log_folder);
    engine::SnapshotStore snapshots(kept);
    const auto seq = log->head("bench").value().seq;
    const bench::Stopwatch watch;
    const auto model = engine::fold(*log, snapshots, "bench", seq);
    base::check(model.has_value(), model ? "" : model.error().message);
    (*model)->go_live(base::system_clock().now());
    return {watch.seconds(), (*model)->state().store.size()};
}

double ready_seconds(const std::filesystem::path& folder) {
    const bench::Stopwatch watch;
    const auto master = server::Master::start({.data = folder});
    base::check(master.has_value(), master ? "" : master.error().message);
    return watch.seconds();
}

}  // namespace

int main() {
    base::log_quietly();
    const base::TemporaryFolder folder;
    bench::print_figure(
        "ready on an empty directory",
        ready_seconds(folder.path() / "data"),
        "s",
        "the target (0.3)"
    );
    const std::size_t firings = bench::scaled(1'000'000);
    write_firings(folder.path() / "firings", firings);
    const double read = read_seconds(*open_log(folder.path() / "firings"));
    const double folded = fold_seconds(folder.path() / "firings", folder.path() / "none").seconds;
    bench::print_figure(
        fmt::format("restart from {} records", firings),
        folded,
        "s",
        fmt::format(
            "{:.2f} of reading and checking them ({:.2f}); the target is 5 for 10^6",
            folded / read,
            read
        )
    );
    const std::size_t tokens = bench::scaled(1'000'000);
    write_tokens(folder.path() / "tokens", tokens);
    const auto restored =
        fold_seconds(folder.path() / "tokens" / "log", folder.path() / "tokens" / "snapshots");
    base::check(restored.tokens == tokens, "every token is there again");
    bench::print_figure(
        fmt::format("restart from a snapshot of {} tokens", tokens),
        restored.seconds,
        "s",
        "the target (30 for 10^7)"
    );
    return 0;
}
