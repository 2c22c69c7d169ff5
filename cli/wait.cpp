#include "cli/wait.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace cli {

bool Wait::given() const {
    return option->count() > 0;
}

Outcome<base::Duration> Wait::duration() const {
    if (!given()) return base::Duration{};
    if (text.empty()) return base::seconds(30);
    const auto length = base::duration(text);
    if (length) return *length;
    return wrong_usage(
        fmt::format("--wait '{}' is not a valid duration", text),
        "use a number and a unit, such as 500ms, 30s or 5m"
    );
}

void declare_wait(CLI::App& app, Wait& wait, const std::string& for_what) {
    wait.option =
        app.add_option(
               "--wait", wait.text, fmt::format("Wait for {} (--wait alone: 30s)", for_what)
        )
            ->expected(0, 1)
            ->type_name("DURATION");
}

}  // namespace cli
