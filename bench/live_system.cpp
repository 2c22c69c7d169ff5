#include "bench/live_system.hpp"

#include "base/log.hpp"
#include "executor/executor.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace bench {

namespace {

std::string next_line(std::FILE* from) {
    std::array<char, 4096> line{};
    if (std::fgets(line.data(), line.size(), from) == nullptr) return {};
    std::string text = line.data();
    if (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

// Three lines say where to work; the end of the input says to stop.
[[noreturn]] void run_executor(int orders, std::int64_t slots) {
    std::FILE* input = ::fdopen(orders, "r");
    executor::Options options{.slots = slots, .id = "bench"};
    options.master = next_line(input);
    options.enrolment.admin_token_file = next_line(input);
    options.work = next_line(input);
    if (options.work.empty()) std::_Exit(1);
    const http::StopSource stop;
    std::thread listener([&] {
        next_line(input);
        stop.raise();
    });
    const auto ended = executor::run(options, stop.signal());
    if (!ended) std::fprintf(stderr, "executor: %s\n", ended.error().message.c_str());
    if (!ended) std::_Exit(1);
    listener.join();
    std::_Exit(0);
}

void find_helper() {
#ifdef NETWRIGHT_SANDBOX_INIT_BUILT
    ::setenv("NETWRIGHT_SANDBOX_INIT", NETWRIGHT_SANDBOX_INIT_BUILT, 0);
#endif
}

}  // namespace

ExecutorProcess::ExecutorProcess(std::int64_t slots) {
    find_helper();
    base::log_quietly();
    std::array<int, 2> ends{};
    base::check(::pipe2(ends.data(), O_CLOEXEC) == 0, "a pipe");
    pid_ = ::fork();
    base::check(pid_ >= 0, "fork");
    if (pid_ == 0) {
        ::close(ends[1]);
        run_executor(ends[0], slots);
    }
    ::close(ends[0]);
    orders_.reset(ends[1]);
}

ExecutorProcess::~ExecutorProcess() {
    orders_.reset();
    int status = 0;
    ::waitpid(pid_, &status, 0);
}

void ExecutorProcess::begin(
    const std::string& url,
    const std::filesystem::path& admin_token_file,
    const std::filesystem::path& work
) {
    const auto lines = fmt::format("{}\n{}\n{}\n", url, admin_token_file.string(), work.string());
    base::check(base::write_all(orders_.value(), lines).has_value(), "tell the executor");
}

double ExecutorProcess::cpu_seconds() const {
    clockid_t clock{};
    timespec used{};
    if (::clock_getcpuclockid(pid_, &clock) == 0) ::clock_gettime(clock, &used);
    return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) / 1e9;
}

LiveSystem::LiveSystem(std::int64_t slots) : executor_(slots) {
    // The users of the jobs must be able to reach the work folder.
    std::filesystem::permissions(folder(), std::filesystem::perms(0755));
    auto started = server::Master::start({.data = folder() / "data"});
    base::check(started.has_value(), started ? "" : started.error().message);
    master_ = std::move(*started);
    auto client = http::Client::make({.url = url(), .bearer_token = admin_token()});
    base::check(client.has_value(), "the admin's client is made");
    client_.emplace(std::move(*client));
    executor_.begin(url(), folder() / "data" / "admin.token", folder() / "work");
}

LiveSystem::~LiveSystem() = default;

std::string LiveSystem::admin_token() const {
    auto text = base::read_file(folder() / "data" / "admin.token", 1000);
    base::check(text.has_value(), "the admin's token");
    text->pop_back();
    return *text;
}

base::Json LiveSystem::post(const std::string& target, const std::string& body) {
    const auto answer =
        client_->send({.method = http::Method::post, .target = target, .body = body});
    base::check(answer.has_value(), answer ? "" : answer.error().message);
    base::check(answer->status < 300, target + ": " + answer->body);
    return *base::parse_json(answer->body);
}

std::string net_with_call(const std::string& name, const std::string& tool) {
    return fmt::format(
        R"({{"net":"{}","version":"1","places":{{"asked":{{}},"done":{{}}}},"transitions":{{"call":{{)"
        R"("in":{{"x":"asked"}},"call":{{"toolId":"{}","args":{{"order":"${{x.order}}"}}}},)"
        R"("out":{{"done":{{"order":"${{x.order}}"}}}}}}}},"start":"asked","end":["done"]}})",
        name,
        tool
    );
}

}  // namespace bench
