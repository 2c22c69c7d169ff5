#include "cli/table.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>

namespace cli {

void Table::print() const {
    std::vector<std::size_t> widths(rows_.front().size(), 0);
    for (const auto& row : rows_) {
        for (std::size_t i = 0; i < row.size(); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    }
    for (const auto& row : rows_) {
        std::string line;
        for (std::size_t i = 0; i < row.size(); ++i) {
            line += row[i];
            if (i + 1 < row.size()) line.append(widths[i] - row[i].size() + 2, ' ');
        }
        line.erase(line.find_last_not_of(' ') + 1);
        cli::print(line);
    }
}

void Table::add_fields(const base::Json& object, std::initializer_list<const char*> names) {
    std::vector<std::string> cells;
    for (const char* name : names)
        cells.push_back(field(object, name));
    add(std::move(cells));
}

std::string field(const base::Json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) return "";
    return found->is_string() ? found->get<std::string>() : base::canonical(*found);
}

void print_fields(const base::Json& object) {
    for (const auto& [name, value] : object.items())
        print(fmt::format("{:<12} {}", name, field(object, name.c_str())));
}

Outcome<Exit> show_answer(
    const Context& context,
    const Outcome<std::string>& answer,
    const std::function<void(const base::Json&)>& in_words
) {
    if (!answer) return std::unexpected(answer.error());
    if (context.json) {
        print(*answer);
        return Exit::good;
    }
    const auto value = parsed(*answer);
    if (!value) return std::unexpected(value.error());
    in_words(*value);
    return Exit::good;
}

std::string in_short(const base::Json& value) {
    constexpr std::size_t shown_bytes_max = 200;
    auto text = base::canonical(value);
    if (text.size() <= shown_bytes_max) return text;
    std::size_t end = shown_bytes_max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
        --end;  // not within a character
    return text.substr(0, end) + "...";
}

}  // namespace cli
