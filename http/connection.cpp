#include "http/connection.hpp"

#include "base/log.hpp"
#include "http/status.hpp"

#include <chrono>
#include <exception>
#include <fmt/format.h>
#include <utility>

namespace http {

namespace {

using base::ErrorCode;

/// What the handler answers, or how it failed: exceptions end here.
Task<base::Result<Response>> guarded(Task<Response> handler) {
    try {
        co_return co_await std::move(handler);
    } catch (const std::exception& error) {
        co_return base::fail(ErrorCode::internal, error.what());
    } catch (...) {
        co_return base::fail(ErrorCode::internal, "an exception of unknown type");
    }
}

Response fault_response(const ParseFault& fault) {
    return error_response(fault.status, fault.error);
}

ParseFault late(std::string_view what, base::Duration limit) {
    return {
        408,
        {ErrorCode::timeout,
         fmt::format("the {} did not arrive within {}", what, base::text(limit)),
         "send it faster, or in smaller requests",
         {}}
    };
}

}  // namespace

Connection::Connection(ConnectionContext context, Accepted accepted, DateText& date)
    : context_(context),
      id_(accepted.id),
      remote_address_(std::move(accepted.remote_address)),
      seat_(std::move(accepted.seat)),
      date_(date),
      wire_(std::make_shared<Wire>(
          std::move(accepted.transport), context.options.limits.header_bytes_max
      )),
      watchdog_(wire_->transport().socket().get_executor(), [this] {
          wire_->transport().cancel();
      }) {}

Task<void> Connection::run() {
    watchdog_.expire_in(context_.options.limits.header_read);
    const auto greeted = co_await wire_->transport().handshake();
    if (greeted) {
        while (co_await serve_one()) {
        }
        co_await end();
    }
    wire_->transport().close();
    watchdog_.disarm();
    announce_closed();
}

void Connection::begin_stop() {
    stopping_ = true;
    if (phase_ == Phase::idle) wire_->transport().cancel();
    if (phase_ == Phase::waiting) stop_.raise();
}

void Connection::give_way() {
    if (seat_->idle_since == 0) {
        stopping_ = true;
    } else {
        wire_->transport().close();
    }
}

void Connection::abort() {
    begin_stop();
    stop_.raise();
    wire_->transport().close();
}

void Connection::announce_closed() {
    if (std::exchange(announced_, true)) return;
    if (context_.options.connection_closed) context_.options.connection_closed(id_);
}

void Connection::watch_peer(Phase phase) {
    phase_ = phase;
    if (phase_ == Phase::waiting && stopping_) stop_.raise();
    watching_ = true;
    wire_->read_ahead([weak = weak_from_this()] {
        const auto self = weak.lock();
        if (!self || !self->watching_) return;
        self->stop_.raise();
        self->announce_closed();
    });
}

Task<bool> Connection::serve_one() {
    Request request;
    phase_ = Phase::idle;
    if (served_any_) context_.seats.begins_to_wait(*seat_);
    if (!co_await read_header(request)) co_return false;
    Seats::begins_to_serve(*seat_);
    phase_ = Phase::busy;
    const auto begun = context_.options.served ? std::chrono::steady_clock::now()
                                               : std::chrono::steady_clock::time_point();
    const auto method = request.method;
    const Route* route = nullptr;
    Response response;
    watchdog_.disarm();
    if (fault_) {
        keep_alive_ = false;
        response = fault_response(*fault_);
    } else {
        response = co_await answer(std::move(request), route);
        release_body();
        if (fault_) response = fault_response(*fault_);
    }
    const int status = response.status;
    const bool again = co_await send(std::move(response), method);
    if (context_.options.served) {
        const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
            std::chrono::steady_clock::now() - begun
        );
        context_.options.served({method, route, status, {took.count()}});
    }
    served_any_ = true;
    co_return again && !stopping_;
}

/// Why what has come so far cannot become a header, if it cannot.
std::optional<ParseFault> Connection::header_fault(std::optional<std::size_t> block_bytes) const {
    const auto bytes_max = context_.options.limits.header_bytes_max;
    const auto unread = wire_->unread();
    if (block_bytes ? *block_bytes > bytes_max : unread.size() >= bytes_max) {
        return ParseFault{
            431,
            {ErrorCode::too_large,
             fmt::format("the request's header has more than {} bytes", bytes_max),
             {},
             {}}
        };
    }
    if (unread.empty() || (unread.front() >= 'A' && unread.front() <= 'Z')) return std::nullopt;
    return ParseFault{
        400,
        {ErrorCode::validation,
         "this is not an HTTP request",
         "does the URL say https where the server speaks http?",
         {}}
    };
}

