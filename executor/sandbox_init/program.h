#ifndef NETWRIGHT_SANDBOX_INIT_PROGRAM_H
#define NETWRIGHT_SANDBOX_INIT_PROGRAM_H

/* A program read from its memfd (see wire.h): pointers into the mapping. */
struct program {
    const char* path;
    char** argv;
    char** envp;
    const char* folder;
    int subreaper;
    void* mapping;
    unsigned long mapping_bytes;
};

/* 0, or an errno. `program_free` afterwards in either case. */
int program_read(int fd, struct program* out);
void program_free(struct program* program);

int spawner_main(int socket_fd);
int init_main(int program_fd, int report_fd);

#endif
