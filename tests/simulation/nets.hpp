#pragma once

#include <array>

/// Small nets, one for each thing that a crash might break. A tool's id is its effect.
namespace simulation {

struct Scene {
    const char* net;
    const char* put_into;  ///< a place that clients put tokens into; null = they start cases
    const char* document;
};

inline constexpr std::array scenes = {
    Scene{"chain", nullptr, R"({"net":"chain","version":"1",
      "places":{"a":{},"b":{},"c":{},"d":{},"o":{},"bad":{}},
      "transitions":{
        "map":{"in":{"x":"a"},"out":{"b":{"v":"${x.v}"}}},
        "pure":{"in":{"x":"b"},"call":{"toolId":"pure","args":{"v":"${x.v}"}},
                "out":{"c":{"v":"${result.v}"}},"fail":{"bad":"${error.code}"},
                "retry":{"attempts":3,"backoff":"1s"}},
        "same":{"in":{"x":"c"},"call":{"toolId":"idempotent","args":{"v":"${x.v}"}},
                "out":{"d":{"v":"${result.v}"}},"fail":{"bad":"${error.code}"},
                "retry":{"attempts":2,"backoff":"500ms"}},
        "once":{"in":{"x":"d"},"call":{"toolId":"once","args":{"v":"${x.v}"}},
                "out":{"o":{"v":"${result.v}"}},"fail":{"bad":"${error.code}"},
                "retry":{"attempts":3,"backoff":"1s"}}},
      "start":"a","end":["o","bad"]})"},
    Scene{"fork", nullptr, R"({"net":"fork","version":"1",
      "places":{"a":{},"l":{},"r":{},"lo":{},"ro":{},"o":{}},
      "transitions":{
        "split":{"in":{"x":"a"},"out":{"l":{"v":"${x.v}"},"r":{"v":"${x.v}"}}},
        "left":{"in":{"x":"l"},"call":{"toolId":"once","args":{"v":"${x.v}"}},
                "out":{"lo":"${result.v}"},"fail":{"lo":"${error.code}"}},
        "right":{"in":{"x":"r"},"call":{"toolId":"idempotent","args":{"v":"${x.v}"}},
                "out":{"ro":"${result.v}"},"fail":{"ro":"${error.code}"},"concurrency":2},
        "join":{"in":{"x":"lo","y":"ro"},"out":{"o":["${x}","${y}"]}}},
      "start":"a","end":["o"]})"},
    Scene{"letters", nullptr, R"({"net":"letters","version":"1","places":{"a":{},"o":{}},
      "transitions":{
        "call":{"in":{"x":"a"},"call":{"toolId":"once","args":{"v":"${x.v}"}},
                "out":{"o":"${result.v}"}}},
      "start":"a","end":["o"]})"},
    Scene{"narrow", nullptr, R"({"net":"narrow","version":"1",
      "places":{"a":{},"q":{"capacity":2},"p":{"capacity":1},"o":{},"bad":{}},
      "transitions":{
        "fill":{"in":{"x":"a"},"out":{"q":{"v":"${x.v}"}}},
        "work":{"in":{"x":"q"},"call":{"toolId":"idempotent","args":{"v":"${x.v}"}},
                "out":{"p":"${result.v}"},"fail":{"bad":"${error.code}"}},
        "late":{"in":{"x":"p"},"out":[{"to":"o","token":"${x}","delay":"700ms"}]}},
      "start":"a","end":["o","bad"]})"},
    Scene{"burst", nullptr, R"({"net":"burst","version":"1",
      "places":{"a":{},"p":{"capacity":3},"o":{}},
      "transitions":{
        "many":{"in":{"x":"a"},"call":{"toolId":"once","args":{"v":"${x.v}"}},
                "out":[{"to":"p","each":"[1,2]","token":"${result.v}"}],"fail":{"p":"${error.code}"}},
        "late":{"in":{"x":"p"},"out":[{"to":"o","token":"${x}","delay":"300ms"}]}},
      "start":"a","end":["o"]})"},
    Scene{"desk", nullptr, R"({"net":"desk","version":"1","places":{"a":{},"o":{},"bad":{}},
      "transitions":{
        "review":{"in":{"x":"a"},"agent":{"skill":"review"},
                  "out":{"o":{"v":"${x.v}"}},"fail":{"bad":"${error.code}"},
                  "retry":{"attempts":2,"backoff":"1s"}}},
      "start":"a","end":["o","bad"]})"},
    Scene{"boss", nullptr, R"({"net":"boss","version":"1","places":{"a":{},"o":{},"bad":{}},
      "transitions":{
        "tools":{"in":{"x":"a"},"guard":"x.v % 3 == 0","net":{"name":"fork"},
                 "out":{"o":"${result}"},"fail":{"bad":"${error.code}"}},
        "people":{"in":{"x":"a"},"guard":"x.v % 3 == 1","net":{"name":"desk"},
                  "out":{"o":"${result}"},"fail":{"bad":"${error.code}"},"timeout":"30s"},
        "again":{"in":{"x":"a"},"guard":"x.v % 3 == 2","net":{"name":"boss","input":{"v":"${x.v / 3}"}},
                 "out":{"o":"${result}"},"fail":{"bad":"${error.code}"}}},
      "start":"a","end":["o","bad"]})"},
    Scene{
        "weights", "in", R"({"net":"weights","version":"1","places":{"in":{},"out":{}},
      "transitions":{
        "three":{"in":{"xs":{"place":"in","take":3}},
                 "call":{"toolId":"once","args":{"v":"${size(xs)}"}},"out":{"out":"${result.v}"}}}})"
    },
    Scene{
        "keys", "l", R"({"net":"keys","version":"1","places":{"l":{},"r":{},"out":{}},
      "transitions":{
        "copy":{"in":{"x":{"place":"l","where":"token.v % 3 == 0"}},"out":{"r":{"v":"${x.v / 3}"}}},
        "pair":{"in":{"x":{"place":"l","key":"token.v"},"y":{"place":"r","key":"token.v"}},
                "call":{"toolId":"pure","args":{"v":"${x.v + y.v}"}},"out":{"out":"${result.v}"}}}})"
    },
};

}  // namespace simulation
