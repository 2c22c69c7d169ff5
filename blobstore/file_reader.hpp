#pragma once

#include "base/result.hpp"
#include "blobstore/chunk_digests.hpp"
#include "blobstore/disk.hpp"
#include "blobstore/store.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace blobstore {

/// See Store::read.
std::unique_ptr<Reader> whole_reader(OpenBlob blob);

/// See Store::read_range; `range` lies within the blob and has its length.
std::unique_ptr<Reader> range_reader(
    OpenBlob blob, std::shared_ptr<const ChunkDigests> chunks, Range range
);

/// See Store::bytes.
base::Result<std::string> read_whole(const OpenBlob& blob);

}  // namespace blobstore
