#pragma once

#include "base/json.hpp"
#include "nets/net.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

/// A net from `in` to `out` or `bad`, with these places and transitions.
inline nets::Net in_and_out(const std::string& places, const std::string& transitions) {
    const auto document = base::Json::parse(
        R"({"net": "n", "version": "1.0.0", "places": {)" + places + R"(}, "transitions": {)" +
        transitions + R"(}, "start": "in", "end": ["out", "bad"]})"
    );
    const auto net = nets::compile(document);
    REQUIRE_MESSAGE(net, (net ? "" : net.error().message + " " + net.error().details[0].message));
    return *net;
}
