#include "base/hmac.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_CASE("HMAC-SHA256 gives the values of RFC 4231") {
    CHECK(
        base::hmac_sha256(std::string(20, '\x0b'), "Hi There").hex() ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    );
    CHECK(
        base::hmac_sha256("Jefe", "what do ya want for nothing?").hex() ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    );
    CHECK(
        base::hmac_sha256(
            std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"
        )
            .hex() == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
    );
}
