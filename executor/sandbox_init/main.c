/* The executor's small helper, a static program with two modes:
 *   spawn SOCKET          the fork server, outside every sandbox: spawner.c
 *   init PROGRAM REPORT   pid 1 inside a sandbox: init.c
 * Neither is for people. */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int descriptor(const char* text) {
    char* end = NULL;
    errno = 0;
    const long value = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != 0 || value < 3 || value > 1023) return -1;
    return (int)value;
}

int main(int argc, char** argv) {
    if (argc == 3 && strcmp(argv[1], "spawn") == 0 && descriptor(argv[2]) >= 0) {
        return spawner_main(descriptor(argv[2]));
    }
    if (argc == 4 && strcmp(argv[1], "init") == 0 && descriptor(argv[2]) >= 0 &&
        descriptor(argv[3]) >= 0) {
        return init_main(descriptor(argv[2]), descriptor(argv[3]));
    }
    fputs("netwright-sandbox-init is started by 'netwright executor' only\n", stderr);
    return 2;
}
