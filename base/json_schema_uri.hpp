#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace base::schema {

/// A URI reference without its fragment, and the fragment (without `#`, percent-decoded).
struct Reference {
    std::string uri;
    std::string fragment;
};

/// `reference` seen from `base` (RFC 3986, section 5.2). An empty base is that of a document that
/// has no name. Nothing when the fragment's percent-encoding is broken.
std::optional<Reference> resolve(std::string_view base, std::string_view reference);

/// The reference token of a JSON pointer, without its escapes; nothing when an escape is broken.
std::optional<std::string> unescaped_token(std::string_view token);

/// For the formats `uri` and `uri-reference`.
bool valid_uri_reference(std::string_view text);
bool absolute_uri(std::string_view text);

}  // namespace base::schema
