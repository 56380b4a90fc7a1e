// A library with NVML's functions, for tests: one GPU at 0000:18:00.0.
#include <cstring>

extern "C" {
int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::strncpy(text, "580.65.06", size);
  return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** device) {
  static int gpu;
  *device = &gpu;
  return std::strcmp(address, "0000:18:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetClockInfo(void*, int which, unsigned* value) {
  *value = which == 1 ? 1980 : 3201;
  return which == 1 || which == 2 ? 0 : 2;
}
// As on a GPU that does not tell.
int nvmlDeviceGetTemperature(void*, int, unsigned*) { return 3; }
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 512500;
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) {
  *bits = 0x4 | 0x1;
  return 0;
}
}
