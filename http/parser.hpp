#pragma once

#include "base/result.hpp"
#include "http/message.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace http {

inline constexpr std::size_t header_fields_max = 128;

/// Why a message cannot be taken, with the status that HTTP has for it.
struct ParseFault {
    int status = 400;
    base::Error error;
};

/// Cuts one HTTP/1 message from a connection's bytes: the header block in one piece, then the body
/// in pieces. Reused for the next message by `reset`. The grammar is Beast's; what it lets through
/// and should not (two framings, folded lines, repeated lengths) is refused here.
class MessageParser {
public:
    enum class Kind : std::uint8_t { request, response };
    explicit MessageParser(Kind kind);
    ~MessageParser();
    MessageParser(const MessageParser&) = delete;
    MessageParser& operator=(const MessageParser&) = delete;

    /// `bodiless`: the answer to a HEAD request, which announces a body and has none.
    void reset(bool bodiless = false);

    /// `block` is a whole header with its empty line. Fills method, target, headers.
    std::optional<ParseFault> parse_header(std::string_view block, Request& request);
    /// Fills status and headers.
    std::optional<ParseFault> parse_header(std::string_view block, Response& response);

    struct Step {
        /// How many of the bytes belong to this message and were used up; with 0 and not `done`,
        /// more bytes are needed.
        std::size_t used = 0;
        std::optional<ParseFault> fault;
    };
    /// Appends to `body` what `bytes` hold of it.
    Step parse_body(std::string_view bytes, std::string& body);
    /// The peer closed: fine for a response whose body lasts until then, else a fault.
    std::optional<ParseFault> end_of_stream();

    [[nodiscard]] bool done() const;
    [[nodiscard]] bool keep_alive() const;
    [[nodiscard]] bool http11() const;
    [[nodiscard]] std::optional<std::uint64_t> content_length() const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The length of the header block at the start of `bytes` with its empty line; looks on from
/// `searched`, which it moves.
std::optional<std::size_t> header_block_bytes(std::string_view bytes, std::size_t& searched);

}  // namespace http
