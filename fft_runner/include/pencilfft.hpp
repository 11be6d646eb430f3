// libpencilfft from C++17: owners of plans, and exceptions in place of status codes. This header needs no more than the C
// library, whose headers are the reference for index order, arrays and options.
//
//     pencilfft::description wanted(128, 128, 128); // a pencilfft_desc with its defaults
//     wanted.type = "r2c";
//     pencilfft::plan plan(wanted, MPI_COMM_WORLD);
//     auto f = plan.make<double>(pencilfft::input);
//     auto f_hat = plan.make<std::complex<double>>(pencilfft::output);
//     plan.forward(f, f_hat);
//     for (const auto &mode : plan.elements(pencilfft::output))
//         f_hat[mode.at] *= factor(mode.waves[0], mode.waves[1], mode.waves[2]) / plan.scale();
//     plan.backward(f_hat, f);
//
// Owners are moved and not copied. Their constructors and destructors are collective, so all ranks end them in the same
// order. While an exception unwinds the stack, a destructor does not free the plan, because other ranks may not come.
// Anything that has no member here is called with the handle: pencilfft::check(pencilfft_bricks(plan.get(), bricks)).
#ifndef PENCILFFT_HPP
#define PENCILFFT_HPP

#include <array>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "pencilfft_line.h"

namespace pencilfft
{

// A failed call, with the message of pencilfft_error_message().
class error : public std::runtime_error
{
  public:
    error(pencilfft_status status, const std::string &message) : std::runtime_error(message), status_(status)
    {
    }
    pencilfft_status status() const noexcept
    {
        return status_;
    }

