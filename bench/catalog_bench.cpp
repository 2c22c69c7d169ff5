// Search in a catalog of many tools, beside one of few.
#include "base/json.hpp"
#include "bench/figure.hpp"
#include "catalog/catalog.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr std::size_t few = 1000;
constexpr std::size_t many = 100'000;

class Filled {
public:
    explicit Filled(std::size_t tools) : model_(std::string(catalog::global_model)) {
        model_.take_over(1);
        model_.go_live({1'000'000});
        for (std::size_t i = 0; i < tools; ++i)
            add(i);
    }
    /// The middle of several, in milliseconds.
    double search_ms(const catalog::Query& query) {
        std::vector<double> times;
        for (int i = 0; i < 21; ++i) {
            const bench::Stopwatch watch;
            const auto page = catalog_.search(query);
            times.push_back(watch.seconds() * 1e3);
            base::check(!page.items.empty(), "the search finds something");
        }
        return bench::percentile(std::move(times));
    }

private:
    void add(std::size_t i) {
        const auto script = catalog::read_script_registration(
            {{"id", fmt::format("team{}.tool{}", i % 100, i)},
             {"name", fmt::format("Tool number {}", i)},
             {"runtime", "sh"},
             {"content", fmt::format("echo {}", i)},
             {"description", fmt::format("Reads report {} of kind k{} and sums it up", i, i % 1000)}
            }
        );
        base::check(script.has_value(), "the registration is good");
        const auto item = catalog_.record(
            model_,
            script->entry(),
            std::nullopt,
            std::nullopt,
            {.actor = "bench", .now = {2'000'000}}
        );
        base::check(item.has_value(), "the tool is registered");
    }

    engine::Model model_;
    catalog::Catalog catalog_;
};

}  // namespace

int main() {
    Filled small(few);
    Filled large(many);
    const std::vector<std::pair<std::string, catalog::Query>> searches = {
        {"one word that few tools have", {.text = "k77"}},
        {"two words that all tools have", {.text = "report kind"}},
        {"all tools, a page of 100", {}},
    };
    for (const auto& [name, query] : searches) {
        const double beside = small.search_ms(query);
        const double ms = large.search_ms(query);
        bench::print_figure(
            fmt::format("search in {} tools: {}", many, name),
            ms,
            "ms",
            fmt::format(
                "{:.1f} times that in {} tools ({:.3f} ms); target 10 ms", ms / beside, few, beside
            )
        );
    }
    return 0;
}
