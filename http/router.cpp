#include "http/router.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <span>

namespace http {

namespace {

constexpr std::size_t methods_count = 7;

struct Segment {
    enum class Kind : std::uint8_t { literal, one, rest };
    Kind kind;
    std::string text;
};

std::vector<Segment> segments_of(std::string_view pattern) {
    base::check(
        pattern.starts_with('/'), fmt::format("route '{}' does not start with '/'", pattern)
    );
    std::vector<Segment> segments;
    std::string_view left = pattern.substr(1);
    while (!left.empty()) {
        const auto end = left.find('/');
        const auto text = left.substr(0, end);
        left = end == std::string_view::npos ? std::string_view{} : left.substr(end + 1);
        base::check(!text.empty(), fmt::format("route '{}' has an empty segment", pattern));
        if (!text.starts_with('{')) {
            segments.push_back({Segment::Kind::literal, std::string(text)});
            continue;
        }
        base::check(text.ends_with('}'), fmt::format("route '{}' has a '{{' too many", pattern));
        auto name = text.substr(1, text.size() - 2);
        const bool rest = name.ends_with("...");
        if (rest) name.remove_suffix(3);
        base::check(!rest || left.empty(), fmt::format("route '{}' goes on after '...'", pattern));
        segments.push_back({rest ? Segment::Kind::rest : Segment::Kind::one, std::string(name)});
    }
    return segments;
}

}  // namespace

struct Router::Node {
    struct Leaf {
        const Route* route = nullptr;
        std::vector<std::string> names;
    };
    std::array<Leaf, methods_count> leaves;
    std::map<std::string, std::unique_ptr<Node>, std::less<>> literals;
    std::unique_ptr<Node> one;
    /// A node without children.
    std::unique_ptr<Node> rest;

    [[nodiscard]] bool has_routes() const {
        return std::ranges::any_of(leaves, [](const Leaf& leaf) { return leaf.route != nullptr; });
    }
    [[nodiscard]] const Leaf& leaf(Method method) const {
        const Leaf& own = leaves[static_cast<std::size_t>(method)];
        if (own.route == nullptr && method == Method::head) {
            return leaves[static_cast<std::size_t>(Method::get)];
        }
        return own;
    }
    [[nodiscard]] std::string allow() const {
        std::string methods;
        for (std::size_t i = 0; i < methods_count; ++i) {
            const auto method = static_cast<Method>(i);
            if (leaf(method).route == nullptr && method != Method::options) continue;
            methods.append(methods.empty() ? "" : ", ").append(name(method));
        }
        return methods;
    }
    Node& child(const Segment& segment) {
        std::unique_ptr<Node>* slot = nullptr;
        switch (segment.kind) {
            case Segment::Kind::literal:
                slot = &literals[segment.text];
                break;
            case Segment::Kind::one:
                slot = &one;
                break;
            case Segment::Kind::rest:
                slot = &rest;
                break;
        }
        if (!*slot) *slot = std::make_unique<Node>();
        return **slot;
    }
    /// The node that takes the whole path, and in `values` what its parameters are. As deep as the
    /// deepest pattern.
    const Node* find(std::span<const std::string> path, std::vector<std::string>& values) const {
        if (path.empty()) return has_routes() ? this : nullptr;
        if (const auto literal = literals.find(path.front()); literal != literals.end()) {
            if (const auto* found = literal->second->find(path.subspan(1), values)) return found;
        }
        if (path.front().empty()) return nullptr;
        if (one) {
            values.push_back(path.front());
            if (const auto* found = one->find(path.subspan(1), values)) return found;
            values.pop_back();
        }
        if (!rest) return nullptr;
        values.push_back(fmt::format("{}", fmt::join(path, "/")));
        return rest.get();
    }
};

Router::Router() : root_(std::make_unique<Node>()) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

void Router::add(Method method, std::string_view pattern, Handler handler, RouteOptions options) {
    add(std::make_unique<const Route>(
        Route{method, std::string(pattern), std::move(options), std::move(handler)}
    ));
}

void Router::add_stream(
    Method method, std::string_view pattern, StreamHandler handler, RouteOptions options
) {
    add(std::make_unique<const Route>(
        Route{method, std::string(pattern), std::move(options), std::move(handler)}
    ));
}

void Router::set_guard(Guard guard) {
    guard_ = std::move(guard);
}

void Router::set_around(Around around) {
    around_ = std::move(around);
}

Task<Response> Router::run(Request request, const Route& route) const {
    if (around_) return around_(std::move(request), route);
    return std::get<Handler>(route.handler)(std::move(request));
}

void Router::add(std::unique_ptr<const Route> route) {
    Node* node = root_.get();
    std::vector<std::string> names;
    for (const auto& segment : segments_of(route->pattern)) {
        node = &node->child(segment);
        if (segment.kind != Segment::Kind::literal) names.push_back(segment.text);
    }
    auto& leaf = node->leaves[static_cast<std::size_t>(route->method)];
    base::check(
        leaf.route == nullptr,
        fmt::format("route {} {} is there twice", name(route->method), route->pattern)
    );
    leaf = {route.get(), std::move(names)};
    routes_.push_back(std::move(route));
}

Router::Match Router::match(Method method, const std::vector<std::string>& path) const {
    std::vector<std::string> values;
    const Node* node = root_->find(path, values);
    if (node == nullptr) return {};
    const auto& leaf = node->leaf(method);
    if (leaf.route == nullptr) return {.allow = node->allow()};
    Match match{.route = leaf.route};
    match.parameters.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
        match.parameters.emplace_back(leaf.names[i], std::move(values[i]));
    return match;
}

base::Result<void> Router::admit(Request& request, const Route& route) const {
    if (!guard_) return {};
    return guard_(request, route);
}

}  // namespace http
