/* binopt.hpp: binopt.h for C++17: the signature comes from the function's type, and handles free themselves.
 *
 *     binopt::Handle handle;
 *     auto spec = binopt::configure(handle, func).fix<1>(42).create();     // int (*)(int, int)
 *     spec(48, 42);
 */
#ifndef BINOPT_HPP
#define BINOPT_HPP

#include <binopt.h>

#include <tuple>
#include <type_traits>

namespace binopt {

template <typename T> constexpr BinoptType type_of() {
    using U = std::remove_cv_t<T>;
    if constexpr (std::is_void_v<U>)
        return BINOPT_TY_VOID;
    else if constexpr (std::is_same_v<U, float>)
        return BINOPT_TY_FLOAT;
    else if constexpr (std::is_same_v<U, double>)
        return BINOPT_TY_DOUBLE;
    else if constexpr (std::is_pointer_v<U> || std::is_reference_v<T>)
        return BINOPT_TY_PTR;
    else if constexpr (std::is_enum_v<U>)
        return type_of<std::underlying_type_t<U>>();
    else {
        static_assert(std::is_integral_v<U> && sizeof(U) <= 8, "binopt knows integers, float, double and pointers");
        constexpr BinoptType with_sign[] = {BINOPT_TY_INT8, BINOPT_TY_INT16, BINOPT_TY_INT32, BINOPT_TY_INT64};
        constexpr BinoptType without[] = {BINOPT_TY_UINT8, BINOPT_TY_UINT16, BINOPT_TY_UINT32, BINOPT_TY_UINT64};
        constexpr int log2 = sizeof(U) == 1 ? 0 : sizeof(U) == 2 ? 1 : sizeof(U) == 4 ? 2 : 3;
        return std::is_signed_v<U> ? with_sign[log2] : without[log2];
    }
}

/* Owns a BinoptHandle, and with it the functions made. */
class Handle {
    BinoptHandle handle;

  public:
    Handle() : handle(binopt_init()) {
    }
    ~Handle() {
        binopt_fini(handle);
    }
    Handle(const Handle &) = delete;
    Handle &operator=(const Handle &) = delete;
    operator BinoptHandle() const {
        return handle;
    }
};

/* A configuration of an R(A...); it belongs to the handle. Each function returns the configuration, for chains. */
template <typename R, typename... A> class Config {
    BinoptCfgRef cfg;

    template <unsigned I> using Arg = std::tuple_element_t<I, std::tuple<A...>>;

  public:
    using Function = R (*)(A...);

    Config(BinoptHandle handle, Function function)
        : cfg(binopt_cfg_new(handle, reinterpret_cast<BinoptFunc>(function))) {
        binopt_cfg_type(cfg, sizeof...(A), type_of<R>(), type_of<A>()...);
    }

    operator BinoptCfgRef() const {
        return cfg;
    }

    Config &set(BinoptOptFlags flag, size_t value) {
        binopt_cfg_set(cfg, flag, value);
        return *this;
    }
    template <unsigned I> Config &fix(const std::remove_reference_t<Arg<I>> &value) {
        if constexpr (std::is_reference_v<Arg<I>>) {
            const void *address = &value;
            binopt_cfg_set_param(cfg, I, &address);
        } else {
            binopt_cfg_set_param(cfg, I, &value);
        }
        return *this;
    }
    /* A pointer, and what holds for `count` of what it points to. */
    template <unsigned I> Config &fix(Arg<I> pointer, size_t count, BinoptMemFlags flags) {
        using To = std::remove_pointer_t<Arg<I>>;
        size_t each = 1;
        if constexpr (!std::is_void_v<To> && !std::is_function_v<To>)
            each = sizeof(To);
        binopt_cfg_set_paramp(cfg, I, reinterpret_cast<const void *>(pointer), count * each, flags);
        return *this;
    }
    Config &memory(const void *base, size_t size, BinoptMemFlags flags) {
        binopt_cfg_mem(cfg, const_cast<void *>(base), size, flags);
        return *this;
    }
    /* Why create() gave the function itself; nullptr if it did not. See binopt_spec_reason. */
    const char *reason() const {
        return binopt_spec_reason(cfg);
    }
    Function create() const {
        return reinterpret_cast<Function>(binopt_spec_create(cfg));
    }
};

template <typename R, typename... A> Config<R, A...> configure(BinoptHandle handle, R (*function)(A...)) {
    return Config<R, A...>(handle, function);
}
template <typename R, typename... A> Config<R, A...> configure(BinoptHandle handle, R (*function)(A...) noexcept) {
    return Config<R, A...>(handle, function);
}

} // namespace binopt
#endif
