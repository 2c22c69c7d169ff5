#include "tests/cli/proxy.hpp"

#include "base/result.hpp"

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <sys/socket.h>
#include <utility>

namespace tests::cli {

namespace {

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

}  // namespace

AlteringProxy::AlteringProxy(std::uint16_t master_port, std::string from, std::string to)
    : master_port_(master_port),
      from_(std::move(from)),
      to_(std::move(to)),
      listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    base::check(from_.size() == to_.size(), "lengths that differ would break the messages");
    auto address = loopback(0);
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    base::check(::bind(listener_.value(), plain, size) == 0, "bind");
    base::check(::listen(listener_.value(), SOMAXCONN) == 0, "listen");
    base::check(::getsockname(listener_.value(), plain, &size) == 0, "the proxy's port");
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] { accept_all(); });
}

AlteringProxy::~AlteringProxy() {
    auto threads = state_.with([](State& state) {
        state.ending = true;
        for (const auto& socket : state.sockets)
            ::shutdown(socket.value(), SHUT_RDWR);
        return std::exchange(state.threads, {});
    });
    ::shutdown(listener_.value(), SHUT_RDWR);
    acceptor_.join();
    for (auto& thread : threads)
        thread.join();
}

std::string AlteringProxy::url() const {
    return "http://127.0.0.1:" + std::to_string(port_);
}

void AlteringProxy::accept_all() {
    for (;;) {
        base::FileDescriptor executor(::accept4(listener_.value(), nullptr, nullptr, SOCK_CLOEXEC));
        if (executor.value() < 0) return;
        connect(std::move(executor));
    }
}

void AlteringProxy::connect(base::FileDescriptor executor) {
    base::FileDescriptor master(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = loopback(master_port_);
    if (::connect(master.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return;
    state_.with([&](State& state) {
        if (state.ending) return;
        const int inner = master.value();
        const int outer = executor.value();
        state.sockets.push_back(std::move(master));
        state.sockets.push_back(std::move(executor));
        state.threads.emplace_back([this, inner, outer] { pump(outer, inner, false); });
        state.threads.emplace_back([this, inner, outer] { pump(inner, outer, true); });
    });
}

void AlteringProxy::pump(int from, int to, bool alter) {
    std::array<char, 65536> buffer{};
    for (;;) {
        const auto got = ::recv(from, buffer.data(), buffer.size(), 0);
        if (got <= 0) break;
        std::string bytes(buffer.data(), static_cast<std::size_t>(got));
        for (auto at = bytes.find(from_); alter && at != std::string::npos;
             at = bytes.find(from_)) {
            bytes.replace(at, from_.size(), to_);
            state_.with([](State& state) { ++state.altered; });
        }
        if (!base::write_all(to, bytes)) break;
    }
    ::shutdown(to, SHUT_WR);
}

}  // namespace tests::cli
