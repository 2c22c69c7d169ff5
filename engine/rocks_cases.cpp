#include "engine/rocks_store.hpp"

#include <fmt/format.h>

namespace engine {

base::Result<std::vector<IndexedCase>> RocksLog::cases(
    std::string_view model, base::CaseId after, std::size_t limit
) {
    return reading([&]() -> base::Result<std::vector<IndexedCase>> {
        // No case has the greatest id: a seq that high is never reached.
        const std::string end_text = rocks_case_key(model, {~Seq{0}});
        const rocksdb::Slice end(end_text);
        rocksdb::ReadOptions options;
        options.iterate_upper_bound = &end;
        std::vector<IndexedCase> page;
        const std::unique_ptr<rocksdb::Iterator> entry(database_->NewIterator(options));
        for (entry->Seek(rocks_case_key(model, {after.seq + 1}));
             entry->Valid() && page.size() < limit;
             entry->Next()) {
            page.push_back({{rocks_key_seq(entry->key().ToStringView())}, entry->value().ToString()}
            );
        }
        if (!entry->status().ok()) {
            return base::fail(rocks_error(
                fmt::format("read the index of cases of model '{}'", model), entry->status()
            ));
        }
        return page;
    });
}

base::Result<void> RocksLog::restore_cases(
    std::string_view model, std::span<const IndexedCase> cases
) {
    rocksdb::WriteBatch batch;
    for (const IndexedCase& one : cases)
        batch.Put(rocks_case_key(model, one.id), one.text);
    return write_apart(batch);
}

}  // namespace engine
