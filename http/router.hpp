#pragma once

#include "http/message.hpp"
#include "http/task.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace http {

inline constexpr std::size_t body_bytes_default = std::size_t{16} << 20U;

/// Answers one request. The request's body is whole. An exception is answered 500 and logged.
using Handler = std::function<Task<Response>(Request)>;
/// Reads the body piece by piece. What it leaves unread is thrown away.
using StreamHandler = std::function<Task<Response>(Request, BodyReader)>;

struct RouteOptions {
    std::size_t body_bytes_max = body_bytes_default;
    /// The handler may wait long: the peer's going is noticed while it does, and a stopping server
    /// raises `Request::stop` at once.
    bool long_poll = false;
    /// A word for the guard: who may call this.
    std::string scope;
    /// For the API's description; free form.
    std::string description;
};

struct Route {
    Method method;
    /// `/api/models/{m}/nets`; a last `{name...}` takes all segments that are left, at least one.
    std::string pattern;
    RouteOptions options;
    std::variant<Handler, StreamHandler> handler;
};

/// Looks at a request before its body is read, and may set `principal`. An error is the answer.
using Guard = std::function<base::Result<void>(Request&, const Route&)>;

/// Stands before the handlers of whole requests: answers itself, or calls the route's handler.
using Around = std::function<Task<Response>(Request, const Route&)>;

/// The routes of a server. Built before the server starts, immutable afterwards. A literal segment
/// wins over a parameter.
class Router {
public:
    Router();
    ~Router();
    Router(Router&&) noexcept;
    Router& operator=(Router&&) noexcept;

    /// A malformed pattern or one that is there already ends the process.
    void add(Method method, std::string_view pattern, Handler handler, RouteOptions options = {});
    void add_stream(
        Method method, std::string_view pattern, StreamHandler handler, RouteOptions options = {}
    );
    void set_guard(Guard guard);
    void set_around(Around around);

    struct Match {
        /// None: no such path (`allow` empty), or not with this method.
        const Route* route = nullptr;
        std::vector<std::pair<std::string, std::string>> parameters;
        /// "GET, HEAD, OPTIONS" of a path that exists, when `route` is none.
        std::string allow;
    };
    [[nodiscard]] Match match(Method method, const std::vector<std::string>& path) const;
    [[nodiscard]] base::Result<void> admit(Request& request, const Route& route) const;
    /// The route's handler must be one of whole requests.
    [[nodiscard]] Task<Response> run(Request request, const Route& route) const;

    /// In the order in which they were added.
    [[nodiscard]] const std::vector<std::unique_ptr<const Route>>& routes() const {
        return routes_;
    }

private:
    struct Node;
    void add(std::unique_ptr<const Route> route);

    std::vector<std::unique_ptr<const Route>> routes_;
    std::unique_ptr<Node> root_;
    Guard guard_;
    Around around_;
};

}  // namespace http