  private:
    pencilfft_status status_;
};

// Throws an error unless the status of a C function is PENCILFFT_OK.
inline void check(int status)
{
    if (status != PENCILFFT_OK)
        throw error(static_cast<pencilfft_status>(status), pencilfft_error_message());
}

enum class direction { forward = PENCILFFT_FORWARD, backward = PENCILFFT_BACKWARD };

// The number of an array of a plan, counted from array 0, the array before the first exchange.
struct array_number {
    int value;
    explicit constexpr array_number(int number) : value(number)
    {
    }
};
inline constexpr array_number input{PENCILFFT_INPUT}, output{PENCILFFT_OUTPUT}, inner_input{PENCILFFT_INNER_INPUT},
    inner_output{PENCILFFT_INNER_OUTPUT}, z_pencil{PENCILFFT_Z_PENCIL}, y_pencil{PENCILFFT_Y_PENCIL},
    x_pencil{PENCILFFT_X_PENCIL};

// Descriptors with their defaults; set the members that the C headers explain.
struct description : pencilfft_desc {
    description(std::int64_t x, std::int64_t y, std::int64_t z) : pencilfft_desc()
    {
        pencilfft_desc_init(this);
        nx = x, ny = y, nz = z;
    }
    description(std::int64_t x, std::int64_t y) : description(x, y, 1) // two dimensions
    {
        order = "yx";
    }
};
struct line_description : pencilfft_line_desc {
    explicit line_description(std::int64_t points) : pencilfft_line_desc()
    {
        pencilfft_line_desc_init(this);
        n = points;
    }
};
struct brick_lines_description : pencilfft_brick_lines_desc {
    brick_lines_description(std::int64_t x, std::int64_t y, std::int64_t z, const std::array<int, 3> &numbers)
        : pencilfft_brick_lines_desc()
    {
        pencilfft_brick_lines_desc_init(this);
        nx = x, ny = y, nz = z;
        for (int axis = 0; axis < 3; axis++)
            bricks[axis] = numbers[static_cast<std::size_t>(axis)];
    }
};

// Memory for an array, aligned to 64 bytes; that of plan::make() is large enough for any array of its plan. It may outlive
// the plan. Other plans take it, too, unless it is shorter than their array.
template <class T> class buffer
{
  public:
    buffer(std::int64_t elements, std::int64_t bytes)
        : memory_(allocate(bytes)), size_(static_cast<std::size_t>(elements)), bytes_(bytes)
    {
    }
    T *data() noexcept
    {
        return memory_.get();
    }
    const T *data() const noexcept
    {
        return memory_.get();
    }
    std::size_t size() const noexcept
    {
        return size_;
    } // elements of this rank, all fields together
    std::int64_t bytes() const noexcept
    {
        return bytes_;
    }
    T &operator[](std::int64_t i)
    {
        return memory_.get()[i];
    }
    const T &operator[](std::int64_t i) const
    {
        return memory_.get()[i];
    }
    T *begin() noexcept
    {
        return data();
    }
    T *end() noexcept
    {
        return data() + size_;
    }
    const T *begin() const noexcept
    {
        return data();
    }
    const T *end() const noexcept
    {
        return data() + size_;
    }

  private:
    struct release {
        void operator()(T *memory) const noexcept
        {
            std::free(memory);
        }
    };
    static T *allocate(std::int64_t bytes)
    {
        std::size_t rounded = (static_cast<std::size_t>(bytes) / 64 + 1) * 64;
        void *memory = std::aligned_alloc(64, rounded);
        if (!memory)
            throw std::bad_alloc();
        return static_cast<T *>(memory);
    }
    std::unique_ptr<T, release> memory_;
    std::size_t size_;
    std::int64_t bytes_;
};

// Bytes and messages to each rank, in the order of ranks.
struct traffic {
    std::vector<std::int64_t> bytes, messages;
    explicit traffic(int ranks) : bytes(static_cast<std::size_t>(ranks)), messages(static_cast<std::size_t>(ranks))
    {
    }
};

// All names of a function of names: names_of(pencilfft_exchange_name).
inline std::vector<std::string> names_of(const char *(*name)(int))
{
    std::vector<std::string> found;
    for (int i = 0; name(i); i++)
        found.emplace_back(name(i));
    return found;
}

// The number of ranks; 0 if the library is going to refuse the communicator.
inline int ranks_of(MPI_Comm comm)
{
    int runs = 0, ended = 0, ranks = 0;
    MPI_Initialized(&runs);
    MPI_Finalized(&ended);
    if (runs && !ended && comm != MPI_COMM_NULL)
        MPI_Comm_size(comm, &ranks);
    return ranks;
}

// A handle of C that all ranks free together.
template <class Handle, int (*destroy)(Handle)> class owner
{
  public:
    owner(owner &&other) noexcept
        : handle_(std::exchange(other.handle_, nullptr)), ranks_(other.ranks_), exceptions_(other.exceptions_)
    {
    }
    owner &operator=(owner &&other) noexcept
    {
        std::swap(handle_, other.handle_);
        std::swap(ranks_, other.ranks_);
        return *this;
    }
    ~owner()
    {
        if (std::uncaught_exceptions() <= exceptions_)
            destroy(handle_);
    }
    Handle get() const noexcept
    {
        return handle_;
    }
    explicit operator bool() const noexcept
    {
        return handle_ != nullptr;
    }
    // Frees the handle now. Collective.
    void reset()
    {
        check(destroy(std::exchange(handle_, nullptr)));
    }

  protected:
    explicit owner(int ranks) : ranks_(ranks)
    {
    }
    Handle handle_ = nullptr;
    int ranks_;

  private:
    int exceptions_ = std::uncaught_exceptions();
};

// Refuses another type than that of the elements.
template <class T> void expect_type(const pencilfft_format &found, const std::string &array)
{
    constexpr bool is_complex = std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;
    static_assert(is_complex || std::is_same_v<T, float> || std::is_same_v<T, double>, "no type of a transform");
    if (found.is_complex != is_complex || found.element_bytes != sizeof(T))
        throw error(PENCILFFT_BAD_CALL, array + " has " + (found.is_complex ? "complex" : "real") + " elements of " +
                                            std::to_string(found.element_bytes) + " bytes; the given type is " +
                                            (is_complex ? "complex" : "real") + " of " + std::to_string(sizeof(T)) +
                                            " bytes");
}

class halo;

// A plan for arrays of three dimensions or two. The constructor, `make_halo`, and `forward` to `transpose` are collective;
// `progress`, `set_norm` and `grid_trials` are local.
class plan : public owner<pencilfft_plan, pencilfft_plan_destroy>
{
  public:
    plan(const pencilfft_desc &wanted, MPI_Comm comm) : owner(ranks_of(comm))
    {
        check(pencilfft_plan_create(&wanted, comm, &handle_));
    }

