/* low.h: the reserved block at low addresses, for C and for assembly. Behind tables, window and arena lies a map from guest to host
 * addresses (code/quick/map.h), with four bytes for each address in front of the arena. Programs with fixed addresses lie in front of the
 * block. The client's parts of the block avoid the round addresses that people write into programs. */
#ifndef RUN_CLIENT_LOW_H
#define RUN_CLIENT_LOW_H

#define LOW_TABLES 0x2f800000
#define LOW_WINDOW 0x30000000
#define LOW_CODE 0x71000000
#define LOW_MAP 0x7ff00000
#define LOW_MAP_END (LOW_MAP + (u64)4 * LOW_CODE)

#endif
