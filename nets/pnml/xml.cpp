#include "nets/pnml/xml.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace nets::pnml {
namespace {

base::Result<void> check_node(const pugi::xml_node& node, std::string_view xml) {
    if (node.type() == pugi::node_doctype) {
        return base::fail(
            base::ErrorCode::validation,
            line_of(xml, node.offset_debug()) +
                ": a document type is not allowed: it could define entities",
            "remove the <!DOCTYPE ...> line"
        );
    }
    const bool first = !node.previous_sibling() && node.parent() == node.root();
    if (node.type() == pugi::node_declaration && !first) {
        return base::fail(
            base::ErrorCode::validation,
            line_of(xml, node.offset_debug()) + ": <?xml ...?> belongs at the start of the file"
        );
    }
    return {};
}

/// Walks without recursion: the depth is the sender's choice.
base::Result<void> check_tree(
    const pugi::xml_document& tree, std::string_view xml, const XmlLimits& limits
) {
    std::size_t depth = 0;
    for (pugi::xml_node at = tree.first_child(); at;) {
        if (auto fine = check_node(at, xml); !fine) return fine;
        if (const pugi::xml_node child = at.first_child()) {
            at = child;
            if (++depth < limits.depth_max) continue;
            return base::fail(
                base::ErrorCode::too_large,
                fmt::format("elements are nested at most {} deep", limits.depth_max)
            );
        }
        while (at && !at.next_sibling()) {
            at = at.parent();
            if (depth > 0) --depth;
        }
        if (at) at = at.next_sibling();
    }
    return {};
}

/// Where a text would end in its midst, so that two ids become one.
std::optional<std::size_t> nul_reference(std::string_view xml) {
    for (auto at = xml.find("&#"); at != std::string_view::npos; at = xml.find("&#", at + 1)) {
        auto digit = at + 2;
        if (digit < xml.size() && xml[digit] == 'x') ++digit;
        const auto begin = digit;
        while (digit < xml.size() && xml[digit] == '0')
            ++digit;
        if (digit > begin && digit < xml.size() && xml[digit] == ';') return at;
    }
    return std::nullopt;
}

}  // namespace

std::string line_of(std::string_view xml, std::ptrdiff_t offset) {
    const auto end = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, offset));
    const auto upto = xml.substr(0, std::min(end, xml.size()));
    return fmt::format("line {}", 1 + std::ranges::count(upto, '\n'));
}

base::Error too_long(std::size_t bytes, std::size_t bytes_max) {
    return {
        base::ErrorCode::too_large,
        fmt::format("an XML file has at most {} bytes, not {}", bytes_max, bytes),
        {},
        {}
    };
}

base::Result<void> load(pugi::xml_document& tree, std::string_view xml, const XmlLimits& limits) {
    if (xml.size() > limits.bytes_max) {
        return base::fail(too_long(xml.size(), limits.bytes_max));
    }
    if (static_cast<std::size_t>(std::ranges::count(xml, '<')) > limits.tags_max) {
        return base::fail(
            base::ErrorCode::too_large,
            fmt::format("an XML file has at most {} tags", limits.tags_max)
        );
    }
    // The parser would end there, and what follows would not be read.
    if (const auto at = xml.find('\0'); at != std::string_view::npos) {
        return base::fail(
            base::ErrorCode::validation,
            line_of(xml, static_cast<std::ptrdiff_t>(at)) + ": not well-formed XML: a zero byte"
        );
    }
    if (const auto at = nul_reference(xml)) {
        return base::fail(
            base::ErrorCode::validation,
            line_of(xml, static_cast<std::ptrdiff_t>(*at)) +
                ": not well-formed XML: a reference to the character NUL"
        );
    }
    const pugi::xml_parse_result result = tree.load_buffer(
        xml.data(),
        xml.size(),
        pugi::parse_default | pugi::parse_doctype | pugi::parse_declaration,
        pugi::encoding_utf8
    );
    if (!result) {
        return base::fail(
            base::ErrorCode::validation,
            fmt::format(
                "{}: not well-formed XML: {}", line_of(xml, result.offset), result.description()
            )
        );
    }
    return check_tree(tree, xml, limits);
}

}  // namespace nets::pnml
