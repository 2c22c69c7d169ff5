#include "cli/usage.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>

namespace cli {

namespace {

constexpr std::size_t word_bytes_max = 64;

std::size_t distance(const std::string& left, const std::string& right) {
    const auto width = right.size() + 1;
    std::vector<std::size_t> before(width);
    std::vector<std::size_t> above(width);
    std::vector<std::size_t> row(width);
    for (std::size_t j = 0; j < width; ++j)
        above[j] = j;
    for (std::size_t i = 1; i <= left.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j < width; ++j) {
            const std::size_t change = left[i - 1] == right[j - 1] ? 0 : 1;
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + change});
            const bool swapped =
                i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::swap(before, above);
        std::swap(above, row);
    }
    return above.back();
}

/// The subcommand that parsing had reached.
const CLI::App& reached(const CLI::App& app) {
    const auto inside = app.get_subcommands();
    return inside.empty() ? app : reached(*inside.front());
}

std::string path_of(const CLI::App& app) {
    const auto* parent = app.get_parent();
    return parent == nullptr ? app.get_name() : path_of(*parent) + " " + app.get_name();
}

std::vector<std::string> subcommands_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* inside : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(inside->get_name());
    return names;
}

std::vector<std::string> options_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const auto* option : app.get_options()) {
        for (const auto& name : option->get_lnames())
            names.push_back("--" + name);
    }
    return names;
}

}  // namespace

const std::string* nearest(const std::string& word, const std::vector<std::string>& candidates) {
    if (word.size() > word_bytes_max) return nullptr;
    const std::string* best = nullptr;
    std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1) + 1;
    for (const auto& candidate : candidates) {
        const auto far = distance(word, candidate);
        if (far >= best_distance) continue;
        best = &candidate;
        best_distance = far;
    }
    return best;
}

base::Error usage_error(const CLI::App& app, const CLI::ParseError& error) {
    const auto& at = reached(app);
    const auto path = path_of(at);
    base::Error found{
        base::ErrorCode::validation, error.what(), fmt::format("see {} --help", path), {}
    };
    const auto extra = app.remaining(true);
    if (extra.empty()) return found;
    const auto word = extra.front().substr(0, extra.front().find('='));
    const bool is_option = word.starts_with("-");
    const auto names = is_option ? options_of(at) : subcommands_of(at);
    if (!is_option && names.empty()) {
        found.message = fmt::format("'{}' takes no further argument '{}'", path, word);
        return found;
    }
    found.message =
        fmt::format("'{}' has no {} '{}'", path, is_option ? "option" : "subcommand", word);
    if (const auto* meant = nearest(word, names))
        found.next = fmt::format("did you mean {}? See {} --help", *meant, path);
    return found;
}

}  // namespace cli
