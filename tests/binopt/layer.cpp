/* layer.cpp: the C++ layer, and binopt.h as C++. */
#include <binopt.hpp>

#include <cstdio>

extern "C" {
#include "subjects.h"
}

enum class Colour : unsigned char { red, green };

static_assert(binopt::type_of<int>() == BINOPT_TY_INT32 && binopt::type_of<unsigned char>() == BINOPT_TY_UINT8);
static_assert(binopt::type_of<long>() == BINOPT_TY_INT64 && binopt::type_of<Colour>() == BINOPT_TY_UINT8);
static_assert(binopt::type_of<const double *>() == BINOPT_TY_PTR && binopt::type_of<int &>() == BINOPT_TY_PTR);
static_assert(binopt::type_of<void>() == BINOPT_TY_VOID && binopt::type_of<bool>() == BINOPT_TY_UINT8);

__attribute__((noinline)) static int paint(Colour c, const int &by) noexcept {
    return c == Colour::green ? by * 3 : by;
}

int main() {
    binopt::Handle handle;
    auto minus = binopt::configure(handle, subtract).fix<1>(42).create();
    const double c[] = {1, 2, 0, 4};
    auto poly = binopt::configure(handle, polynomial).fix<1>(c, 4, BINOPT_MEM_CONST).fix<2>(4).create();
    const int seven = 7;
    auto green = binopt::configure(handle, paint).fix<0>(Colour::green).fix<1>(seven).set(BINOPT_F_GUARD, 1).create();
    bool right = minus(50, 42) == 8 && poly(2, c, 4) == 37 && green(Colour::green, seven) == 21;
    right = right && green(Colour::red, seven) == 7;
    std::printf("%s: %s\n", binopt_driver(), right ? "right" : "wrong");
    return !right;
}
