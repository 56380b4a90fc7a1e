// OutputFile by the name that it has among reports.
#pragma once

#include "pace/core/output_file.hpp"

namespace pace::report {

using pace::OutputFile;

}  // namespace pace::report
