#include "base/result.hpp"

#include <cstdio>
#include <cstdlib>

namespace base {

void check(bool condition, std::string_view why) {
    if (condition) return;
    std::fprintf(
        stderr, "netwright: internal check failed: %.*s\n", static_cast<int>(why.size()), why.data()
    );
    std::abort();
}

}  // namespace base
