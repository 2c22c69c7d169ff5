#include "http/server.hpp"

#include "base/guarded.hpp"
#include "base/log.hpp"
#include "http/connection.hpp"
#include "http/status.hpp"
#include "http/transport.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

namespace http {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

/// One thread with the connections that live on it.
struct IoThread {
    asio::io_context context{1};
    asio::executor_work_guard<asio::io_context::executor_type> work =
        asio::make_work_guard(context);
    std::unordered_map<std::uint64_t, std::shared_ptr<Connection>> connections;
    DateText date;
    bool aborting = false;
    std::thread thread;
};

base::Result<tcp::endpoint> resolve(
    asio::io_context& context, const std::string& host, std::uint16_t port
) {
    boost::system::error_code error;
    if (const auto address = asio::ip::make_address(host, error); !error) {
        return tcp::endpoint(address, port);
    }
    tcp::resolver resolver(context);
    const auto found = resolver.resolve(host, std::to_string(port), tcp::resolver::passive, error);
    if (error || found.empty()) {
        return base::fail(
            base::ErrorCode::validation,
            fmt::format("cannot listen on '{}': {}", host, error.message()),
            "give an address of this machine, such as 127.0.0.1 or 0.0.0.0"
        );
    }
    return found.begin()->endpoint();
}

base::Result<tcp::acceptor> listen(asio::io_context& context, const ServerOptions& options) {
    auto endpoint = resolve(context, options.host, options.port);
    if (!endpoint) return base::fail(std::move(endpoint.error()));
    tcp::acceptor acceptor(context);
    boost::system::error_code error;
    acceptor.open(endpoint->protocol(), error);
    if (!error) close_on_exec(acceptor.native_handle());
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(*endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) {
        return base::fail(
            base::ErrorCode::conflict,
            fmt::format("cannot listen on {}:{}: {}", options.host, options.port, error.message()),
            "choose another address or port, or stop what listens there; port 0 takes a free one"
        );
    }
    return acceptor;
}

std::string text_of(const tcp::endpoint& endpoint) {
    return endpoint.address().to_string();
}

}  // namespace

struct Server::Impl {
    struct Living {
        std::size_t connections = 0;
        bool accepting = false;
    };

    Impl(ServerOptions given, const Router& given_router)
        : options(std::move(given)),
          router(given_router),
          seats({options.limits.connections_max, options.limits.peer_connections_max}) {}

    Task<void> accept_all();
    Task<void> back_off();
    void admit(tcp::socket socket, const tcp::endpoint& peer, std::size_t thread);
    void turn_away(tcp::socket socket) const;
    void close(const Seat& seat);
    void serve(IoThread& thread, Connection::Accepted accepted);
    void ended(IoThread& thread, const std::shared_ptr<Seat>& seat);
    void on_all(void (*action)(IoThread&));

    ServerOptions options;
    const Router& router;
    Seats seats;
    std::atomic<std::uint64_t> bodies_bytes = 0;
    std::optional<TlsContext> tls;
    std::vector<std::unique_ptr<IoThread>> threads;
    std::optional<tcp::acceptor> acceptor;
    std::uint16_t port = 0;
    std::uint64_t next_id = 1;
    std::atomic<bool> stopping = false;
    base::Guarded<Living> living;
};

Task<void> Server::Impl::accept_all() {
    std::size_t turn = 0;
    while (!stopping) {
        const std::size_t thread = turn++ % threads.size();
        tcp::endpoint peer;
        tcp::socket socket(threads[thread]->context);
        const auto [error] =
            co_await acceptor->async_accept(socket, peer, asio::as_tuple(asio::use_awaitable));
        if (stopping) break;
        if (!error) {
            close_on_exec(socket.native_handle());
            admit(std::move(socket), peer, thread);
            continue;
        }
        if (error == asio::error::connection_aborted) continue;
        base::log_warning("cannot accept a connection: " + error.message());
        co_await back_off();
    }
}

/// Without descriptors, accepting would fail again at once.
Task<void> Server::Impl::back_off() {
    asio::steady_timer timer(threads.front()->context, std::chrono::milliseconds(100));
    co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

void Server::Impl::admit(tcp::socket socket, const tcp::endpoint& peer, std::size_t thread) {
    const auto address = text_of(peer);
    const auto taken = seats.take(peer_of(address), next_id, thread);
    if (!taken.seat) return turn_away(std::move(socket));
    if (taken.closed) close(*taken.closed);
    living.with([](Living& now) { ++now.connections; });
    Connection::Accepted accepted{
        .transport = nullptr, .id = {next_id++}, .remote_address = address, .seat = taken.seat
    };
    accepted.transport =
        tls ? tls->accepted(std::move(socket)) : plain_transport(std::move(socket));
    // Shared: a function object must be copyable, and a posted one may never run.
    auto handed = std::make_shared<Connection::Accepted>(std::move(accepted));
    IoThread& home = *threads[thread];
    asio::post(home.context, [this, &home, handed] { serve(home, std::move(*handed)); });
}

void Server::Impl::close(const Seat& seat) {
    IoThread& home = *threads[seat.thread];
    asio::post(home.context, [&home, id = seat.connection] {
        const auto found = home.connections.find(id);
        if (found != home.connections.end()) found->second->give_way();
    });
}

void Server::Impl::turn_away(tcp::socket socket) const {
    if (options.tls) return;
    const auto response = error_response(
        {base::ErrorCode::overloaded,
         fmt::format(
             "the server has its {} connections, or {} from this peer",
             options.limits.connections_max,
             options.limits.peer_connections_max
         ),
         "try again later",
         {}}
    );
    const auto text = fmt::format(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n"
        "Content-Length: {}\r\nConnection: close\r\n\r\n{}",
        response.body.size(),
        response.body
    );
    boost::system::error_code ignored;
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(text), ignored);
    socket.shutdown(tcp::socket::shutdown_send, ignored);
}

