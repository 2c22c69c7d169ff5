#include "blobstore/store.hpp"

namespace blobstore {

base::Result<Pinned> put(Store& store, std::string_view bytes) {
    auto upload = store.upload({.expected = std::nullopt, .bytes_max = bytes.size()});
    if (!upload) return base::fail(std::move(upload.error()));
    if (auto taken = (*upload)->append(bytes); !taken) return base::fail(std::move(taken.error()));
    return (*upload)->finish();
}

base::Result<void> verify(Store& store, const base::Digest& digest) {
    auto reader = store.read(digest);
    if (!reader) return base::fail(std::move(reader.error()));
    for (;;) {
        const auto piece = (*reader)->next();
        if (!piece) return base::fail(piece.error());
        if (piece->empty()) return {};
    }
}

}  // namespace blobstore
