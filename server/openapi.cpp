#include "server/openapi.hpp"

#include "base/json.hpp"

#include <nlohmann/json.hpp>

namespace server {

using base::Json;

namespace {

std::string lower(std::string_view text) {
    std::string made(text);
    for (char& c : made)
        c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return made;
}

Json parameters_of(std::string_view pattern) {
    Json parameters = Json::array();
    for (auto open = pattern.find('{'); open != std::string_view::npos;
         open = pattern.find('{', open + 1)) {
        const auto close = pattern.find('}', open);
        parameters.push_back(
            {{"name", pattern.substr(open + 1, close - open - 1)},
             {"in", "path"},
             {"required", true},
             {"schema", {{"type", "string"}}}}
        );
    }
    return parameters;
}

Json operation_of(const http::Route& route) {
    Json operation = {
        {"summary", route.options.description},
        {"parameters", parameters_of(route.pattern)},
        {"responses",
         {{"2XX", {{"description", "done"}}},
          {"default",
           {{"description", "refused or failed"},
            {"content",
             {{"application/json", {{"schema", {{"$ref", "#/components/schemas/Error"}}}}}}}}}}},
    };
    if (route.method == http::Method::post || route.method == http::Method::delete_) {
        operation["parameters"].push_back(
            {{"name", "Idempotency-Key"},
             {"in", "header"},
             {"required", false},
             {"schema", {{"type", "string"}}}}
        );
    }
    if (route.method == http::Method::post) {
        operation["requestBody"] = {
            {"content", {{"application/json", {{"schema", Json::object()}}}}}
        };
    }
    if (route.options.scope == "public") {
        operation["security"] = Json::array();
    }
    return operation;
}

}  // namespace

std::string openapi_document(const http::Router& router) {
    Json paths = Json::object();
    for (const auto& route : router.routes()) {
        paths[route->pattern][lower(http::name(route->method))] = operation_of(*route);
    }
    const Json detail = {
        {"type", "object"},
        {"properties",
         {{"pointer", {{"type", "string"}}},
          {"code", {{"type", "string"}}},
          {"message", {{"type", "string"}}}}}
    };
    const Json error = {
        {"type", "object"},
        {"required", {"error"}},
        {"properties",
         {{"error",
           {{"type", "object"},
            {"required", {"code", "message"}},
            {"properties",
             {{"code", {{"type", "string"}}},
              {"message", {{"type", "string"}}},
              {"next", {{"type", "string"}}},
              {"details", {{"type", "array"}, {"items", detail}}}}}}}}}
    };
    return base::canonical(Json{
        {"openapi", "3.1.0"},
        {"info", {{"title", "Netwright"}, {"version", "0.1.0"}}},
        {"security", Json::array({{{"bearer", Json::array()}}})},
        {"components",
         {{"securitySchemes", {{"bearer", {{"type", "http"}, {"scheme", "bearer"}}}}},
          {"schemas", {{"Error", error}}}}},
        {"paths", std::move(paths)},
    });
}

}  // namespace server
