#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace base::schema {

/// What stands between the braces of ECMA's `\p{...}` (`Letter`, `Lu`, `gc=Lu`, `Script=Greek`,
/// `ASCII`, ...) as members of a class of RE2; nothing when RE2's tables lack it.
std::optional<std::string> re2_property(std::string_view name, bool negated);

}  // namespace base::schema
