// A library with NVML's functions, for tests: one GPU at 0000:18:00.0.
#include <cstdio>
#include <cstdlib>
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
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
  static unsigned long long reads = 0;
  // A move each third reading.
  *millijoules = 1000 + 12000 * (reads++ / 3);
  return std::getenv("FAKE_NVML_NO_ENERGY") != nullptr ? 3 : 0;
}
// As on a GPU that another process uses. FAKE_NVML_USES: whether the driver tells how much.
struct Process {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
};
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, Process* found) {
  const bool instances = std::getenv("FAKE_NVML_INSTANCES") != nullptr;
  if (*count < 3) return 7;
  *count = 3;
  found[0] = {100, 1, instances ? 1u : 0xffffffff, 0};
  found[1] = {200, 1, instances ? 2u : 0xffffffff, 0};
  found[2] = {300, 1, instances ? 1u : 0xffffffff, 0};
  return 0;
}
int nvmlDeviceGetMPSComputeRunningProcesses_v3(void*, unsigned* count, Process* found) {
  *count = std::getenv("FAKE_NVML_MPS") != nullptr;
  if (*count > 0) found[0] = {100, 1, 0xffffffff, 0};
  return 0;
}
struct Use {
  unsigned pid;
  unsigned long long microseconds;
  unsigned multiprocessors, memory, encoder, decoder;
};
int nvmlDeviceGetProcessUtilization(void*, Use* found, unsigned* count, unsigned long long since) {
  const char* const uses = std::getenv("FAKE_NVML_USES");
  if (uses == nullptr) return 3;
  *count = 4;
  found[0] = {100, since + 1, 60, 0, 0, 0};
  found[1] = {200, since + 1, 10, 0, 0, 0};
  found[2] = {200, since + 2, static_cast<unsigned>(std::atoi(uses)), 0, 0, 0};
  found[3] = {200, since - 1, 99, 0, 0, 0};
  return 0;
}
int nvmlDeviceGetMaxClockInfo(void*, unsigned which, unsigned* megahertz) {
  *megahertz = 1980;
  return which == 1 ? 0 : 2;
}
// Appends to the file FAKE_NVML_LOG. FAKE_NVML_LOCK: the status that it returns.
int nvmlDeviceSetGpuLockedClocks(void*, unsigned lowest, unsigned highest) {
  if (const char* const status = std::getenv("FAKE_NVML_LOCK")) return std::atoi(status);
  std::FILE* const log = std::fopen(std::getenv("FAKE_NVML_LOG"), "a");
  std::fprintf(log, "lock %x %x\n", lowest, highest);
  std::fclose(log);
  return 0;
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* bits) {
  *bits = 0x4 | 0x1;
  return 0;
}
}
