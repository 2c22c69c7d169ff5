#pragma once

#include <array>
#include <string_view>

/// The words of the net document: the fields that each kind of object in it may have. The reader
/// refuses any other, and the JSON Schema for editors is held against these by a test.
namespace nets::grammar {

inline constexpr auto document = std::to_array<std::string_view>(
    {"$schema",
     "net",
     "version",
     "description",
     "places",
     "transitions",
     "start",
     "end",
     "layout",
     "migrate"}
);
inline constexpr auto place = std::to_array<std::string_view>(
    {"description", "schema", "capacity", "tokens", "shared", "cases"}
);
inline constexpr auto transition = std::to_array<std::string_view>(
    {"description", "in",    "guard",   "join",        "out",      "choose",
     "fail",        "retry", "timeout", "concurrency", "priority", "onMissed",
     "onUncertain", "call",  "command", "http",        "llm",      "agent",
     "net",         "every", "cron",    "link"}
);
/// The fields of a transition that say what it does: at most one of them.
inline constexpr auto action = std::to_array<std::string_view>(
    {"call", "command", "http", "llm", "agent", "net", "every", "cron", "link"}
);
inline constexpr auto arc = std::to_array<std::string_view>(
    {"place", "arc", "take", "where", "key", "order", "age", "anyCase"}
);
inline constexpr auto range = std::to_array<std::string_view>({"min", "max"});
inline constexpr auto rule =
    std::to_array<std::string_view>({"to", "token", "when", "otherwise", "each", "delay"});
inline constexpr auto retry =
    std::to_array<std::string_view>({"attempts", "backoff", "factor", "maxBackoff", "on"});
inline constexpr auto call = std::to_array<std::string_view>({"toolId", "version", "args"});
inline constexpr auto command = std::to_array<std::string_view>({"from"});
inline constexpr auto http = std::to_array<std::string_view>(
    {"method", "url", "headers", "body", "auth", "success", "timeout"}
);
inline constexpr auto llm = std::to_array<std::string_view>(
    {"endpoint", "model", "system", "prompt", "messages", "schema", "temperature", "maxTokens"}
);
inline constexpr auto agent =
    std::to_array<std::string_view>({"skill", "persona", "budget", "maxSteps", "input"});
inline constexpr auto net = std::to_array<std::string_view>({"name", "version", "input"});
inline constexpr auto cron = std::to_array<std::string_view>({"expression", "zone"});
inline constexpr auto link = std::to_array<std::string_view>({"type", "from", "to"});

}  // namespace nets::grammar