void Server::Impl::serve(IoThread& thread, Connection::Accepted accepted) {
    const auto id = accepted.id.value;
    const auto seat = accepted.seat;
    auto connection = std::make_shared<Connection>(
        ConnectionContext{router, options, seats, bodies_bytes}, std::move(accepted), thread.date
    );
    thread.connections.emplace(id, connection);
    if (thread.aborting) {
        connection->abort();
    } else if (stopping) {
        connection->begin_stop();
    }
    asio::co_spawn(
        thread.context,
        connection->run(),
        [this, &thread, seat](const std::exception_ptr& failure) {
            base::check(!failure, "an exception left a connection");
            ended(thread, seat);
        }
    );
}

void Server::Impl::ended(IoThread& thread, const std::shared_ptr<Seat>& seat) {
    thread.connections.erase(seat->connection);
    seats.leave(seat);
    living.with([](Living& now) { --now.connections; });
    living.notify();
}

void Server::Impl::on_all(void (*action)(IoThread&)) {
    for (auto& thread : threads)
        asio::post(thread->context, [&thread = *thread, action] { action(thread); });
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
    stop({});
}

base::Result<std::unique_ptr<Server>> Server::start(ServerOptions options, const Router& router) {
    auto impl = std::make_unique<Impl>(std::move(options), router);
    if (const auto& files = impl->options.tls) {
        auto tls = TlsContext::server(files->certificate_chain, files->private_key);
        if (!tls) return base::fail(std::move(tls.error()));
        impl->tls.emplace(std::move(*tls));
    }
    for (std::size_t i = 0; i < std::max<std::size_t>(impl->options.io_threads, 1); ++i)
        impl->threads.push_back(std::make_unique<IoThread>());
    auto& first = impl->threads.front()->context;
    auto acceptor = listen(first, impl->options);
    if (!acceptor) return base::fail(std::move(acceptor.error()));
    impl->acceptor.emplace(std::move(*acceptor));
    impl->port = impl->acceptor->local_endpoint().port();
    impl->living.with([](Impl::Living& now) { now.accepting = true; });
    asio::co_spawn(first, impl->accept_all(), [&server = *impl](const std::exception_ptr& failure) {
        base::check(!failure, "an exception left the accepting loop");
        server.living.with([](Impl::Living& now) { now.accepting = false; });
        server.living.notify();
    });
    for (auto& thread : impl->threads)
        thread->thread = std::thread([&context = thread->context] { context.run(); });
    return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::uint16_t Server::port() const {
    return impl_->port;
}

std::string Server::url() const {
    const auto& host = impl_->options.host;
    const bool ipv6 = host.find(':') != std::string::npos;
    return fmt::format(
        "{}://{}{}{}:{}",
        impl_->tls ? "https" : "http",
        ipv6 ? "[" : "",
        host,
        ipv6 ? "]" : "",
        port()
    );
}

std::size_t Server::connections() const {
    return impl_->living.with([](const Impl::Living& now) { return now.connections; });
}

std::uint64_t Server::bodies_bytes() const {
    return impl_->bodies_bytes;
}

void Server::stop(base::Duration grace) {
    if (impl_->stopping.exchange(true)) return;
    asio::post(impl_->threads.front()->context, [this] {
        boost::system::error_code ignored;
        impl_->acceptor->close(ignored);
    });
    impl_->on_all([](IoThread& thread) {
        for (auto& [id, connection] : thread.connections)
            connection->begin_stop();
    });
    const auto none_left = [](const Impl::Living& now) {
        return now.connections == 0 && !now.accepting;
    };
    const auto nothing = [](const Impl::Living&) {};
    impl_->living.wait_for(std::chrono::microseconds(grace.us), none_left);
    impl_->on_all([](IoThread& thread) {
        thread.aborting = true;
        for (auto& [id, connection] : thread.connections)
            connection->abort();
    });
    impl_->living.wait(none_left, nothing);
    for (auto& thread : impl_->threads) {
        thread->work.reset();
        thread->thread.join();
    }
}

}  // namespace http