/// False: there is no further request. Sets `fault_` when there is one that cannot be taken.
Task<bool> Connection::read_header(Request& request) {
    const auto& limits = context_.options.limits;
    fault_.reset();
    parser_.reset();
    keep_alive_ = false;
    in_request_ = false;
    std::size_t searched = 0;
    for (;;) {
        while (!in_request_ && wire_->unread().starts_with("\r\n"))
            wire_->use(2);
        const bool begins = !in_request_ && !wire_->unread().empty();
        if (begins) in_request_ = true;
        const auto bytes = header_block_bytes(wire_->unread(), searched);
        fault_ = header_fault(bytes);
        if (fault_) co_return true;
        if (bytes) {
            fault_ = parser_.parse_header(wire_->unread().substr(0, *bytes), request);
            wire_->use(*bytes);
            break;
        }
        if (in_request_) phase_ = Phase::busy;
        if (!in_request_ && stopping_) co_return false;
        // The first header's time runs since the connection was made.
        if (served_any_ && begins) watchdog_.expire_in(limits.header_read);
        if (served_any_ && !in_request_) watchdog_.expire_in(limits.keep_alive_idle);
        const auto error = co_await wire_->fill();
        if (!error && !watchdog_.expired()) continue;
        if (!in_request_ || !watchdog_.expired()) {
            in_request_ = false;
            co_return false;
        }
        fault_ = late("request's header", limits.header_read);
        co_return true;
    }
    begin_request(request);
    co_return true;
}

void Connection::begin_request(const Request& request) {
    keep_alive_ = !fault_ && parser_.keep_alive();
    body_bytes_ = 0;
    body_window_left_ = context_.options.limits.body_idle;
    body_window_bytes_ = 0;
    const auto expectation = request.headers.find("Expect");
    answer_continue_ = expectation && !fault_ && parser_.http11();
    if (answer_continue_ && !same_ignoring_case(*expectation, "100-continue")) {
        fault_ = ParseFault{
            417, {ErrorCode::unsupported, "the only Expect that is met is '100-continue'", {}, {}}
        };
    }
}

Task<Response> Connection::answer(Request request, const Route*& taken) {
    auto target = parse_target(request.target);
    if (!target) co_return error_response(target.error());
    request.path = std::move(target->path);
    request.query = std::move(target->query);
    auto match = context_.router.match(request.method, request.path);
    if (match.route == nullptr && match.allow.empty()) {
        co_return error_response(
            {ErrorCode::not_found,
             fmt::format(
                 "there is no '{}' here", request.target.substr(0, request.target.find('?'))
             ),
             "GET /api/openapi.json lists what there is",
             {}}
        );
    }
    if (match.route == nullptr) {
        auto response = request.method == Method::options
                            ? empty_response()
                            : error_response(
                                  405,
                                  {ErrorCode::unsupported,
                                   fmt::format(
                                       "{} is not for this path; these are: {}",
                                       name(request.method),
                                       match.allow
                                   ),
                                   {},
                                   {}}
                              );
        response.headers.add("Allow", match.allow);
        co_return response;
    }
    taken = match.route;
    request.parameters = std::move(match.parameters);
    request.remote_address = remote_address_;
    request.connection = id_;
    request.stop = stop_.signal();
    if (auto admitted = context_.router.admit(request, *taken); !admitted) {
        co_return error_response(admitted.error());
    }
    body_bytes_max_ = taken->options.body_bytes_max;
    if (parser_.content_length().value_or(0) > body_bytes_max_) {
        co_return error_response(
            {ErrorCode::too_large,
             fmt::format("the body of this request may have {} bytes at most", body_bytes_max_),
             {},
             {}}
        );
    }
    co_return co_await handle(std::move(request), *taken);
}

Task<Response> Connection::handle(Request request, const Route& route) {
    const auto* whole = std::get_if<Handler>(&route.handler);
    if (whole != nullptr && !parser_.done()) {
        auto body = co_await whole_body();
        if (!body) co_return error_response(body.error());
        request.body = std::move(*body);
    }
    if (route.options.long_poll && parser_.done()) watch_peer(Phase::waiting);
    auto answered = co_await guarded(
        whole != nullptr
            ? context_.router.run(std::move(request), route)
            : std::get<StreamHandler>(route.handler)(std::move(request), BodyReader(*this))
    );
    phase_ = Phase::busy;
    watching_ = false;
    if (answered) co_return std::move(*answered);
    co_return error_response(
        {ErrorCode::internal,
         fmt::format("{} {}: {}", name(route.method), route.pattern, answered.error().message),
         {},
         {}}
    );
}

/// Bytes that the peer still sends are read and thrown away for a while: closing over them would
/// destroy the answer on its way.
Task<void> Connection::end() {
    if (wire_->reading()) co_return;
    auto& transport = wire_->transport();
    watchdog_.expire_in(context_.options.limits.linger);
    if (!in_request_ || (parser_.done() && wire_->unread().empty())) {
        co_await transport.finish_writing();
        co_return;
    }
    transport.half_close();
    boost::system::error_code error;
    while (!error && !watchdog_.expired()) {
        wire_->use(wire_->unread().size());
        error = co_await wire_->fill();
    }
}

}  // namespace http
