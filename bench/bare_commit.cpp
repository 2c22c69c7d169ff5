#include "bench/bare_commit.hpp"

#include "base/guarded.hpp"
#include "base/result.hpp"
#include "base/sha256.hpp"
#include "bench/figure.hpp"

#include <rocksdb/db.h>

#include <charconv>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace bench {

namespace {

constexpr std::size_t groups_waiting_max = 8;

struct BareQueue {
    std::deque<std::unique_ptr<rocksdb::WriteBatch>> groups;
    bool ended = false;
};

void append_number(std::string& out, std::uint64_t number) {
    char text[20];
    const auto end = std::to_chars(text, text + sizeof text, number).ptr;
    out.append(text, end);
}

std::string hex_of(const base::Digest& digest) {
    return digest.hex();
}

/// A `fired` record of one token consumed and one produced: about 290 bytes.
void render(std::string& out, std::uint64_t seq, const std::string& prev) {
    out.clear();
    out += R"({"actor":"engine","cause":"","data":{"case":"c1","consumed":["t)";
    append_number(out, seq - 1);
    out += R"(-0"],"produced":[{"data":{"n":)";
    append_number(out, seq);
    out += R"(},"place":"left"}],"transition":"move-right"},"epoch":1,"prev":")";
    out += prev;
    out += R"(","seq":)";
    append_number(out, seq);
    out += R"(,"ts":)";
    append_number(out, 1'790'000'000'000'000 + seq);
    out += R"(,"type":"fired","v":1})";
}

void produce(const BareCommitOptions& options, base::Guarded<BareQueue>& queue) {
    base::Digest hash = base::sha256("bare");
    std::string record;
    std::string prev;
    std::uint64_t seq = 0;
    while (seq < options.records) {
        auto group = std::make_unique<rocksdb::WriteBatch>();
        for (std::size_t i = 0; i < options.group_records && seq < options.records; ++i) {
            ++seq;
            prev = hex_of(hash);
            render(record, seq, prev);
            static thread_local base::Sha256 hasher;
            hash = hasher.update(prev).update(record).finish();
            char key[8];
            for (unsigned b = 0; b < 8; ++b)
                key[b] = static_cast<char>(seq >> (56U - 8U * b));
            record.append(reinterpret_cast<const char*>(hash.bytes.data()), hash.bytes.size());
            group->Put({key, sizeof key}, record);
        }
        queue.wait(
            [](const BareQueue& all) { return all.groups.size() < groups_waiting_max; },
            [&](BareQueue& all) { all.groups.push_back(std::move(group)); }
        );
        queue.notify();
    }
    queue.with([](BareQueue& all) { all.ended = true; });
    queue.notify();
}

}  // namespace

double bare_commit(const BareCommitOptions& options) {
    rocksdb::Options database_options;
    database_options.create_if_missing = true;
    database_options.error_if_exists = true;
    database_options.compression = rocksdb::kNoCompression;
    rocksdb::DB* opened = nullptr;
    const auto status = rocksdb::DB::Open(database_options, options.folder.string(), &opened);
    base::check(status.ok(), "the bare program opens its database");
    const std::unique_ptr<rocksdb::DB> database(opened);

    base::Guarded<BareQueue> queue;
    const Stopwatch watch;
    const std::jthread producer([&] { produce(options, queue); });
    rocksdb::WriteOptions write;
    write.sync = options.sync;
    for (;;) {
        auto group = queue.wait(
            [](const BareQueue& all) { return !all.groups.empty() || all.ended; },
            [](BareQueue& all) -> std::unique_ptr<rocksdb::WriteBatch> {
                if (all.groups.empty()) return nullptr;
                auto first = std::move(all.groups.front());
                all.groups.pop_front();
                return first;
            }
        );
        if (!group) break;
        queue.notify();
        base::check(database->Write(write, group.get()).ok(), "the bare program commits");
    }
    return static_cast<double>(options.records) / watch.seconds();
}

}  // namespace bench
