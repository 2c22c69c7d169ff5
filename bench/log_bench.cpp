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

/// Renders on this thread, commits on another; seconds at each of `marks` records, all durable.
std::vector<double> committed(
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
    std::vector<double> times;
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
        times.push_back(watch.seconds());
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
    std::vector<std::size_t> marks;
    for (std::size_t mark = 1000; mark < records; mark *= 10) {
        // The cost around a length is that of the next tenth of it (at least some groups).
        marks.push_back(mark);
        marks.push_back(mark + std::max<std::size_t>(mark / 10, 50'000));
        if (marks.back() >= mark * 10) marks.pop_back(), marks.pop_back();
    }
    marks.push_back(records);
    marks.push_back(records + std::max<std::size_t>(records / 10, 50'000));
    const auto times = committed(folder, engine::Durability::sync, marks);
    for (std::size_t i = 0; i + 1 < marks.size(); i += 2) {
        const auto count = static_cast<double>(marks[i + 1] - marks[i]);
        bench::print_figure(
            fmt::format("log_append_us_at_{}", marks[i]),
            (times[i + 1] - times[i]) * 1e6 / count,
            "us/record",
            "the same log at other lengths"
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
        const double ours = static_cast<double>(records) /
                            committed(folder / ("log-" + how), durability, {records}).front();
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
