#include "http/parser.hpp"

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>
#include <variant>

namespace http {

namespace {

namespace beast_http = boost::beast::http;
using boost::beast::string_view;
using BeastError = boost::beast::error_code;

std::string_view standard(string_view text) {
    return {text.data(), text.size()};
}

/// What both kinds of message do with the parts that Beast finds.
struct Sink {
    Headers* headers = nullptr;
    std::string* body = nullptr;
    std::optional<ParseFault> fault;
    bool has_length = false;
    bool header_done = false;

    void refuse(int status, base::ErrorCode code, std::string message, BeastError& error) {
        fault = ParseFault{status, {code, std::move(message), {}, {}}};
        error = beast_http::error::bad_field;
    }

    void field(
        beast_http::field id, std::string_view name, std::string_view value, BeastError& error
    ) {
        using base::ErrorCode;
        // Trailers: nothing here has a use for them.
        if (header_done) return;
        if (headers->size() == header_fields_max) {
            return refuse(
                431,
                ErrorCode::too_large,
                fmt::format("the message has more than {} header fields", header_fields_max),
                error
            );
        }
        if (id == beast_http::field::content_length) {
            const bool plain =
                std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
            if (has_length || value.empty() || !plain) {
                return refuse(
                    400, ErrorCode::validation, "Content-Length is not one number", error
                );
            }
            has_length = true;
        }
        if (id == beast_http::field::transfer_encoding && !same_ignoring_case(value, "chunked")) {
            return refuse(
                501,
                ErrorCode::unsupported,
                "the only Transfer-Encoding that is understood is 'chunked'",
                error
            );
        }
        headers->add(name, value);
    }

    std::size_t data(std::string_view bytes) const {
        body->append(bytes);
        return bytes.size();
    }
};

template <bool is_request>
class Parser final : public beast_http::basic_parser<is_request> {
public:
    Parser() {
        this->eager(false);
        this->body_limit(boost::none);
        this->header_limit(std::numeric_limits<std::uint32_t>::max());
    }
    Sink sink;
    Request* request = nullptr;
    Response* response = nullptr;
    int version = 11;

private:
    void on_request_impl(
        beast_http::verb /*verb*/,
        string_view method,
        string_view target,
        int parsed_version,
        BeastError& error
    ) override {
        version = parsed_version;
        const auto known = method_from_name(standard(method));
        if (!known) {
            return sink.refuse(
                501,
                base::ErrorCode::unsupported,
                fmt::format("the method '{}' is not understood", standard(method)),
                error
            );
        }
        request->method = *known;
        request->target = standard(target);
    }
    void on_response_impl(
        int status, string_view /*reason*/, int parsed_version, BeastError& /*error*/
    ) override {
        version = parsed_version;
        response->status = status;
    }
    void on_field_impl(beast_http::field id, string_view name, string_view value, BeastError& error)
        override {
        sink.field(id, standard(name), standard(value), error);
    }
    void on_header_impl(BeastError& /*error*/) override { sink.header_done = true; }
    void on_body_init_impl(
        const boost::optional<std::uint64_t>& /*length*/, BeastError& /*error*/
    ) override {}
    std::size_t on_body_impl(string_view bytes, BeastError& /*error*/) override {
        return sink.data(standard(bytes));
    }
    void on_chunk_header_impl(
        std::uint64_t /*size*/, string_view /*extensions*/, BeastError& /*error*/
    ) override {}
    std::size_t on_chunk_body_impl(
        std::uint64_t /*left*/, string_view bytes, BeastError& /*error*/
    ) override {
        return sink.data(standard(bytes));
    }
    void on_finish_impl(BeastError& /*error*/) override {}
};

bool has_folded_line(std::string_view block) {
    for (std::size_t at = block.find('\n'); at + 1 < block.size(); at = block.find('\n', at + 1)) {
        if (block[at + 1] == ' ' || block[at + 1] == '\t') return true;
    }
    return false;
}

ParseFault fault_of(const Sink& sink, const BeastError& error) {
    if (sink.fault) return *sink.fault;
    if (error == beast_http::error::bad_version) {
        return {
            505,
            {base::ErrorCode::unsupported, "only HTTP/1.0 and HTTP/1.1 are spoken here", {}, {}}
        };
    }
    return {
        400,
        {base::ErrorCode::validation,
         fmt::format("malformed HTTP message: {}", error.message()),
         {},
         {}}
    };
}

template <bool is_request>
std::optional<ParseFault> put_header(Parser<is_request>& parser, std::string_view block) {
    if (has_folded_line(block)) {
        return ParseFault{
            400, {base::ErrorCode::validation, "a header field is folded over lines", {}, {}}
        };
    }
    BeastError error;
    const std::size_t used = parser.put({block.data(), block.size()}, error);
    if (error || used != block.size() || !parser.is_header_done()) {
        return fault_of(parser.sink, error);
    }
    if (parser.chunked() && parser.version < 11) {
        return ParseFault{
            400, {base::ErrorCode::validation, "HTTP/1.0 has no chunked bodies", {}, {}}
        };
    }
    return std::nullopt;
}

}  // namespace

struct MessageParser::Impl {
    Kind kind;
    std::variant<std::monostate, Parser<true>, Parser<false>> parser;