    std::array<int, 2> grid() const // R and C
    {
        std::array<int, 2> found{};
        check(pencilfft_grid(get(), &found[0], &found[1]));
        return found;
    }
    pencilfft_box box(array_number array) const
    {
        return asked<pencilfft_box>(pencilfft_box_mine, array.value);
    }
    pencilfft_box box(array_number array, int rank) const
    {
        return asked<pencilfft_box>(pencilfft_box_of, array.value, rank);
    }
    pencilfft_format format(array_number array) const
    {
        return asked<pencilfft_format>(pencilfft_format_of, array.value);
    }
    std::vector<pencilfft_part> parts(array_number array) const
    {
        std::vector<pencilfft_part> found(static_cast<std::size_t>(asked<int>(pencilfft_parts, array.value)));
        for (std::size_t i = 0; i < found.size(); i++)
            check(pencilfft_part_mine(get(), array.value, static_cast<int>(i), &found[i]));
        return found;
    }
    // The most relative error, in the L2 norm, that exchanges in single precision add to a transform.
    double exchange_error() const
    {
        return asked<double>(pencilfft_exchange_error);
    }
    double scale() const
    {
        return asked<double>(pencilfft_scale);
    }
    int threads() const
    {
        return asked<int>(pencilfft_threads);
    }
    std::int64_t work_bytes(bool in_place = false) const // with caller_work
    {
        return asked<std::int64_t>(pencilfft_work_bytes, in_place ? 1 : 0);
    }
    void set_work(void *work, std::int64_t bytes) // which must live as long as the plan runs
    {
        check(pencilfft_set_work(get(), work, bytes));
    }
    pencilfft_line line(int axis) const
    {
        return asked<pencilfft_line>(pencilfft_line_of, axis);
    }
    double waves(int axis, std::int64_t index) const
    {
        return asked<double>(pencilfft_waves, axis, index);
    }
    std::string text() const
    {
        return asked<const char *>(pencilfft_plan_text);
    }
    std::string schedule_chosen() const
    {
        return pencilfft_schedule_chosen(get());
    }
    std::string exchange_chosen(int exchange) const
    {
        return pencilfft_exchange_chosen(get(), exchange);
    }

    // An array without values. T must be the type of its elements.
    template <class T> buffer<T> make(array_number array) const
    {
        expect<T>(array);
        return buffer<T>(elements_of(array), asked<std::int64_t>(pencilfft_alloc_bytes));
    }

    // The elements of this rank in an array, for range-based loops; see pencilfft_walk.
    class walk
    {
      public:
        struct end_of_walk {
        };
        class iterator
        {
          public:
            explicit iterator(const pencilfft_walk &begun) : at_(begun)
            {
                ++*this;
            }
            const pencilfft_walk &operator*() const
            {
                return at_;
            }
            iterator &operator++()
            {
                more_ = pencilfft_walk_next(&at_) != 0;
                return *this;
            }
            bool operator!=(end_of_walk) const
            {
                return more_;
            }

          private:
            pencilfft_walk at_;
            bool more_ = false;
        };
        explicit walk(const pencilfft_walk &begun) : begun_(begun)
        {
        }
        iterator begin() const
        {
            return iterator(begun_);
        }
        end_of_walk end() const
        {
            return {};
        }

      private:
        pencilfft_walk begun_;
    };
    walk elements(array_number array) const
    {
        pencilfft_walk begun;
        check(pencilfft_walk_begin(get(), array.value, &begun));
        return walk(begun);
    }

