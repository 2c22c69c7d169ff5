#include "tests/cli/process.hpp"

#include "tests/cli/binary.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tests::cli {

namespace {

std::vector<std::string> environment_with(const std::map<std::string, std::string>& set) {
    std::vector<std::string> all;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const auto name = text.substr(0, text.find('='));
        // A master of the machine's own is none of ours.
        if (!set.contains(name) && !name.starts_with("NETWRIGHT_")) all.push_back(text);
    }
    for (const auto& [name, value] : set)
        all.push_back(name + "=" + value);
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> all;
    for (auto& text : texts)
        all.push_back(text.data());
    all.push_back(nullptr);
    return all;
}

}  // namespace

Process::Process(const ProcessOptions& options) {
    std::vector<std::string> words = {binary()};
    words.insert(words.end(), options.arguments.begin(), options.arguments.end());
    auto settings = environment_with(options.environment);
    const auto argv = pointers(words);
    const auto envp = pointers(settings);
    const auto out = options.out.string();
    const auto err = options.err.string();
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int in_fd = ::open(options.in.c_str(), O_RDONLY);
    const int out_fd = ::open(out.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    const int err_fd = ::open(err.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    ::dup2(in_fd, 0);
    ::dup2(out_fd, 1);
    ::dup2(err_fd, 2);
    // What the daemon holds is its own, not left over from this program or from who started it.
    ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
}

Process::~Process() {
    if (!running()) return;
    send(SIGKILL);
    wait();
}

bool Process::running() {
    if (!ended_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) ended_ = true;
    return !ended_;
}

void Process::send(int signal) const {
    if (!ended_) ::kill(pid_, signal);
}

int Process::wait() {
    while (!ended_) {
        if (::waitpid(pid_, &status_, 0) == pid_)
            ended_ = true;
        else
            REQUIRE(errno == EINTR);
    }
    constexpr int signal_base = 128;
    return WIFEXITED(status_) ? WEXITSTATUS(status_) : signal_base + WTERMSIG(status_);
}

}  // namespace tests::cli
