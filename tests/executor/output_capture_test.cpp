#include "executor/output_capture.hpp"

#include "base/files.hpp"
#include "base/json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace {

// What was kept, wherever it lies.
std::string kept(const executor::CapturedOutput& captured) {
    if (!captured.spool) return captured.output.text;
    return base::read_file(*captured.spool, std::size_t{16} << 20U).value();
}

std::string pattern(std::size_t bytes) {
    std::string text;
    while (text.size() < bytes)
        text += std::to_string(text.size()) + ",";
    text.resize(bytes);
    return text;
}

}  // namespace

TEST_CASE("head and tail of a stream are kept, whatever its length, its cap and its pieces") {
    const base::TemporaryFolder folder;
    const auto text = pattern(600'000);
    for (const std::uint64_t cap : {0U, 1U, 2U, 1000U, 131'072U, 131'073U, 300'000U}) {
        for (const std::size_t size :
             {0U,
              1U,
              2U,
              999U,
              1000U,
              1001U,
              131'072U,
              131'073U,
              299'999U,
              300'000U,
              300'001U,
              600'000U}) {
            for (const std::size_t piece : {777U, 65'536U}) {
                CAPTURE(cap);
                CAPTURE(size);
                CAPTURE(piece);
                executor::OutputCapture capture(folder.path() / "spool", cap);
                for (std::size_t at = 0; at < size; at += piece) {
                    capture.add(std::string_view(text).substr(at, std::min(piece, size - at)));
                }
                const auto captured = capture.finish(false);
                const auto& output = captured.output;
                CHECK(output.bytes_total == size);
                CHECK(output.bytes_kept == std::min<std::uint64_t>(size, cap));
                CHECK(output.truncated() == (size > cap));
                const auto bytes = kept(captured);
                REQUIRE(bytes.size() == output.bytes_kept);
                const auto head = output.truncated() ? output.bytes_head : bytes.size();
                CHECK(bytes.substr(0, head) == text.substr(0, head));
                CHECK(
                    bytes.substr(head) ==
                    text.substr(size - (bytes.size() - head), bytes.size() - head)
                );
                CHECK(captured.spool.has_value() == (bytes.size() > jobs::output_inline_bytes_max));
                if (!captured.spool) continue;
                CHECK(*output.sha256 == base::sha256(bytes));
                CHECK(bytes.starts_with(output.text));
                CHECK(bytes.ends_with(output.tail));
                CHECK(output.text.size() == jobs::output_preview_bytes);
                CHECK(output.tail.size() == jobs::output_preview_bytes);
            }
        }
    }
}

TEST_CASE("a spool file that cannot be written costs the rest of the stream, not the job") {
    executor::OutputCapture capture("/nonexistent/folder/spool", 1 << 20U);
    const auto text = pattern(200'000);
    capture.add(text);
    const auto captured = capture.finish(true);
    CHECK(captured.disk_failed);
    CHECK_FALSE(captured.spool);
    CHECK(captured.output.bytes_total == text.size());
    CHECK(captured.output.truncated());
    CHECK(text.starts_with(captured.output.text));
}

TEST_CASE("progress is read from whole lines, however they are cut") {
    const std::string text =
        "noise\n::progress 10 a\n::progress 101 no\n ::progress 20 no\n::progress 30\n::progress "
        "40x no\n" +
        std::string(5000, ':') + "\n::progress 50 last one\n::progress 60 unfinished";
    for (std::size_t piece = 1; piece < 50; ++piece) {
        executor::ProgressReader reader;
        std::vector<jobs::Progress> seen;
        for (std::size_t at = 0; at < text.size(); at += piece) {
            if (auto progress = reader.add(std::string_view(text).substr(at, piece))) {
                seen.push_back(*progress);
            }
        }
        REQUIRE_FALSE(seen.empty());
        CHECK(seen.back() == jobs::Progress{50, "last one"});
        if (piece == 1) {
            CHECK(seen.size() == 3);
            CHECK(seen[0] == jobs::Progress{10, "a"});
            CHECK(seen[1] == jobs::Progress{30, ""});
        }
    }
}
