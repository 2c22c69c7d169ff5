#pragma once

#include "base/files.hpp"
#include "base/guarded.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace tests::cli {

/// Somebody between a master and its executors, who changes what the master says: every `from`
/// becomes `to`, of the same length. Stands at a port of its own on 127.0.0.1 until it ends.
class AlteringProxy {
public:
    AlteringProxy(std::uint16_t master_port, std::string from, std::string to);
    ~AlteringProxy();
    AlteringProxy(const AlteringProxy&) = delete;
    AlteringProxy& operator=(const AlteringProxy&) = delete;

    [[nodiscard]] std::string url() const;
    [[nodiscard]] std::size_t altered() const {
        return state_.with([](const State& state) { return state.altered; });
    }

private:
    struct State {
        std::vector<base::FileDescriptor> sockets;
        std::vector<std::thread> threads;
        std::size_t altered = 0;
        bool ending = false;
    };
    void accept_all();
    void connect(base::FileDescriptor executor);
    void pump(int from, int to, bool alter);

    std::uint16_t master_port_;
    std::string from_;
    std::string to_;
    base::FileDescriptor listener_;
    std::uint16_t port_ = 0;
    base::Guarded<State> state_;
    std::thread acceptor_;
};

}  // namespace tests::cli
