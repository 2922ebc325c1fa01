/* count.c: a plugin of qemu-user that counts executed guest instructions: `qemu-aarch64 -plugin libcount.so -d plugin PROG` ends with "instructions N" in qemu's log.
 *
 * Debian has no qemu-plugin.h. What is declared here of qemu's interface is version 1, which qemu 4.2 to 8.2 have. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PART_OF_QEMU __attribute__((visibility("default")))
#define PLUGIN __attribute__((visibility("default")))

typedef uint64_t PluginId;
typedef struct Block Block;
enum { ADD_U64 = 0 }; /* what is done inline */

size_t qemu_plugin_tb_n_insns(const Block *block) PART_OF_QEMU;
void qemu_plugin_register_vcpu_tb_trans_cb(PluginId id, void (*translated)(PluginId id, Block *block)) PART_OF_QEMU;
void qemu_plugin_register_vcpu_tb_exec_inline(Block *block, int what, void *word, uint64_t value) PART_OF_QEMU;
void qemu_plugin_register_atexit_cb(PluginId id, void (*ended)(PluginId id, void *user), void *user) PART_OF_QEMU;
void qemu_plugin_outs(const char *text) PART_OF_QEMU;

PLUGIN extern const int qemu_plugin_version;
PLUGIN int qemu_plugin_install(PluginId id, const void *info, int argc, char **argv);

const int qemu_plugin_version = 1;
static uint64_t count;

/* A block is executed to its end, but for faults. */
static void on_translated(PluginId id, Block *block) {
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, ADD_U64, &count, qemu_plugin_tb_n_insns(block));
}

static void on_end(PluginId id, void *user) {
    char text[64];
    (void)id, (void)user;
    snprintf(text, sizeof(text), "instructions %" PRIu64 "\n", count);
    qemu_plugin_outs(text);
}

int qemu_plugin_install(PluginId id, const void *info, int argc, char **argv) {
    (void)info, (void)argc, (void)argv;
    qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
    qemu_plugin_register_atexit_cb(id, on_end, NULL);
    return 0;
}
