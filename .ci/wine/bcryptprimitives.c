// ProcessPrng for Wine before 9, which lacks bcryptprimitives.dll: each Go program
// for Windows asks it for random bytes when it starts. For tests only.
#include <stddef.h>

__declspec(dllimport) unsigned char __stdcall SystemFunction036(void *, unsigned long);

__declspec(dllexport) int __stdcall ProcessPrng(unsigned char *data, size_t n) {
	return SystemFunction036(data, (unsigned long)n);
}
