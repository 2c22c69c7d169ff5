// Resident memory of what waits in a model.
#include "bench/figure.hpp"
#include "bench/model_rig.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace {

// Nothing ever comes to `b`, so what is in `a` waits.
std::string waiting_net(const std::string& key) {
    return fmt::format(
        R"({{"net":"n","version":"1","places":{{"a":{{}},"b":{{}},"o":{{}}}},"transitions":{{"t":{{)"
        R"("in":{{"x":{{"place":"a"{0}}},"y":{{"place":"b"{0}}}}},"out":{{"o":"${{x}}"}}}}}},)"
        R"("start":"a","end":["o"]}})",
        key
    );
}

double bytes_per_token(const std::string& key, std::size_t tokens) {
    engine::Model model("bench");
    bench::begin_without_records(model);
    bench::deploy(model, waiting_net(key));
    base::check(bench::data_of_100_bytes(1).size() == 100, "a token has 100 bytes");
    const auto before = bench::resident_bytes();
    bench::put(model, {"n", "a"}, tokens, bench::data_of_100_bytes);
    base::check(model.pump(bench::asker().now, 1000) == 0, "all of them wait");
    return static_cast<double>(bench::resident_bytes() - before) / static_cast<double>(tokens);
}

double bytes_per_case(std::size_t cases) {
    engine::Model model("bench");
    bench::begin_without_records(model);
    bench::deploy(model, waiting_net(""));
    const auto before = bench::resident_bytes();
    for (std::size_t n = 0; n < cases; ++n) {
        const auto started =
            engine::start_case(model, "n", bench::data_of_100_bytes(n), bench::asker());
        base::check(started.has_value(), "start a case");
    }
    base::check(model.pump(bench::asker().now, 1000) == 0, "all of them wait");
    return static_cast<double>(bench::resident_bytes() - before) / static_cast<double>(cases);
}

// Its token lies on the end place.
double bytes_per_ended_case(std::size_t cases) {
    engine::Model model("bench");
    bench::begin_without_records(model);
    bench::deploy(
        model,
        R"({"net":"n","version":"1","places":{"a":{},"o":{}},"transitions":{"t":{"in":{"x":"a"},)"
        R"("out":{"o":"${x}"}}},"start":"a","end":["o"]})"
    );
    const auto run = [&](std::size_t count) {
        for (std::size_t n = 0; n < count; ++n) {
            const auto started =
                engine::start_case(model, "n", bench::data_of_100_bytes(n), bench::asker());
            base::check(started.has_value(), "start a case");
            model.pump(bench::asker().now, 1000);
        }
    };
    run(1000);  // so many and more stay in memory
    const auto before = bench::resident_bytes();
    run(cases);
    return static_cast<double>(bench::resident_bytes() - before) / static_cast<double>(cases);
}

/// What another measurement has freed would hide what this one takes.
void in_a_process_of_its_own(const std::function<void()>& measure) {
    const pid_t child = ::fork();
    base::check(child >= 0, "fork");
    if (child == 0) {
        measure();
        std::_Exit(0);
    }
    int status = 0;
    base::check(::waitpid(child, &status, 0) == child && status == 0, "a measurement ends well");
}

}  // namespace

int main() {
    const std::size_t count = bench::scaled(1'000'000);
    const std::size_t cases = count / 10;
    in_a_process_of_its_own([&] {
        bench::print_figure(
            fmt::format("resident memory of a waiting token of 100 bytes, of {}", count),
            bytes_per_token("", count),
            "bytes",
            "the target (400)"
        );
    });
    in_a_process_of_its_own([&] {
        bench::print_figure(
            fmt::format("the same where it waits for another by a key, of {}", count),
            bytes_per_token(R"(,"key":"token.order")", count),
            "bytes"
        );
    });
    in_a_process_of_its_own([&] {
        bench::print_figure(
            fmt::format("resident memory of an open case with such a token, of {}", cases),
            bytes_per_case(cases),
            "bytes"
        );
    });
    in_a_process_of_its_own([&] {
        bench::print_figure(
            fmt::format("resident memory of a case that is over, its token there, of {}", cases),
            bytes_per_ended_case(cases),
            "bytes"
        );
    });
    return 0;
}
