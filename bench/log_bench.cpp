// The log by itself: the bare program, the committer on RocksDB beside it, and whether appending
// stays flat. `bench_log [RECORDS] [FOLDER]`.
#include "base/files.hpp"
#include "bench/bare_commit.hpp"
#include "bench/figure.hpp"
#include "engine/chain.hpp"
#include "engine/committer.hpp"
#include "engine/rocks_log.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::size_t batch_records = 1024;

void append_number(std::string& out, std::uint64_t number) {
    char text[20];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    out.append(text, end);
}

/// The same record as the bare program's.
void render(engine::RecordBatch& batch, engine::Seq seq) {
    std::string& out = batch.bytes;
    const std::size_t start = out.size();
    out += R"({"actor":"engine","cause":"","data":{"case":"c1","consumed":["t)";
    append_number(out, seq - 1);
    out += R"(-0"],"produced":[{"data":{"n":)";
    append_number(out, seq);
    out += R"(},"place":"left"}],"transition":"move-right"},"epoch":1,"prev":")";
    const auto prev_offset = static_cast<std::uint32_t>(out.size() - start);
    out += engine::unchained_prev;
    out += R"(","seq":)";
    append_number(out, seq);
    out += R"(,"ts":)";
    append_number(out, 1'790'000'000'000'000 + seq);
    out += R"(,"type":"fired","v":1})";
    batch.records.push_back(
        {.seq = seq,
         .ts = {},
         .prev_offset = prev_offset,
         .size = static_cast<std::uint32_t>(out.size() - start)}
    );
}

struct Moment {
    double seconds = 0;
    double cpu_seconds = 0;
};

/// Renders on this thread, commits on another; the moment at which each of `marks` records was
/// durable.
std::vector<Moment> committed(
    const std::filesystem::path& folder,
    engine::Durability durability,
    const std::vector<std::size_t>& marks
) {
    auto log = engine::open_rocks_log(folder, {.durability = durability});
    base::check(log.has_value(), "the log opens");
    engine::Committer committer(**log);
    const auto lane = committer.open("bench").value().lane;
    const engine::CommitThread thread(committer);
    std::binary_semaphore event(0);
    std::vector<Moment> times;
    const bench::Stopwatch watch;
    engine::Seq seq = 0;
    for (const std::size_t mark : marks) {
        while (seq < mark) {
            engine::RecordBatch batch;
            batch.bytes.reserve(batch_records * 320);
            batch.records.reserve(batch_records);
            while (seq < mark && batch.records.size() < batch_records)
                render(batch, ++seq);
            const bool last = seq == mark;
            const auto pressure = committer.submit(
                lane,
                std::move(batch),
                [&event, last](const base::Result<engine::Seq>& done) {
                    base::check(done.has_value(), "the log commits");
                    if (last) event.release();
                }
            );
            base::check(pressure.has_value(), "the log takes records");
            if (*pressure == engine::Pressure::over_mark && !last) {
                committer.when_drained(lane, [&event] { event.release(); });
                event.acquire();
            }
        }
        event.acquire();
        times.push_back({watch.seconds(), watch.cpu()});
    }
    const auto totals = committer.totals();
    std::fprintf(
        stderr,
        "%s",
        fmt::format("{} records in {} groups\n", totals.records, totals.groups).c_str()
    );
    return times;
}

void append_flatness(const std::filesystem::path& folder, std::size_t records) {
    // The cost at a length is that of the records that follow it.
    std::vector<std::size_t> marks;
    const auto add = [&](std::size_t mark) {
        marks.push_back(mark);
        marks.push_back(mark + std::min<std::size_t>(mark * 5, 100'000));
    };
    for (std::size_t mark = 1000; mark < records; mark *= 10)
        add(mark);
    add(records);
    const auto times = committed(folder, engine::Durability::sync, marks);
    constexpr std::string_view beside = "the same log at other lengths";
    for (std::size_t i = 0; i + 1 < marks.size(); i += 2) {
        const double us = 1e6 / static_cast<double>(marks[i + 1] - marks[i]);
        const double wall = (times[i + 1].seconds - times[i].seconds) * us;
        const double cpu = (times[i + 1].cpu_seconds - times[i].cpu_seconds) * us;
        bench::print_figure(fmt::format("log_append_at_{}", marks[i]), wall, "us/record", beside);
        bench::print_figure(
            fmt::format("log_append_cpu_at_{}", marks[i]), cpu, "us/record", beside
        );
    }
}

}  // namespace

int main(int count, char** arguments) {
    const std::size_t records = count > 1 ? std::stoul(arguments[1]) : 1'000'000;
    const base::TemporaryFolder own;
    const std::filesystem::path folder = count > 2 ? arguments[2] : own.path();
    for (const bool sync : {true, false}) {
        const std::string how = sync ? "sync" : "relaxed";
        bench::Stopwatch watch;
        const double bare = bench::bare_commit(
            {.folder = folder / ("bare-" + how), .records = records, .sync = sync}
        );
        bench::print_figure("bare_commit_" + how, bare, "records/s");
        bench::print_figure(
            "bare_commit_cpu_" + how, watch.cpu() * 1e6 / static_cast<double>(records), "us/record"
        );
        watch = {};
        const auto durability = sync ? engine::Durability::sync : engine::Durability::relaxed;
        const double ours =
            static_cast<double>(records) /
            committed(folder / ("log-" + how), durability, {records}).front().seconds;
        bench::print_figure("log_commit_" + how, ours, "records/s", "bare_commit_" + how);
        bench::print_figure(
            "log_commit_cpu_" + how,
            watch.cpu() * 1e6 / static_cast<double>(records),
            "us/record",
            "bare_commit_cpu_" + how
        );
        bench::print_figure("log_commit_ratio_" + how, ours / bare, "ratio", "bare_commit_" + how);
        std::filesystem::remove_all(folder / ("bare-" + how));
        std::filesystem::remove_all(folder / ("log-" + how));
    }
    append_flatness(folder / "flat", records);
    return 0;
}
