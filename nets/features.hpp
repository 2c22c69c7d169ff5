#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nets {

/// Parts of the language that an engine may lack.
enum class Feature : std::uint8_t {
    inhibit_arc,
    reset_arc,
    take_expression,
    take_range,
    take_all,
    take_any,
    order_lifo,
    order_expression,
    age,
    join_or,
    http,
    llm,
    agent,
    net,
    cron,
    link,
    place_schema,
    migrate,
};

struct FeatureEntry {
    Feature feature;
    std::string_view words;  ///< followed by "is not supported yet"
    bool supported;
};

/// What this build runs. A document that needs anything else is refused, never half obeyed.
inline constexpr auto features = std::to_array<FeatureEntry>({
    {Feature::inhibit_arc, "an inhibit arc", true},
    {Feature::reset_arc, "a reset arc", true},
    {Feature::take_expression, "an expression in 'take'", true},
    {Feature::take_range, "a range in 'take'", true},
    {Feature::take_all, "\"all\" in 'take'", true},
    {Feature::take_any, "\"any\" in 'take'", true},
    {Feature::order_lifo, "the order \"lifo\"", true},
    {Feature::order_expression, "an expression in 'order'", true},
    {Feature::age, "'age'", true},
    {Feature::join_or, "\"join\": \"or\"", true},
    {Feature::http, "'http'", false},
    {Feature::llm, "'llm'", false},
    {Feature::agent, "'agent'", true},
    {Feature::net, "'net'", true},
    {Feature::cron, "'cron'", true},
    {Feature::link, "'link'", true},
    {Feature::place_schema, "a place's 'schema'", true},
    {Feature::migrate, "'migrate'", true},
});

constexpr const FeatureEntry& entry(Feature feature) {
    return features[static_cast<std::size_t>(feature)];
}

static_assert([] {
    for (std::size_t i = 0; i < features.size(); ++i) {
        if (static_cast<std::size_t>(features[i].feature) != i) return false;
    }
    return true;
}());

}  // namespace nets
