#include "nets/pnml/encoding.hpp"

#include "base/json.hpp"
#include "base/utf8.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <fmt/format.h>
#include <optional>

namespace nets::pnml {
namespace {

using namespace std::string_view_literals;

enum class Family : std::uint8_t { utf8, latin1, utf16, utf32 };

struct Encoding {
    Family family = Family::utf8;
    std::endian order = std::endian::big;  ///< of UTF-16 and UTF-32
};

struct Signature {
    std::string_view bytes;
    Encoding encoding;
    bool mark;  ///< a byte order mark, otherwise the first '<'
};
// Longer ones first: a mark of UTF-32 begins as one of UTF-16.
constexpr std::array signatures = {
    Signature{"\x00\x00\xFE\xFF"sv, {Family::utf32, std::endian::big}, true},
    Signature{"\xFF\xFE\x00\x00"sv, {Family::utf32, std::endian::little}, true},
    Signature{"\x00\x00\x00<"sv, {Family::utf32, std::endian::big}, false},
    Signature{"<\x00\x00\x00"sv, {Family::utf32, std::endian::little}, false},
    Signature{"\xEF\xBB\xBF"sv, {}, true},
    Signature{"\xFE\xFF"sv, {Family::utf16, std::endian::big}, true},
    Signature{"\xFF\xFE"sv, {Family::utf16, std::endian::little}, true},
    Signature{"\x00<"sv, {Family::utf16, std::endian::big}, false},
    Signature{"<\x00"sv, {Family::utf16, std::endian::little}, false},
};

struct Name {
    std::string_view name;
    Family family;
};
constexpr std::array names = {
    Name{"utf-8", Family::utf8},
    Name{"utf8", Family::utf8},
    Name{"us-ascii", Family::utf8},
    Name{"ascii", Family::utf8},
    Name{"iso-8859-1", Family::latin1},
    Name{"iso8859-1", Family::latin1},
    Name{"latin1", Family::latin1},
    Name{"latin-1", Family::latin1},
    Name{"utf-16", Family::utf16},
    Name{"utf-16le", Family::utf16},
    Name{"utf-16be", Family::utf16},
    Name{"utf-32", Family::utf32},
    Name{"utf-32le", Family::utf32},
    Name{"utf-32be", Family::utf32},
};

/// The unit of `size` bytes at `at`.
std::uint32_t unit(std::string_view bytes, std::size_t at, std::size_t size, std::endian order) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
        const std::size_t from = order == std::endian::big ? i : size - 1 - i;
        value = (value << 8U) | static_cast<unsigned char>(bytes[at + from]);
    }
    return value;
}

bool surrogate(std::uint32_t point) {
    return point >= 0xD800 && point < 0xE000;
}

std::optional<std::string> from_utf16(std::string_view bytes, std::endian order) {
    if (bytes.size() % 2 != 0) return std::nullopt;
    std::string out;
    out.reserve(bytes.size() / 2);
    for (std::size_t at = 0; at < bytes.size(); at += 2) {
        std::uint32_t point = unit(bytes, at, 2, order);
        if (surrogate(point)) {
            at += 2;
            const auto low = at < bytes.size() ? unit(bytes, at, 2, order) : 0;
            if (point >= 0xDC00 || low < 0xDC00 || low >= 0xE000) return std::nullopt;
            point = 0x10000 + ((point - 0xD800) << 10U) + (low - 0xDC00);
        }
        base::append_utf8(out, point);
    }
    return out;
}

std::optional<std::string> from_utf32(std::string_view bytes, std::endian order) {
    if (bytes.size() % 4 != 0) return std::nullopt;
    std::string out;
    out.reserve(bytes.size() / 4);
    for (std::size_t at = 0; at < bytes.size(); at += 4) {
        const std::uint32_t point = unit(bytes, at, 4, order);
        if (point > 0x10FFFF || surrogate(point)) return std::nullopt;
        base::append_utf8(out, point);
    }
    return out;
}

std::string from_latin1(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size() + bytes.size() / 8);
    for (const char c : bytes)
        base::append_utf8(out, static_cast<unsigned char>(c));
    return out;
}

/// The name in `<?xml ... encoding="...">`, in lower case; "" = none. Its characters are the same
/// in every encoding that has ASCII.
std::string declared(std::string_view text) {
    if (!text.starts_with("<?xml")) return {};
    const auto declaration = text.substr(0, text.find("?>"));
    const auto at = declaration.find("encoding");
    if (at == std::string_view::npos) return {};
    const auto open = declaration.find_first_of("\"'", at);
    if (open == std::string_view::npos) return {};
    const auto close = declaration.find(declaration[open], open + 1);
    std::string name(declaration.substr(open + 1, close - open - 1));
    std::ranges::transform(name, name.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return name;
}

std::string_view text_of(Family family) {
    switch (family) {
        case Family::utf8:
            return "UTF-8";
        case Family::latin1:
            return "ISO-8859-1";
        case Family::utf16:
            return "UTF-16";
        case Family::utf32:
            return "UTF-32";
    }
    return "";
}

std::unexpected<base::Error> not_valid(Family family) {
    return base::fail(
        base::ErrorCode::validation,
        fmt::format("the file is not valid {}", text_of(family)),
        "save it as UTF-8, or declare the encoding that it has"
    );
}

base::Result<Family> declared_family(std::string_view text, Family standard) {
    const auto name = declared(text);
    if (name.empty()) return standard;
    const auto* const known = std::ranges::find(names, name, &Name::name);
    if (known != names.end()) return known->family;
    return base::fail(
        base::ErrorCode::unsupported,
        fmt::format("encoding '{:.40}' is not read", name),
        "save the file as UTF-8"
    );
}

base::Result<std::string> from_wide(std::string_view bytes, const Encoding& encoding) {
    auto text = encoding.family == Family::utf16 ? from_utf16(bytes, encoding.order)
                                                 : from_utf32(bytes, encoding.order);
    if (!text) return not_valid(encoding.family);
    const auto said = declared_family(*text, encoding.family);
    if (!said) return base::fail(said.error());
    if (*said == encoding.family) return std::move(*text);
    return base::fail(
        base::ErrorCode::validation,
        fmt::format(
            "the file declares {}, but its bytes are {}", text_of(*said), text_of(encoding.family)
        ),
        "save the file as UTF-8"
    );
}

}  // namespace

base::Result<std::string> utf8_text(std::string_view xml) {
    bool marked = false;
    for (const auto& signature : signatures) {
        if (!xml.starts_with(signature.bytes)) continue;
        marked = signature.mark;
        if (marked) xml.remove_prefix(signature.bytes.size());
        if (signature.encoding.family != Family::utf8) return from_wide(xml, signature.encoding);
        break;
    }
    const auto family = declared_family(xml, Family::utf8);
    if (!family) return base::fail(family.error());
    const bool fits = *family == Family::utf8 || (*family == Family::latin1 && !marked);
    if (!fits) return not_valid(*family);
    if (*family == Family::latin1) return from_latin1(xml);
    if (!base::valid_utf8(xml)) return not_valid(Family::utf8);
    return std::string(xml);
}

}  // namespace nets::pnml