    // Transforms. The two buffers may be the same memory, given as pointers.
    template <class T, class U> void forward(const buffer<T> &in, buffer<U> &out) const
    {
        expect_room(input, in.bytes(), output, out.bytes());
        forward(in.data(), out.data());
    }
    template <class T, class U> void backward(const buffer<T> &in, buffer<U> &out) const
    {
        expect_room(output, in.bytes(), input, out.bytes());
        backward(in.data(), out.data());
    }
    template <class T, class U> void forward(const T *in, U *out) const
    {
        expect<T>(input);
        expect<U>(output);
        check(pencilfft_forward(get(), in, out));
    }
    template <class T, class U> void backward(const T *in, U *out) const
    {
        expect<T>(output);
        expect<U>(input);
        check(pencilfft_backward(get(), in, out));
    }
    template <class T, class U>
    void execute_pair(const T *forward_in, U *forward_out, const U *backward_in, T *backward_out) const
    {
        expect<T>(input);
        expect<U>(output);
        check(pencilfft_execute_pair(get(), forward_in, forward_out, backward_in, backward_out));
    }
    // In flight until wait(), for a plan with `nonblocking`. An element type of a forward input first.
    template <class In, class Out> void start_forward(const In *in, Out *out) const
    {
        expect<In>(input);
        expect<Out>(output);
        check(pencilfft_start(get(), PENCILFFT_FORWARD, in, out));
    }
    template <class In, class Out> void start_backward(const Out *in, In *out) const
    {
        expect<In>(input);
        expect<Out>(output);
        check(pencilfft_start(get(), PENCILFFT_BACKWARD, in, out));
    }
    template <class T, class U>
    void start_pair(const T *forward_in, U *forward_out, const U *backward_in, T *backward_out) const
    {
        expect<T>(input);
        expect<U>(output);
        check(pencilfft_start_pair(get(), forward_in, forward_out, backward_in, backward_out));
    }
    bool progress() const
    {
        return asked<int>(pencilfft_progress) != 0;
    }
    void wait() const
    {
        check(pencilfft_wait(get()));
    }
    // The factor of all later transforms in this direction.
    void set_norm(direction way, pencilfft_norm norm) const
    {
        check(pencilfft_set_norm(get(), static_cast<pencilfft_direction>(way), norm));
    }
    // Grids that exchange "auto" tried because R and C were 0.
    std::vector<pencilfft_grid_trial> grid_trials() const
    {
        std::vector<pencilfft_grid_trial> found(static_cast<std::size_t>(asked<int>(pencilfft_grid_trials)));
        for (std::size_t i = 0; i < found.size(); i++)
            check(pencilfft_grid_trial_of(get(), static_cast<int>(i), &found[i]));
        return found;
    }
    // One exchange alone, whose input is lost.
    template <class T> void transpose(int exchange, direction way, T *in, T *out) const
    {
        expect<T>(array_number(exchange < 0 ? PENCILFFT_OUTPUT : exchange));
        check(pencilfft_transpose(get(), exchange, static_cast<pencilfft_direction>(way), in, out));
    }

    inline halo make_halo(array_number array, const std::array<std::int64_t, 3> &low,
                          const std::array<std::int64_t, 3> &high, const char *walls = nullptr) const;
    // The ranks with which this rank does an exchange, to be freed by MPI_Comm_free(). Collective.
    MPI_Comm group(int exchange) const
    {
        return asked<MPI_Comm>(pencilfft_group, exchange);
    }

    std::vector<std::string> exchanges() const
    {
        std::vector<std::string> found(static_cast<std::size_t>(asked<int>(pencilfft_exchanges)));
        for (std::size_t i = 0; i < found.size(); i++)
            found[i] = pencilfft_exchange_stage(get(), static_cast<int>(i));
        return found;
    }
    pencilfft::traffic traffic(int exchange, direction way) const
    {
        pencilfft::traffic found(ranks_);
        check(pencilfft_traffic(get(), exchange, static_cast<pencilfft_direction>(way), found.bytes.data(),
                                found.messages.data()));
        return found;
    }
    // Names and seconds of the phases of the last transform.
    std::vector<std::pair<std::string, double>> phase_seconds() const
    {
        std::vector<double> seconds(static_cast<std::size_t>(asked<int>(pencilfft_phases)));
        check(pencilfft_phase_seconds(get(), seconds.data()));
        std::vector<std::pair<std::string, double>> found;
        for (double each : seconds)
            found.emplace_back(pencilfft_phase_name(get(), static_cast<int>(found.size())), each);
        return found;
    }

