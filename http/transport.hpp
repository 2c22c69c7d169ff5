#pragma once

#include "base/result.hpp"
#include "http/task.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <array>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace http {

struct Io {
    boost::system::error_code error;
    std::size_t bytes = 0;
};

/// Bytes to write in one system call; unused pieces are empty.
using Pieces = std::array<std::string_view, 3>;
std::size_t total_bytes(const Pieces& pieces);
/// Without the first `bytes`.
Pieces without(Pieces pieces, std::size_t bytes);

/// A connected byte stream, plain or TLS. Belongs to the one thread of its socket's executor. At
/// most one read and one write at a time.
class Transport {
public:
    virtual ~Transport() = default;
    virtual Task<base::Result<void>> handshake() = 0;
    virtual Task<Io> read_some(std::span<char> into) = 0;
    /// `done` is called later, never inside; the memory must live until then.
    virtual void start_read(std::span<char> into, std::function<void(Io)> done) = 0;
    /// Writes what can be written without waiting; 0 bytes when nothing can.
    virtual Io write_now(const Pieces& pieces) = 0;
    virtual Task<Io> write_some(Pieces pieces) = 0;
    /// Says that no more will come. TLS waits for the peer to say the same: give it a deadline.
    virtual Task<void> finish_writing() = 0;
    /// Sends FIN below everything, where that does no harm (not under TLS).
    virtual void half_close() = 0;
    virtual boost::asio::ip::tcp::socket& socket() = 0;

    /// Ends pending operations with an error.
    void cancel();
    void close();
    /// Closes so that the peer sees an error, not an end.
    void reset();
    /// Whether a kept-alive connection still stands: the peer has neither closed nor sent anything.
    bool quiet();
};

/// A program that this process executes does not inherit the socket: Asio opens and accepts them
/// without O_CLOEXEC.
void close_on_exec(int descriptor);

std::unique_ptr<Transport> plain_transport(boost::asio::ip::tcp::socket socket);

/// Certificates and rules for many connections. Thread-safe once made.
class TlsContext {
public:
    /// For a server: PEM files. TLS 1.2 and up.
    static base::Result<TlsContext> server(
        const std::filesystem::path& certificate_chain, const std::filesystem::path& private_key
    );
    /// For a client: trusts the system's authorities, or those of `ca_file` alone.
    static base::Result<TlsContext> client(const std::optional<std::filesystem::path>& ca_file);

    [[nodiscard]] std::unique_ptr<Transport> accepted(boost::asio::ip::tcp::socket socket) const;
    /// Verifies the certificate against `host`.
    [[nodiscard]] std::unique_ptr<Transport> connected(
        boost::asio::ip::tcp::socket socket, const std::string& host
    ) const;

private:
    struct Impl;
    explicit TlsContext(std::shared_ptr<Impl> impl);
    /// Shared by the copies: a context of OpenSSL is itself counted.
    std::shared_ptr<Impl> impl_;
};

}  // namespace http
