#include "blobstore/archive.hpp"
#include "tests/blobstore/archive_fixture.hpp"

#include <doctest/doctest.h>

#include <vector>

using blobstore_test::source_of;
using blobstore_test::tar;
using blobstore_test::tar_entry;
using blobstore_test::TarEntry;
using blobstore_test::tree;

namespace {

// Unpacks below a folder of its own and says what was refused; nothing may be left, and nothing may
// have appeared beside it.
base::Error refused(std::string_view bytes, const blobstore::ArchiveLimits& limits = {}) {
    const base::TemporaryFolder outer;
    const auto folder = outer.path() / "into";
    std::filesystem::create_directory(folder);
    const auto report = blobstore::extract_archive(source_of(bytes), folder, {.limits = limits});
    CHECK(tree(outer.path()) == std::map<std::string, std::string>{{"into", "folder"}});
    REQUIRE_FALSE(report);
    return report.error();
}

void check_refused(const std::vector<TarEntry>& entries, std::string_view why) {
    CAPTURE(why);
    auto all = std::vector<TarEntry>{{.name = "harmless", .content = "x"}};
    all.insert(all.end(), entries.begin(), entries.end());
    const auto error = refused(tar(all));
    CHECK(error.code == base::ErrorCode::validation);
    CAPTURE(error.message);
    CHECK(error.message.find(why) != std::string::npos);
}

// A pax header that gives the next entry another name, target or size.
TarEntry pax(const std::string& key, const std::string& value) {
    std::string line = " " + key + "=" + value + "\n";
    std::string length = std::to_string(line.size() + 1);
    if (std::to_string(line.size() + length.size()).size() != length.size()) {
        length = std::to_string(line.size() + length.size() + 1);
    } else {
        length = std::to_string(line.size() + length.size());
    }
    return {.name = "pax", .type = 'x', .content = length + line};
}

}  // namespace

TEST_CASE("absolute names and names that climb are refused") {
    check_refused({{.name = "/etc/passwd", .content = "x"}}, "absolute name");
    check_refused({{.name = "//x"}}, "absolute name");
    check_refused({{.name = "../x"}}, "'..'");
    check_refused({{.name = "a/../../x"}}, "'..'");
    check_refused({{.name = "a/.."}}, "'..'");
    check_refused({{.name = ".."}}, "'..'");
    check_refused({{.name = "../", .type = '5'}}, "'..'");
    check_refused({pax("path", "/etc/x"), {.name = "innocent"}}, "absolute name");
    check_refused({pax("path", "a/../../x"), {.name = "innocent"}}, "'..'");
}

TEST_CASE("links that leave the root are refused, straight or by a detour") {
    check_refused({{.name = "l", .type = '2', .target = "/etc"}}, "absolute path");
    check_refused({{.name = "l", .type = '2', .target = ".."}}, "leaves the archive's root");
    check_refused({{.name = "a/l", .type = '2', .target = "../../x"}}, "leaves the archive's root");
    check_refused(
        {{.name = "p/q/s", .type = '2', .target = "../.."},
         {.name = "z", .type = '2', .target = "p/q/s/../.."}},
        "after another part"
    );
    check_refused({{.name = "l", .type = '2', .target = ""}}, "link to nothing");
    check_refused(
        {pax("linkpath", "../../etc"), {.name = "l", .type = '2', .target = "x"}}, "leaves"
    );
}

TEST_CASE("nothing is written through a link or below a file") {
    check_refused(
        {{.name = "d", .type = '5', .mode = 0755},
         {.name = "l", .type = '2', .target = "d"},
         {.name = "l/x", .content = "x"}},
        "no folder"
    );
    check_refused({{.name = "f"}, {.name = "f/x"}}, "no folder");
    check_refused(
        {{.name = "l", .type = '2', .target = "harmless"}, {.name = "l", .content = "y"}}, "twice"
    );
}

