#include "http/transport.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <fcntl.h>
#include <sys/socket.h>
#include <utility>

namespace http {

namespace {

namespace asio = boost::asio;

class PlainTransport final : public Transport {
public:
    explicit PlainTransport(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {
        boost::system::error_code ignored;
        socket_.non_blocking(true, ignored);
        socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
    }

    Task<base::Result<void>> handshake() override { co_return base::Result<void>(); }

    Task<Io> read_some(std::span<char> into) override {
        const auto [error, bytes] = co_await socket_.async_read_some(
            asio::buffer(into.data(), into.size()), asio::as_tuple(asio::use_awaitable)
        );
        co_return Io{error, bytes};
    }
    void start_read(std::span<char> into, std::function<void(Io)> done) override {
        socket_.async_read_some(
            asio::buffer(into.data(), into.size()),
            [done = std::move(done)](const boost::system::error_code& error, std::size_t bytes) {
                done({error, bytes});
            }
        );
    }
    Io write_now(const Pieces& pieces) override {
        Io io;
        io.bytes = socket_.write_some(buffers(pieces), io.error);
        if (io.error == asio::error::would_block) io = {};
        return io;
    }
    Task<Io> write_some(Pieces pieces) override {
        const auto [error, bytes] =
            co_await socket_.async_write_some(buffers(pieces), asio::as_tuple(asio::use_awaitable));
        co_return Io{error, bytes};
    }
    Task<void> finish_writing() override {
        half_close();
        co_return;
    }
    void half_close() override {
        boost::system::error_code ignored;
        socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    }
    asio::ip::tcp::socket& socket() override { return socket_; }

private:
    static std::array<asio::const_buffer, 3> buffers(const Pieces& pieces) {
        return {
            asio::buffer(pieces[0].data(), pieces[0].size()),
            asio::buffer(pieces[1].data(), pieces[1].size()),
            asio::buffer(pieces[2].data(), pieces[2].size())
        };
    }
    asio::ip::tcp::socket socket_;
};

}  // namespace

std::size_t total_bytes(const Pieces& pieces) {
    return pieces[0].size() + pieces[1].size() + pieces[2].size();
}

Pieces without(Pieces pieces, std::size_t bytes) {
    for (auto& piece : pieces) {
        const auto cut = std::min(bytes, piece.size());
        piece.remove_prefix(cut);
        bytes -= cut;
    }
    return pieces;
}

void Transport::cancel() {
    boost::system::error_code ignored;
    socket().cancel(ignored);
}

void Transport::close() {
    boost::system::error_code ignored;
    socket().close(ignored);
}

void Transport::reset() {
    boost::system::error_code ignored;
    socket().set_option(asio::socket_base::linger(true, 0), ignored);
    close();
}

bool Transport::quiet() {
    char byte = 0;
    const auto got = ::recv(socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

void close_on_exec(int descriptor) {
    const int set = ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    base::check(set == 0, "fcntl can set FD_CLOEXEC on an open socket");
}

std::unique_ptr<Transport> plain_transport(asio::ip::tcp::socket socket) {
    return std::make_unique<PlainTransport>(std::move(socket));
}

}  // namespace http
