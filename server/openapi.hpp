#pragma once

#include "http/router.hpp"

#include <string>

namespace server {

/// The OpenAPI 3.1 document of the routes, made from the routes themselves.
std::string openapi_document(const http::Router& router);

}  // namespace server
