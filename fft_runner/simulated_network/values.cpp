#include "values.hpp"

#include <cmath>
#include <sstream>

namespace pencilmap
{

namespace
{

double number(const std::string &text)
{
    size_t used = 0;
    double value = NAN;
    try {
        value = std::stod(text, &used);
    } catch (const std::logic_error &) { /* not a number, or outside double: refused below */
    }
    if (used != text.size() || !std::isfinite(value))
        throw ValueError("'" + text + "' is not a number");
    return value;
}

} // namespace

std::string trimmed(const std::string &text)
{
    const char *blank = " \t\r";
    const size_t first = text.find_first_not_of(blank);
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::vector<std::string> words(const std::string &text)
{
    std::istringstream stream(text);
    std::vector<std::string> result;
    for (std::string word; stream >> word;)
        result.push_back(word);
    return result;
}

double not_negative(const std::string &text)
{
    const double value = number(text);
    if (value < 0)
        throw ValueError("'" + text + "' must be 0 or above");
    return value;
}

double positive(const std::string &text)
{
    const double value = number(text);
    if (value <= 0)
        throw ValueError("'" + text + "' must be above 0");
    return value;
}

int whole(const std::string &text, long least, long most)
{
    const bool digits = !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
    const long value = digits ? std::stol(text) : least - 1;
    if (value < least || value > most)
        throw ValueError("'" + text + "' must be a whole number from " + std::to_string(least) + " to " +
                         std::to_string(most));
    return static_cast<int>(value);
}

} // namespace pencilmap
