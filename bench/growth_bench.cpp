// Whether the cost of a firing stays flat as a model grows: by transitions, by open cases, and by
// tokens that join on a key. Nothing is rendered or stored. (By waiting tokens: firings_bench.cpp.)
#include "bench/figure.hpp"
#include "bench/model_rig.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <string>

namespace {

constexpr const char* token = R"({"customer":"c-20391","id":"order-7781","total":129.5})";

// One token goes round.
std::string ring(std::size_t size) {
    std::string places;
    std::string transitions;
    for (std::size_t i = 0; i < size; ++i) {
        const char* comma = i == 0 ? "" : ",";
        places += fmt::format(R"({}"p{}":{{}})", comma, i);
        transitions += fmt::format(
            R"({}"t{}":{{"in":{{"x":"p{}"}},"out":{{"p{}":"${{x}}"}}}})",
            comma,
            i,
            i,
            (i + 1) % size
        );
    }
    return fmt::format(
        R"({{"net":"n","version":"1","places":{{{}}},"transitions":{{{}}}}})", places, transitions
    );
}

double with_transitions(std::size_t count, std::size_t firings) {
    engine::Model model("bench");
    bench::begin_without_records(model);
    bench::deploy(model, ring(count));
    bench::put(model, {"n", "p0"}, 1, [](std::size_t) { return std::string(token); });
    bench::ns_per_firing(model, count);
    return bench::ns_per_firing(model, firings);
}

// Each case's token goes to and fro, so that no case ends.
constexpr const char* case_net =
    R"json({"net":"n","version":"1","places":{"a":{},"b":{},"o":{}},"transitions":{
        "ab":{"in":{"x":"a"},"out":{"b":"${x}"}},"ba":{"in":{"x":"b"},"out":{"a":"${x}"}},
        "end":{"in":{"x":{"place":"a","where":"has(token.done)"}},"out":{"o":"${x}"}}},
        "start":"a","end":["o"]})json";

double with_cases(std::size_t count, std::size_t firings) {
    engine::Model model("bench");
    bench::begin_without_records(model);
    bench::deploy(model, case_net);
    for (std::size_t i = 0; i < count; ++i) {
        const auto started = engine::start_case(model, "n", token, bench::asker());
        base::check(started.has_value(), started ? "" : started.error().message);
    }
    bench::ns_per_firing(model, count);
    return bench::ns_per_firing(model, firings);
}

constexpr const char* join_net =
    R"({"net":"n","version":"1","places":{"l":{},"r":{},"o":{}},"transitions":{"join":{
        "in":{"x":{"place":"l","key":"token.order"},"y":{"place":"r","key":"token.order"}},
        "out":{"o":"${x}"}}}})";

// The two sides come in opposite orders. Putting them and joining them: nanoseconds a pair.
double key_join(std::size_t pairs) {
    engine::Model model("bench");
    bench::begin_without_records(model);
    bench::deploy(model, join_net);
    const auto key = [](std::size_t n) { return fmt::format(R"({{"order":"o-{}"}})", n); };
    const bench::Stopwatch watch;
    bench::put(model, {"n", "l"}, pairs, key);
    bench::put(model, {"n", "r"}, pairs, [&](std::size_t n) { return key(pairs - 1 - n); });
    std::size_t fired = 0;
    while (const auto more = model.pump(bench::asker().now, 2000))
        fired += more;
    base::check(fired == pairs, "every pair joins");
    return watch.cpu() * 1e9 / static_cast<double>(pairs);
}

void print(const std::string& figure, double value, const char* unit, double least) {
    bench::print_figure(
        figure,
        value,
        unit,
        fmt::format("{:.2f} of the smallest ({:.0f}); flat is at most 2", value / least, least)
    );
}

}  // namespace

int main() {
    const std::size_t firings = bench::scaled(200'000);
    const double few = with_transitions(10, firings);
    for (const std::size_t count : {100U, 1000U, 10'000U}) {
        print(
            fmt::format("cost of a firing, {} transitions", count),
            with_transitions(count, firings),
            "ns",
            few
        );
    }
    const double one = with_cases(1, firings);
    for (const std::size_t count : {100U, 10'000U, 100'000U}) {
        print(
            fmt::format("cost of a firing, {} open cases", count),
            with_cases(count, firings),
            "ns",
            one
        );
    }
    const double small = key_join(1000);
    for (const std::size_t count : {10'000U, 100'000U}) {
        print(
            fmt::format("join on a key, {} x {} tokens", count, count),
            key_join(count),
            "ns/pair",
            small
        );
    }
    return 0;
}
