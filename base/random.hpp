#pragma once

#include <cstddef>
#include <string>

namespace base {

/// `bytes` bytes from the kernel's random source, as twice as many hex digits. For secrets and
/// names that nobody may guess; never called by the fold.
std::string random_hex(std::size_t bytes);

}  // namespace base
