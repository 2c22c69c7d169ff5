// Bytes flipped and tails cut in the files of a log.
#include "base/files.hpp"
#include "engine/audit.hpp"
#include "engine/rocks_log.hpp"
#include "tests/engine/log_records.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using engine::Seq;
using engine::testing::told;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t file_bytes_max = std::size_t{64} << 20U;

/// Two models whose records are in the tables and blob files of a first life, and in the
/// write-ahead log of a second one.
struct Damaged {
    base::TemporaryFolder folder;
    std::vector<std::pair<std::string, Seq>> heads;

    Damaged() {
        live(40, 3);
        live(30, 2);
    }

    [[nodiscard]] fs::path log() const { return folder.path() / "log"; }

    void live(std::size_t singles, std::size_t groups) {
        auto opened = engine::open_rocks_log(log()).value();
        heads.clear();
        for (const char* const model : {"a", "b"}) {
            const auto epoch = opened->own(model).value();
            for (std::size_t i = 0; i < singles; ++i) {
                engine::testing::append_records(*opened, model, epoch, 1);
            }
            for (std::size_t i = 0; i < groups; ++i) {
                engine::testing::append_records(*opened, model, epoch, 250);
            }
            heads.emplace_back(model, opened->head(model).value().seq);
        }
    }

    [[nodiscard]] std::vector<fs::path> files(std::string_view extension) const {
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(log() / "db")) {
            if (entry.path().extension() == extension && entry.file_size() > 0) {
                found.push_back(entry.path());
            }
        }
        std::ranges::sort(found);
        return found;
    }

    [[nodiscard]] engine::LogAudit audit() const {
        auto opened = engine::open_rocks_log(log(), {.access = engine::LogAccess::read_only});
        REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().message));
        return engine::verify_all(
                   **opened, [](std::string_view) { return engine::AuditOptions{}; }
        ).value();
    }
};

void flip(const fs::path& path, std::size_t at) {
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(file.get() ^ 0x20);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
}

/// The first and last bytes of the file, and `count` spread over it.
std::vector<std::size_t> positions(const fs::path& path, std::size_t count) {
    const auto size = static_cast<std::size_t>(fs::file_size(path));
    std::vector<std::size_t> found;
    for (std::size_t at = 0; at < std::min<std::size_t>(size, 12); ++at)
        found.push_back(at);
    for (std::size_t i = 1; i < count; ++i)
        found.push_back(size * i / count);
    for (std::size_t back = 1; back <= std::min<std::size_t>(size, 9); ++back) {
        found.push_back(size - back);
    }
    return found;
}

/// No damage may make a log that opens for writing forget what was acknowledged.
void check_no_silent_loss(const Damaged& damaged) {
    const base::TemporaryFolder copy;
    fs::copy(damaged.log(), copy.path() / "log", fs::copy_options::recursive);
    const auto opened = engine::open_rocks_log(copy.path() / "log");
    if (!opened) return;
    for (const auto& [model, head] : damaged.heads) {
        if ((*opened)->own(model)) CHECK((*opened)->head(model).value().seq == head);
    }
}

bool names_a_seq(const engine::LogAudit& audit) {
    return std::ranges::any_of(audit.models, [](const engine::AuditReport& report) {
        return std::ranges::any_of(report.findings, [](const engine::AuditFinding& finding) {
            return finding.first > 0 && finding.last >= finding.first;
        });
    });
}

}  // namespace

TEST_CASE("an audit of a stopped log finds no fault and changes nothing") {
    const Damaged whole;
    const auto listing = [&] {
        std::vector<std::string> all;
        for (const auto& entry : fs::recursive_directory_iterator(whole.log())) {
            if (!entry.is_regular_file()) continue;
            const auto bytes = base::read_file(entry.path(), file_bytes_max).value();
            all.push_back(entry.path().string() + " " + base::sha256(bytes).hex());
        }
        std::ranges::sort(all);
        return all;
    };
    const auto before = listing();
    const auto audit = whole.audit();
    CHECK_MESSAGE(audit.ok(), told(audit));
    REQUIRE(audit.models.size() == 2);
    CHECK(audit.models[0].head.seq == 40 + 750 + 30 + 500);
    CHECK(listing() == before);
    CHECK(!whole.files(".sst").empty());
    CHECK(!whole.files(".blob").empty());
    CHECK(!whole.files(".log").empty());
}

