#pragma once

#include "base/json.hpp"

#include <string>
#include <vector>

namespace cli {

/// Columns as wide as their widest cell, two spaces between them.
class Table {
public:
    explicit Table(std::vector<std::string> titles) { rows_.push_back(std::move(titles)); }
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    /// To stdout.
    void print() const;

private:
    std::vector<std::vector<std::string>> rows_;
};

/// A field for people: text as it is, anything else as JSON, "" when absent.
std::string field(const base::Json& object, const char* name);

/// The value on one line, cut where it is long.
std::string in_short(const base::Json& value);

}  // namespace cli
