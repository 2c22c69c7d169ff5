#pragma once

#include "base/json.hpp"
#include "cli/context.hpp"

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace cli {

/// Columns as wide as their widest cell, two spaces between them.
class Table {
public:
    explicit Table(std::vector<std::string> titles) { rows_.push_back(std::move(titles)); }
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    /// A row of these fields of the object.
    void add_fields(const base::Json& object, std::initializer_list<const char*> names);
    /// To stdout.
    void print() const;

private:
    std::vector<std::vector<std::string>> rows_;
};

/// A field for people: text as it is, anything else as JSON, "" when absent.
std::string field(const base::Json& object, const char* name);

/// A line for each field.
void print_fields(const base::Json& object);

/// What a subcommand says of an answer of the master: its text with --json, else what `in_words`
/// prints of it.
Outcome<Exit> show_answer(
    const Context& context,
    const Outcome<std::string>& answer,
    const std::function<void(const base::Json&)>& in_words
);

/// The value on one line, cut where it is long.
std::string in_short(const base::Json& value);

}  // namespace cli
