#include "program.h"

#include "wire.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* The next zero-ended text of the block, or null when the block ends inside it. */
static char* next_text(char** at, const char* end) {
    if (*at >= end) return NULL;
    char* text = *at;
    char* zero = memchr(text, 0, (size_t)(end - text));
    if (zero == NULL) return NULL;
    *at = zero + 1;
    return text;
}

static char** texts(char** at, const char* end, uint32_t count) {
    char** list = calloc((size_t)count + 1, sizeof *list);
    if (list == NULL) return NULL;
    for (uint32_t i = 0; i < count; ++i) {
        list[i] = next_text(at, end);
        if (list[i] == NULL) {
            free(list);
            return NULL;
        }
    }
    return list;
}

int program_read(int fd, struct program* out) {
    memset(out, 0, sizeof *out);
    struct stat status;
    if (fstat(fd, &status) != 0) return errno;
    const size_t size = (size_t)status.st_size;
    if (size < sizeof(struct nw_program)) return EINVAL;
    void* mapping = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    if (mapping == MAP_FAILED) return errno;
    out->mapping = mapping;
    out->mapping_bytes = size;
    struct nw_program header;
    memcpy(&header, mapping, sizeof header);
    if (header.bytes != size) return EINVAL;
    char* at = (char*)mapping + sizeof header;
    const char* end = (const char*)mapping + size;
    out->path = next_text(&at, end);
    if (out->path == NULL) return EINVAL;
    out->argv = texts(&at, end, header.argc);
    out->envp = texts(&at, end, header.envc);
    out->folder = next_text(&at, end);
    out->subreaper = header.subreaper != 0;
    if (out->argv == NULL || out->envp == NULL || out->folder == NULL) return EINVAL;
    return 0;
}

void program_free(struct program* program) {
    free(program->argv);
    free(program->envp);
    if (program->mapping != NULL) munmap(program->mapping, program->mapping_bytes);
    memset(program, 0, sizeof *program);
}
