/* view.c: see view.h. What is the same for every guest. */
#include "isa/view.h"

u16 classes_of_flow(Flow flow) {
    switch (flow) {
    case FLOW_JUMP:
    case FLOW_INDIRECT:
        return CLASS_JUMP;
    case FLOW_BRANCH:
        return CLASS_BRANCH;
    case FLOW_CALL:
        return CLASS_CALL;
    case FLOW_RETURN:
        return CLASS_RETURN;
    case FLOW_SYSCALL:
    case FLOW_STOP:
        return CLASS_SYSTEM;
    case FLOW_NEXT:
        break;
    }
    return 0;
}

u16 classes_of_accesses(const InsnAccess *access, u32 count) {
    u16 classes = 0;
    for (u32 i = 0; i < count; i++)
        classes |=
            (u16)((access[i].how & ACCESS_READ ? CLASS_LOAD : 0) | (access[i].how & ACCESS_WRITE ? CLASS_STORE : 0));
    return classes;
}

void view_add_system(InsnView *view, u32 general) {
    if (view->flow != FLOW_SYSCALL && view->flow != FLOW_STOP)
        return;
    view->reads |= general;
    view->writes |= general;
    view->reads_flags = view->writes_flags = true;
}
