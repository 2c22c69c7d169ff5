#include "http/transport.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <openssl/ssl.h>

#include <fmt/format.h>
#include <utility>

namespace http {

namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;

class TlsTransport final : public Transport {
public:
    TlsTransport(
        asio::ip::tcp::socket socket, ssl::context& context, ssl::stream_base::handshake_type role
    )
        : stream_(std::move(socket), context), role_(role) {
        boost::system::error_code ignored;
        stream_.next_layer().set_option(asio::ip::tcp::no_delay(true), ignored);
    }

    /// Before the handshake, on a client.
    void expect_host(const std::string& host) {
        host_ = host;
        boost::system::error_code ignored;
        asio::ip::make_address(host, ignored);
        // Server Name Indication holds names only, no addresses.
        if (ignored) SSL_set_tlsext_host_name(stream_.native_handle(), host.c_str());
        stream_.set_verify_mode(ssl::verify_peer);
        stream_.set_verify_callback(ssl::host_name_verification(host));
    }

    Task<base::Result<void>> handshake() override {
        const auto [error] =
            co_await stream_.async_handshake(role_, asio::as_tuple(asio::use_awaitable));
        if (!error) co_return base::Result<void>();
        if (role_ == ssl::stream_base::server) {
            co_return base::fail(base::ErrorCode::upstream, "TLS handshake: " + error.message());
        }
        const long verified = SSL_get_verify_result(stream_.native_handle());
        if (verified != X509_V_OK) {
            co_return base::fail(
                base::ErrorCode::upstream,
                fmt::format(
                    "the certificate of '{}' is not trusted: {}",
                    host_,
                    X509_verify_cert_error_string(verified)
                ),
                "give the authority's certificate as CA file, or use a URL with the name for which "
                "the certificate was made"
            );
        }
        co_return base::fail(
            base::ErrorCode::upstream,
            fmt::format("TLS handshake with '{}': {}", host_, error.message()),
            "does the URL's port speak TLS?"
        );
    }

    Task<Io> read_some(std::span<char> into) override {
        const auto [error, bytes] = co_await stream_.async_read_some(
            asio::buffer(into.data(), into.size()), asio::as_tuple(asio::use_awaitable)
        );
        co_return Io{error, bytes};
    }
    void start_read(std::span<char> into, std::function<void(Io)> done) override {
        stream_.async_read_some(
            asio::buffer(into.data(), into.size()),
            [done = std::move(done)](const boost::system::error_code& error, std::size_t bytes) {
                done({error, bytes});
            }
        );
    }
    Io write_now(const Pieces& /*pieces*/) override { return {}; }
    Task<Io> write_some(Pieces pieces) override {
        // One record carries header and small body together; long pieces go as they are.
        std::string joined;
        std::string_view bytes;
        for (const auto& piece : pieces) {
            if (!piece.empty() && bytes.empty()) bytes = piece;
        }
        if (bytes.size() < total_bytes(pieces) && bytes.size() < record_bytes) {
            joined.reserve(record_bytes);
            for (const auto& piece : pieces)
                joined.append(piece.substr(0, record_bytes - joined.size()));
            bytes = joined;
        }
        const auto [error, written] = co_await stream_.async_write_some(
            asio::buffer(bytes.data(), bytes.size()), asio::as_tuple(asio::use_awaitable)
        );
        co_return Io{error, written};
    }
    Task<void> finish_writing() override {
        // How the peer answers close_notify does not matter.
        co_await stream_.async_shutdown(asio::as_tuple(asio::use_awaitable));
    }
    void half_close() override {}
    asio::ip::tcp::socket& socket() override { return stream_.next_layer(); }

private:
    static constexpr std::size_t record_bytes = 16384;
    ssl::stream<asio::ip::tcp::socket> stream_;
    ssl::stream_base::handshake_type role_;
    std::string host_;
};

base::Error tls_error(std::string doing, const boost::system::error_code& error, std::string next) {
    return {
        base::ErrorCode::validation,
        fmt::format("{}: {}", doing, error.message()),
        std::move(next),
        {}
    };
}

}  // namespace

struct TlsContext::Impl {
    explicit Impl(ssl::context::method method) : context(method) {
        SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
        SSL_CTX_set_options(
            context.native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION
        );
        // Idle connections give their 34 KiB of buffers back.
        SSL_CTX_set_mode(context.native_handle(), SSL_MODE_RELEASE_BUFFERS);
    }
    ssl::context context;
};

TlsContext::TlsContext(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

base::Result<TlsContext> TlsContext::server(
    const std::filesystem::path& certificate_chain, const std::filesystem::path& private_key
) {
    auto impl = std::make_shared<Impl>(ssl::context::tls_server);
    boost::system::error_code error;
    impl->context.use_certificate_chain_file(certificate_chain.string(), error);
    if (error) {
        return base::fail(tls_error(
            "read the TLS certificate " + certificate_chain.string(),
            error,
            "give a PEM file: the server's certificate, then the intermediate ones"
        ));
    }
    impl->context.use_private_key_file(private_key.string(), ssl::context::pem, error);
    if (error) {
        return base::fail(tls_error(
            "read the TLS key " + private_key.string(),
            error,
            "give the certificate's private key as an unencrypted PEM file"
        ));
    }
    return TlsContext(std::move(impl));
}

base::Result<TlsContext> TlsContext::client(const std::optional<std::filesystem::path>& ca_file) {
    auto impl = std::make_shared<Impl>(ssl::context::tls_client);
    boost::system::error_code error;
    if (ca_file) {
        impl->context.load_verify_file(ca_file->string(), error);
    } else {
        impl->context.set_default_verify_paths(error);
    }
    if (error) {
        return base::fail(tls_error(
            "read the trusted authorities" + (ca_file ? " " + ca_file->string() : std::string()),
            error,
            "give a PEM file of certificates, or install ca-certificates"
        ));
    }
    return TlsContext(std::move(impl));
}

std::unique_ptr<Transport> TlsContext::accepted(asio::ip::tcp::socket socket) const {
    return std::make_unique<TlsTransport>(
        std::move(socket), impl_->context, ssl::stream_base::server
    );
}

std::unique_ptr<Transport> TlsContext::connected(
    asio::ip::tcp::socket socket, const std::string& host
) const {
    auto transport =
        std::make_unique<TlsTransport>(std::move(socket), impl_->context, ssl::stream_base::client);
    transport->expect_host(host);
    return transport;
}

}  // namespace http
