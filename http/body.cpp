#include "http/body.hpp"

#include <fmt/format.h>
#include <utility>

namespace http {

namespace {

Task<base::Result<std::string>> made(base::Result<std::string> piece) {
    co_return piece;
}

Task<base::Result<void>> write_pieces(PieceProducer next, BodyWriter writer) {
    for (;;) {
        auto piece = co_await next();
        if (!piece) co_return base::fail(std::move(piece.error()));
        if (piece->empty()) co_return base::Result<void>();
        auto written = co_await writer.write(std::move(*piece));
        if (!written) co_return written;
    }
}

}  // namespace

Task<base::Result<std::string>> BodyReader::rest(std::size_t bytes_max) {
    std::string all;
    for (;;) {
        auto piece = co_await next();
        if (!piece) co_return piece;
        if (piece->empty()) co_return all;
        if (piece->size() > bytes_max - all.size()) {
            co_return base::fail(
                base::ErrorCode::too_large,
                fmt::format("the body has more than {} bytes", bytes_max)
            );
        }
        all += *piece;
    }
}

PieceProducer pieces_from(std::function<base::Result<std::string>()> next) {
    return [next = std::move(next)] { return made(next()); };
}

BodyStream stream_of(PieceProducer next, std::optional<std::uint64_t> length) {
    return {.length = length, .produce = [next = std::move(next)](BodyWriter writer) {
                return write_pieces(next, writer);
            }};
}

}  // namespace http