TEST_CASE("a byte flipped anywhere in a table, a blob file or the write-ahead log is found") {
    const Damaged damaged;
    for (const char* const extension : {".sst", ".blob", ".log"}) {
        for (const fs::path& path : damaged.files(extension)) {
            std::size_t n = 0;
            for (const std::size_t at : positions(path, 15)) {
                CAPTURE(path.string());
                CAPTURE(at);
                flip(path, at);
                CHECK_FALSE(damaged.audit().ok());
                if (++n % 6 == 0) check_no_silent_loss(damaged);
                flip(path, at);
            }
        }
    }
    CHECK(damaged.audit().ok());
}

TEST_CASE("a byte flipped in a record is named with the seqs that it hides") {
    const Damaged damaged;
    for (const char* const extension : {".sst", ".blob", ".log"}) {
        std::optional<std::pair<fs::path, std::size_t>> place;
        for (const fs::path& path : damaged.files(extension)) {
            const auto bytes = base::read_file(path, file_bytes_max).value();
            const std::size_t at = bytes.find("text of ");
            if (at != std::string::npos) place = {path, at};
        }
        if (!place) {
            // Small chunks stand in tables, compressed: any byte of the data will do.
            CHECK(std::string(extension) == ".sst");
            place = {damaged.files(".sst").front(), 30};
        }
        flip(place->first, place->second);
        const auto audit = damaged.audit();
        CAPTURE(extension);
        CAPTURE(told(audit));
        CHECK(names_a_seq(audit));
        flip(place->first, place->second);
    }
}

TEST_CASE("a cut tail of the write-ahead log is missing, and the model does not open") {
    for (const std::size_t cut :
         {std::size_t{1}, std::size_t{100}, std::size_t{60'000}, SIZE_MAX}) {
        CAPTURE(cut);
        Damaged damaged;
        const auto path = damaged.files(".log").back();
        const auto size = static_cast<std::size_t>(fs::file_size(path));
        fs::resize_file(path, size - std::min(size, cut));
        const auto audit = damaged.audit();
        CAPTURE(told(audit));
        const auto missing = std::ranges::find_if(audit.models, [](const auto& report) {
            return !report.ok() && report.findings.back().fault == engine::AuditFault::missing_tail;
        });
        REQUIRE(missing != audit.models.end());
        const auto opened = engine::open_rocks_log(damaged.log());
        if (!opened) continue;
        const auto owned = (*opened)->own(missing->model);
        REQUIRE_FALSE(owned);
        CHECK(owned.error().code == base::ErrorCode::tamper);
    }
}

TEST_CASE("a file of the log that is gone or emptied is found") {
    for (const char* const extension : {".sst", ".blob", ".log"}) {
        for (const bool gone : {true, false}) {
            CAPTURE(extension);
            CAPTURE(gone);
            Damaged damaged;
            const auto path = damaged.files(extension).back();
            if (gone) {
                fs::remove(path);
            } else {
                fs::resize_file(path, 0);
            }
            CHECK_FALSE(damaged.audit().ok());
            check_no_silent_loss(damaged);
        }
    }
}

TEST_CASE("a database that cannot be opened at all leaves every record named as unreadable") {
    Damaged damaged;
    REQUIRE(base::write_file_atomically(damaged.log() / "db" / "CURRENT", "MANIFEST-999999\n"));
    const auto audit = damaged.audit();
    REQUIRE(audit.models.size() == 2);
    for (const auto& report : audit.models) {
        REQUIRE(!report.ok());
        CHECK(report.findings.back().first == 1);
        CHECK(report.findings.back().last == 1320);
    }
    const auto opened = engine::open_rocks_log(damaged.log());
    REQUIRE_FALSE(opened);
}

TEST_CASE("a damaged head kept apart is found, and its model does not open") {
    const Damaged damaged;
    for (const std::size_t at :
         {std::size_t{0}, std::size_t{1}, std::size_t{165}, std::size_t{190}, std::size_t{250}}) {
        CAPTURE(at);
        flip(damaged.log() / "heads", at);
        CHECK_FALSE(damaged.audit().ok());
        const auto opened = engine::open_rocks_log(damaged.log());
        REQUIRE(opened);
        CHECK_FALSE((*opened)->own("a"));
        CHECK((*opened)->own("b"));
        flip(damaged.log() / "heads", at);
    }
}