    template <class Action>
    decltype(auto) visit(Action&& action) {
        if (kind == Kind::request)
            return std::forward<Action>(action)(std::get<Parser<true>>(parser));
        return std::forward<Action>(action)(std::get<Parser<false>>(parser));
    }
};

MessageParser::MessageParser(Kind kind) : impl_(std::make_unique<Impl>()) {
    impl_->kind = kind;
    reset();
}
MessageParser::~MessageParser() = default;

void MessageParser::reset(bool bodiless) {
    if (impl_->kind == Kind::request) {
        impl_->parser.emplace<Parser<true>>();
    } else {
        impl_->parser.emplace<Parser<false>>().skip(bodiless);
    }
}

std::optional<ParseFault> MessageParser::parse_header(std::string_view block, Request& request) {
    auto& parser = std::get<Parser<true>>(impl_->parser);
    parser.request = &request;
    parser.sink.headers = &request.headers;
    if (auto fault = put_header(parser, block)) return fault;
    const auto hosts = request.headers.all("Host").size();
    if (hosts > 1 || (hosts == 0 && parser.version >= 11)) {
        return ParseFault{
            400, {base::ErrorCode::validation, "a request has one Host field", {}, {}}
        };
    }
    return std::nullopt;
}

std::optional<ParseFault> MessageParser::parse_header(std::string_view block, Response& response) {
    auto& parser = std::get<Parser<false>>(impl_->parser);
    parser.response = &response;
    parser.sink.headers = &response.headers;
    return put_header(parser, block);
}

MessageParser::Step MessageParser::parse_body(std::string_view bytes, std::string& body) {
    return impl_->visit([&](auto& parser) -> Step {
        parser.sink.body = &body;
        parser.eager(true);
        Step step;
        if (bytes.empty() || parser.is_done()) return step;
        BeastError error;
        step.used = parser.put({bytes.data(), bytes.size()}, error);
        if (error && error != beast_http::error::need_more)
            step.fault = fault_of(parser.sink, error);
        return step;
    });
}

std::optional<ParseFault> MessageParser::end_of_stream() {
    return impl_->visit([](auto& parser) -> std::optional<ParseFault> {
        BeastError error;
        if (parser.got_some()) {
            parser.put_eof(error);
        } else {
            error = beast_http::error::partial_message;
        }
        if (error) return fault_of(parser.sink, error);
        return std::nullopt;
    });
}

bool MessageParser::done() const {
    return impl_->visit([](auto& parser) { return parser.is_done(); });
}
bool MessageParser::keep_alive() const {
    return impl_->visit([](auto& parser) { return parser.keep_alive(); });
}
bool MessageParser::http11() const {
    return impl_->visit([](auto& parser) { return parser.version >= 11; });
}
std::optional<std::uint64_t> MessageParser::content_length() const {
    return impl_->visit([](auto& parser) -> std::optional<std::uint64_t> {
        if (const auto length = parser.content_length()) return *length;
        return std::nullopt;
    });
}

std::optional<std::size_t> header_block_bytes(std::string_view bytes, std::size_t& searched) {
    constexpr std::string_view empty_line = "\r\n\r\n";
    const auto found = bytes.find(empty_line, searched);
    if (found != std::string_view::npos) return found + empty_line.size();
    searched = bytes.size() < empty_line.size() ? 0 : bytes.size() - empty_line.size() + 1;
    return std::nullopt;
}

}  // namespace http
