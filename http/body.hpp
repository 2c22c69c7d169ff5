#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "http/stop.hpp"
#include "http/task.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace http {

/// Where the pieces of a body come from: a connection.
class BodySource {
public:
    virtual ~BodySource() = default;
    virtual Task<base::Result<std::string>> next_piece() = 0;
    [[nodiscard]] virtual std::optional<std::uint64_t> length() const = 0;
};

/// Where the pieces of a body go: a connection.
class BodySink {
public:
    virtual ~BodySink() = default;
    virtual Task<base::Result<void>> write_piece(std::string piece) = 0;
    [[nodiscard]] virtual StopSignal stop() const = 0;
};

/// A body that arrives piece by piece, in flat memory: the next piece is read from the socket only
/// when it is asked for. Not to be used after the handler has returned.
class BodyReader {
public:
    explicit BodyReader(BodySource& source) : source_(&source) {}
    /// The next bytes (at most some 64 KiB); empty = the end. An error (too_large, timeout,
    /// upstream when the peer went) is final.
    Task<base::Result<std::string>> next() { return source_->next_piece(); }
    /// Everything that is left; too_large beyond `bytes_max`.
    Task<base::Result<std::string>> rest(std::size_t bytes_max);
    /// What the peer announced; none when the body is chunked.
    [[nodiscard]] std::optional<std::uint64_t> length() const { return source_->length(); }

private:
    BodySource* source_;
};

/// A body that is sent piece by piece. `write` returns when the kernel has taken the bytes: a slow
/// reader slows the writer. Not to be used after the producing coroutine has ended.
class BodyWriter {
public:
    explicit BodyWriter(BodySink& sink) : sink_(&sink) {}
    /// An error means that nobody reads any more: end.
    Task<base::Result<void>> write(std::string piece) {
        return sink_->write_piece(std::move(piece));
    }
    [[nodiscard]] StopSignal stop() const { return sink_->stop(); }

private:
    BodySink* sink_;
};

/// A body that is produced while it is sent. When `produce` fails, or makes another number of bytes
/// than `length`, the connection is cut, so that the peer cannot take the part for the whole.
struct BodyStream {
    /// Known: sent as content-length. None: chunked.
    std::optional<std::uint64_t> length;
    /// Lives until its coroutine has ended.
    std::function<Task<base::Result<void>>(BodyWriter)> produce;
    /// Endless by nature (events): a stopping server ends it at once instead of waiting for it.
    bool endless = false;
};

/// The other direction: pieces that are asked for; empty = the end.
using PieceProducer = std::function<Task<base::Result<std::string>>()>;

/// Sends what `next` makes, which may block its thread for as long as a disk read takes.
PieceProducer pieces_from(std::function<base::Result<std::string>()> next);
/// A response body from asked-for pieces.
BodyStream stream_of(PieceProducer next, std::optional<std::uint64_t> length);

}  // namespace http
