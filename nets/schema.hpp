#pragma once

#include <string_view>

namespace nets {

/// The JSON Schema (2020-12) of the net document, for editors. It knows the whole language, also
/// what this build refuses; `compile` is the judge, this is the hint.
std::string_view document_schema();

}  // namespace nets
