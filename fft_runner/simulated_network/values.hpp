/* Words and numbers of the text files of a simulated network. No SimGrid. */
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace pencilmap
{

/* A value that cannot be read; the reader of the file adds file and line. */
class ValueError : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

/* The message gives file, line, the value and the allowed values. */
class PlatformFileError : public std::runtime_error
{
    using std::runtime_error::runtime_error;
};

std::string trimmed(const std::string &text);
std::vector<std::string> words(const std::string &text);

double not_negative(const std::string &text);
double positive(const std::string &text);
int whole(const std::string &text, long least, long most);

} // namespace pencilmap
