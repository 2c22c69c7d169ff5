// The real master on a real disk that is full, and beyond a limit of file sizes.
#include "tests/cli/binary.hpp"
#include "tests/cli/lab.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

using tests::cli::await;
using tests::cli::Json;
using tests::cli::Lab;

namespace {

/// A disk of its own below the lab's data, in memory.
class SmallDisk {
public:
    explicit SmallDisk(std::filesystem::path path) : path_(std::move(path)) {
        std::filesystem::create_directories(path_);
        mounted_ = ::mount("none", path_.c_str(), "tmpfs", 0, "size=16m") == 0;
        if (!mounted_)
            tests::skipped(std::string("no tmpfs can be mounted here: ") + std::strerror(errno));
    }
    ~SmallDisk() {
        if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    [[nodiscard]] bool mounted() const { return mounted_; }

    /// To the last byte.
    void fill() const {
        const base::FileDescriptor file(
            ::open(filler().c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600)
        );
        REQUIRE(file);
        const std::string bytes(std::size_t{64} << 10U, 'x');
        for (std::size_t size = bytes.size(); size > 0;) {
            if (::write(file.value(), bytes.data(), size) <= 0) size /= 2;
        }
    }
    void free() const { std::filesystem::remove(filler()); }

private:
    [[nodiscard]] std::filesystem::path filler() const { return path_ / "filler"; }

    std::filesystem::path path_;
    bool mounted_ = false;
};

const std::string place = "/api/models/default/nets/n/places/p/tokens";

Json net() {
    return {
        {"net", "n"},
        {"version", "1"},
        {"places", {{"p", Json::object()}, {"tick", Json::object()}}},
        {"transitions", {{"t", {{"every", "200ms"}, {"out", {{"tick", 1}}}}}}},
    };
}

/// Puts numbered tokens, and knows which were acknowledged.
struct Writer {
    Lab& lab;
    std::vector<int> acknowledged;
    int next = 1;

    /// The status.
    int put() {
        const int number = next++;
        http::Call call{.method = http::Method::post, .target = place};
        call.body =
            base::canonical(Json{{"data", {{"n", number}, {"fill", std::string(3000, 'x')}}}});
        const auto answer = lab.call(std::move(call), lab.admin_token());
        if (answer.status == 201) acknowledged.push_back(number);
        return answer.status;
    }
    void check() {
        std::vector<int> found;
        for (const auto& token : lab.get(place + "?limit=1000").at("items"))
            found.push_back(token.at("data").at("n"));
        CHECK(found == acknowledged);
    }
};

int status_of(Lab& lab, const std::string& target) {
    return lab.call({.target = target}, lab.admin_token()).status;
}

/// Writes are refused: what the master says meanwhile.
void check_while_refused(Lab& lab, Writer& writer) {
    await("a refused write", [&] { return writer.put() != 201; });
    for (int i = 0; i < 3; ++i)
        CHECK(writer.put() == 503);
    CHECK(status_of(lab, "/readyz") == 503);
    const auto models = lab.call({.target = "/api/models"}, lab.admin_token());
    if (models.status == 200) {
        const auto items = base::parse_json(models.body)->at("items");
        REQUIRE_FALSE(items.empty());
        bool faulty = false;
        for (const auto& item : items)
            faulty = faulty || item.contains("fault");
        CHECK_MESSAGE(faulty, models.body);
    }
    CHECK(status_of(lab, "/metrics") == 200);
    REQUIRE_MESSAGE(lab.master().running(), lab.diary("master"));
}

void check_afterwards(Lab& lab, Writer& writer) {
    CHECK(writer.put() == 201);
    CHECK(status_of(lab, "/readyz") == 200);
    writer.check();
    lab.kill_master();
    lab.start_master();
    writer.check();
    CHECK(lab.run({"audit", "verify"}).exit == 0);
}

/// How many runs of the timer the log holds.
std::size_t ticks(Lab& lab) {
    std::size_t count = 0;
    for (const auto& event : lab.events())
        count += event.at("type") == "fired" ? 1 : 0;
    return count;
}

}  // namespace

TEST_CASE("on a full disk writes are refused, and with space back all goes on without a restart") {
    Lab lab;
    const SmallDisk disk(lab.data());
    if (!disk.mounted()) return;
    lab.start_master();
    lab.deploy(net());
    Writer writer{lab, {}};
    for (int i = 0; i < 20; ++i)
        REQUIRE(writer.put() == 201);
    for (int round = 0; round < 2; ++round) {
        CAPTURE(round);
        disk.fill();
        check_while_refused(lab, writer);
        disk.free();
        if (round == 0) {
            // Nobody asks for anything: the model opens again, and its timer runs.
            await("the log to be reopened", [&] {
                return lab.diary("master").find("the log was reopened") != std::string::npos;
            });
            const auto before = ticks(lab);
            await("the timer to run", [&] { return ticks(lab) > before; });
        }
        CHECK(writer.put() == 201);
        writer.check();
    }
    check_afterwards(lab, writer);
}

TEST_CASE("a master does not start on a full disk, and says that it is full") {
    Lab lab;
    const SmallDisk disk(lab.data());
    if (!disk.mounted()) return;
    lab.start_master();
    CHECK(lab.stop_master() == 0);
    disk.fill();
    const int exit = lab.launch_master().wait();
    CHECK(exit != 0);
    CHECK_MESSAGE(exit < 128, lab.diary("master"));
    CHECK_MESSAGE(
        lab.diary("master").find("No space left on device") != std::string::npos,
        lab.diary("master")
    );
    disk.free();
    lab.start_master();
    CHECK(status_of(lab, "/readyz") == 200);
}

TEST_CASE("a write beyond the limit of file sizes is refused and does not end the master") {
    Lab lab;
    lab.start_master();
    lab.deploy(net());
    Writer writer{lab, {}};
    REQUIRE(writer.put() == 201);
    rlimit before{};
    REQUIRE(::prlimit(lab.master().pid(), RLIMIT_FSIZE, nullptr, &before) == 0);
    const rlimit small{.rlim_cur = std::size_t{64} << 10U, .rlim_max = before.rlim_max};
    REQUIRE(::prlimit(lab.master().pid(), RLIMIT_FSIZE, &small, nullptr) == 0);
    check_while_refused(lab, writer);
    REQUIRE(::prlimit(lab.master().pid(), RLIMIT_FSIZE, &before, nullptr) == 0);
    check_afterwards(lab, writer);
}
