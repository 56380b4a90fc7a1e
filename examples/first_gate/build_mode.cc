// Stands for a library under test: how was it compiled?
bool library_is_optimised() {
#ifdef __OPTIMIZE__
  return true;
#else
  return false;
#endif
}