  private:
    template <class Result, class Function, class... Arguments> Result asked(Function function, Arguments... arguments) const
    {
        Result result{};
        check(function(get(), arguments..., &result));
        return result;
    }
    std::int64_t elements_of(array_number array) const
    {
        std::int64_t elements = 0;
        for (const pencilfft_part &part : parts(array))
            elements += part.fields * part.box.extent[0] * part.box.extent[1] * part.box.extent[2];
        return elements;
    }
    std::int64_t bytes_of(array_number array) const
    {
        return elements_of(array) * static_cast<std::int64_t>(format(array).element_bytes);
    }
    void expect_room(array_number from, std::int64_t in, array_number to, std::int64_t out) const
    {
        std::int64_t first = bytes_of(from), last = bytes_of(to);
        if (in >= first && out >= last)
            return;
        std::int64_t least = in < first ? in : out, needed = in < first ? first : last;
        pencilfft_forward(get(), nullptr, nullptr); // so that other ranks fail, too, if calls are compared
        throw error(PENCILFFT_BAD_CALL, "a buffer has " + std::to_string(least) + " bytes, and the array has " +
                                            std::to_string(needed) + "; give buffers of plan::make()");
    }
    template <class T> void expect(array_number array) const
    {
        expect_type<T>(format(array), "array " + std::to_string(array.value));
    }
    friend class halo;
};

// The halo of an array; it may outlive its plan. plan::make_halo(), exchange() and accumulate() are collective.
class halo : public owner<pencilfft_halo, pencilfft_halo_destroy>
{
  public:
    pencilfft_part part() const
    {
        pencilfft_part found;
        check(pencilfft_halo_part(get(), &found));
        return found;
    }
    template <class T> buffer<T> make() const
    {
        expect<T>();
        pencilfft_part wide = part();
        std::int64_t elements = wide.fields * wide.box.extent[0] * wide.box.extent[1] * wide.box.extent[2];
        return buffer<T>(elements, elements * static_cast<std::int64_t>(sizeof(T)));
    }
    // A null array means that the elements are in `padded`.
    template <class T> void exchange(const T *array, T *padded) const
    {
        expect<T>();
        check(pencilfft_halo_exchange(get(), array, padded));
    }
    template <class T> void accumulate(T *padded, T *array) const
    {
        expect<T>();
        check(pencilfft_halo_accumulate(get(), padded, array));
    }
    pencilfft::traffic traffic(direction way) const
    {
        pencilfft::traffic found(ranks_);
        check(
            pencilfft_halo_traffic(get(), static_cast<pencilfft_direction>(way), found.bytes.data(), found.messages.data()));
        return found;
    }

  private:
    template <class T> void expect() const
    {
        expect_type<T>(format_, "the array");
    }
    halo(const plan &of, int array, const std::int64_t *low, const std::int64_t *high, const char *walls) : owner(of.ranks_)
    {
        pencilfft_format_of(of.get(), array, &format_); // fails if the next call fails
        check(pencilfft_halo_create_walls(of.get(), array, low, high, walls, &handle_));
    }
    pencilfft_format format_{};
    friend class plan;
};

inline halo plan::make_halo(array_number array, const std::array<std::int64_t, 3> &low,
                            const std::array<std::int64_t, 3> &high, const char *walls) const
{
    return halo(*this, array.value, low.data(), high.data(), walls);
}

// Plans for distributed lines, alone and on bricks.
template <class Handle, class Description, int (*create)(const Description *, MPI_Comm, Handle *), int (*destroy)(Handle),
          int (*elements_of)(Handle, std::int64_t *), int (*run)(Handle, pencilfft_direction, const void *, void *)>
class lines : public owner<Handle, destroy>
{
  public:
    lines(const Description &wanted, MPI_Comm comm) : owner<Handle, destroy>(ranks_of(comm))
    {
        check(create(&wanted, comm, &this->handle_));
        single_ = wanted.precision && std::string(wanted.precision) == "single";
    }
    // Complex numbers that a buffer must hold on this rank.
    std::int64_t elements() const
    {
        std::int64_t found = 0;
        check(elements_of(this->get(), &found));
        return found;
    }
    template <class T> buffer<std::complex<T>> make() const
    {
        return buffer<std::complex<T>>(elements(), elements() * static_cast<std::int64_t>(sizeof(std::complex<T>)));
    }
    template <class T> void execute(direction way, const std::complex<T> *in, std::complex<T> *out) const
    {
        if (single_ != std::is_same_v<T, float>)
            throw error(PENCILFFT_BAD_CALL, single_ ? "this plan has precision single; give std::complex<float>"
                                                    : "this plan has precision double; give std::complex<double>");
        check(run(this->get(), static_cast<pencilfft_direction>(way), in, out));
    }

  private:
    bool single_ = false;
};
using line_plan = lines<pencilfft_line_plan, pencilfft_line_desc, pencilfft_line_create, pencilfft_line_destroy,
                        pencilfft_line_elements, pencilfft_line_execute>;
using brick_lines_plan = lines<pencilfft_brick_lines, pencilfft_brick_lines_desc, pencilfft_brick_lines_create,
                               pencilfft_brick_lines_destroy, pencilfft_brick_lines_elements, pencilfft_brick_lines_execute>;

// Wisdom, see pencilfft_wisdom_load(); false if there is no such file. Collective.
inline bool load_wisdom(const std::string &path, MPI_Comm comm)
{
    int found = 0;
    check(pencilfft_wisdom_load(path.c_str(), comm, &found));
    return found != 0;
}
inline void save_wisdom(const std::string &path, MPI_Comm comm)
{
    check(pencilfft_wisdom_save(path.c_str(), comm));
}

} // namespace pencilfft
#endif
