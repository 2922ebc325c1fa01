/* host_stub_parts.h: where the parts of a stub are, for C and for assembly. */
#ifndef RUN_CLIENT_HOST_STUB_PARTS_H
#define RUN_CLIENT_HOST_STUB_PARTS_H

#define STUB_LINK 12    /* behind its jump, which notes that address */
#define STUB_ADDRESS 16 /* the host address that it leads to */
#define STUB_PC 24      /* the guest's address, if it leads to who translates that */

#endif