TEST_CASE("hard links, devices, FIFOs and odd permission bits are refused") {
    check_refused({{.name = "h", .type = '1', .target = "harmless"}}, "hard link");
    check_refused({{.name = "h", .type = '1', .target = "/etc/passwd"}}, "hard link");
    check_refused({{.name = "c", .type = '3'}}, "neither file");
    check_refused({{.name = "b", .type = '4'}}, "neither file");
    check_refused({{.name = "p", .type = '6'}}, "neither file");
    check_refused({{.name = "s", .mode = 04755}}, "setuid");
    check_refused({{.name = "g", .mode = 02755}}, "setgid");
    check_refused({{.name = "d", .type = '5', .mode = 01777}}, "sticky");
}

TEST_CASE("a name given twice is refused, however it is spelt") {
    check_refused({{.name = "harmless"}}, "twice");
    check_refused({{.name = "./harmless"}}, "twice");
    check_refused(
        {{.name = "d/", .type = '5', .mode = 0755}, {.name = "d", .type = '5', .mode = 0755}},
        "twice"
    );
    check_refused({{.name = "d/x"}, {.name = "d", .content = "file"}}, "twice");
    check_refused({{.name = "d/x"}, {.name = "d", .type = '2', .target = "harmless"}}, "twice");
}

TEST_CASE("names that are not plain text are refused") {
    check_refused({{.name = "a\nb"}}, "control characters");
    check_refused({{.name = "a\x1B[2J"}}, "control characters");
    check_refused({{.name = "a\xFF"}}, "not UTF-8");
    check_refused({{.name = "l", .type = '2', .target = "a\xFF"}}, "not plain text");
    check_refused({pax("path", "a/" + std::string(256, 'x')), {.name = "x"}}, "255");
}

TEST_CASE("too many entries, too large ones, too deep and too long names are refused") {
    std::vector<TarEntry> many;
    for (int i = 0; i < 11; ++i)
        many.push_back({.name = std::to_string(i), .content = "12345"});
    CHECK(refused(tar(many), {.entries_max = 10}).code == base::ErrorCode::too_large);
    CHECK(refused(tar(many), {.entry_bytes_max = 4}).code == base::ErrorCode::too_large);
    CHECK(refused(tar(many), {.bytes_max = 54}).code == base::ErrorCode::too_large);
    CHECK(refused(tar({{.name = "a/b/c/d"}}), {.depth_max = 3}).code == base::ErrorCode::too_large);
    CHECK(
        refused(tar({{.name = "abcd"}}), {.name_bytes_max = 3}).code == base::ErrorCode::too_large
    );
    // A header that promises a terabyte is refused before anything of it is read.
    const auto promised = tar({pax("size", "1099511627776"), {.name = "bomb"}});
    CHECK(refused(promised).code == base::ErrorCode::too_large);
}

TEST_CASE("a sparse file that says it is a terabyte is refused") {
    std::string records;
    for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
             {"major", "1"}, {"minor", "0"}, {"realsize", "1099511627776"}, {"name", "sparse"}
         }) {
        records += pax("GNU.sparse." + key, value).content;
    }
    const auto bytes = tar(
        {{.name = "pax", .type = 'x', .content = records},
         {.name = "GNUSparseFile.0/sparse", .content = "0\n" + std::string(510, '\0')}}
    );
    CHECK(refused(bytes).code == base::ErrorCode::too_large);
}

TEST_CASE("a header whose checksum is wrong is refused") {
    auto bytes = tar({{.name = "a", .content = "x"}, {.name = "b", .content = "y"}});
    bytes[1024 + 3] ^= 1;
    CHECK(refused(bytes).code == base::ErrorCode::validation);
    bytes[3] ^= 1;
    CHECK(refused(bytes).code == base::ErrorCode::validation);
}

TEST_CASE("a name that other programs write in a pax header is taken as UTF-8") {
    const auto bytes = tar(
        {pax("path",
             "gr\xC3\xBC\xC3\x9F"
             "e"),
         {.name = "x", .content = "y"}}
    );
    const base::TemporaryFolder folder;
    const auto report = blobstore::extract_archive(source_of(bytes), folder.path(), {});
    if (!report) FAIL(report.error().message);
    CHECK(
        tree(folder.path()) ==
        std::map<std::string, std::string>{
            {"gr\xC3\xBC\xC3\x9F"
             "e",
             "y"}
        }
    );
}
