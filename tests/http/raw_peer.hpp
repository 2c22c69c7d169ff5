#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <cstdint>
#include <poll.h>
#include <string>
#include <string_view>

namespace http_test {

/// A peer that sends what it likes, for what a well-behaved client would not send.
class RawPeer {
public:
    /// `from`: one of this machine's addresses, each another peer to the server.
    explicit RawPeer(std::uint16_t port, const char* from = "127.0.0.1") : socket_(context_) {
        namespace ip = boost::asio::ip;
        socket_.open(ip::tcp::v4());
        socket_.bind({ip::make_address(from), 0});
        socket_.connect({ip::make_address("127.0.0.1"), port});
    }
    void send(std::string_view bytes) {
        boost::system::error_code ignored;
        boost::asio::write(socket_, boost::asio::buffer(bytes.data(), bytes.size()), ignored);
    }
    /// Everything until the server closes; "" parts are not told apart from a reset.
    std::string read_all() {
        boost::system::error_code error;
        while (!error)
            read_more(error);
        return got_;
    }
    /// Until `text` has come; what came so far when the server closed before.
    std::string read_until(std::string_view text) {
        boost::system::error_code error;
        while (!error && got_.find(text) == std::string::npos)
            read_more(error);
        return got_;
    }
    void forget() { got_.clear(); }
    void close() { socket_.close(); }
    bool readable_within_ms(int limit) {
        pollfd entry{.fd = socket_.native_handle(), .events = POLLIN, .revents = 0};
        return ::poll(&entry, 1, limit) == 1;
    }
    boost::asio::ip::tcp::socket& socket() { return socket_; }

private:
    void read_more(boost::system::error_code& error) {
        char bytes[65536];
        const auto count = socket_.read_some(boost::asio::buffer(bytes), error);
        got_.append(bytes, count);
    }
    boost::asio::io_context context_;
    boost::asio::ip::tcp::socket socket_;
    std::string got_;
};

inline std::string get(std::string_view target, std::string_view more = "") {
    return "GET " + std::string(target) + " HTTP/1.1\r\nHost: x\r\n" + std::string(more) + "\r\n";
}

}  // namespace http_test
