#pragma once

#include "base/error.hpp"

#include <cstddef>
#include <functional>
#include <pugixml.hpp>
#include <string>
#include <string_view>

/// Which elements, attributes and text make up the XML of a P/T net. What is not listed could
/// change what the net means (an inhibitor arc, a marking given as an attribute), so it is an
/// error. Only what PNML gives to drawing and to tools is passed over: <graphics> and
/// <toolspecific>.
namespace nets::pnml {

/// The element's name without a namespace prefix.
std::string_view local_name(const pugi::xml_node& node);

using ReportFault = std::function<void(std::ptrdiff_t offset, std::string message)>;

/// Reports everything below the root <pnml> that is not listed, in the order of the file.
void check_shape(const pugi::xml_node& root, const ReportFault& report);

}  // namespace nets::pnml
